"""The MPIs of this machine: how to start ranks under each, with the MPI's own MPI-IO or with Tamis.

Used by the demo, the examples and the conformance tests; needs only Python's standard library.
"""
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Outcome:
    """How a command ended; code is None when it ran into its timeout."""
    code: int | None
    output: str
    seconds: float

    @property
    def timed_out(self):
        return self.code is None


@dataclass(frozen=True)
class Mpi:
    name: str   # the suffix of Debian's commands: mpicc.<name>, mpiexec.<name>
    title: str
    io: str     # what the MPI's own MPI-IO is called

    @property
    def installed(self):
        return shutil.which(f"mpiexec.{self.name}") is not None

    @property
    def python(self):
        """The interpreter of the environment that tools/python_envs.sh builds for this MPI."""
        return ROOT / "build" / f"venv-{self.name}" / "bin" / "python"

    @property
    def mpi4py_3(self):
        """A folder with mpi4py 3 for the same interpreter, to be put before mpi4py 4 by PYTHONPATH."""
        return self.python.parent.parent / "mpi4py-3"

    @property
    def has_python(self):
        return (self.python.parent.parent / ".stamp").is_file()

    def compiler(self, language):
        return f"{ {'c': 'mpicc', 'fortran': 'mpif90'}[language]}.{self.name}"

    def mpiexec(self, ranks, command, library=None):
        """The launch line; `library` is preloaded into the ranks, not into the launcher."""
        line = [f"mpiexec.{self.name}", "-n", str(ranks)]
        if library is not None:
            preload = str(Path(library).resolve())
            line += ["-x", f"LD_PRELOAD={preload}"] if self.name == "openmpi" else ["-genv", "LD_PRELOAD", preload]
        return line + [str(word) for word in command]

    def tamis_library(self, folder):
        return Path(folder) / f"libtamis-{self.name}.so"


HOSTS = (Mpi("mpich", "MPICH", "ROMIO"), Mpi("openmpi", "Open MPI", "OMPIO"))


def installed_hosts(names=None):
    return [mpi for mpi in HOSTS if mpi.installed and (not names or mpi.name in names)]


def launch_environment(**more):
    """More ranks than cores, and ranks started by root (containers): Open MPI wants to be told."""
    return os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    } | more


def run(command, timeout_s, cwd=None, **environment):
    """Runs a command with its output caught; after the timeout ends it and every process it started."""
    start = time.monotonic()
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors="replace", cwd=cwd, env=launch_environment(**environment),
                             start_new_session=True)
    try:
        output, _ = child.communicate(timeout=timeout_s)
        return Outcome(child.returncode, output, time.monotonic() - start)
    except subprocess.TimeoutExpired:
        output = end(child)
        return Outcome(None, output, time.monotonic() - start)


def end(child):
    """SIGTERM lets the launcher end its ranks (they live in sessions of their own); SIGKILL if it does not."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
            return child.communicate(timeout=5)[0]
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            break
    return child.communicate()[0]


def cores():
    return len(os.sched_getaffinity(0))


def file_system(path):
    """The type of the file system that holds a path, as in /proc/mounts."""
    best = ("", "unknown")
    for line in Path("/proc/mounts").read_text().splitlines():
        _, mount, kind, *_ = line.split()
        inside = Path(path).resolve().is_relative_to(mount)
        if inside and len(mount) >= len(best[0]):
            best = (mount, kind)
    return best[1]
