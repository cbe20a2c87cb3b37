"""The MPIs of this machine: how to start ranks under each, with the MPI's own MPI-IO or with Tamis.

Used by the demo, the examples and the conformance tests; needs only Python's standard library.
"""
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
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
        """The folder of mpi4py 3 for the same interpreter, which goes into PYTHONPATH."""
        return self.python.parent.parent / "mpi4py-3"

    @property
    def has_python(self):
        """Whether that environment has mpi4py 4."""
        return (self.python.parent.parent / ".stamp-tests").is_file()

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


def end_by_signals():
    """SIGTERM and SIGHUP end this process as SIGINT does, by an exception, so that it ends what it started."""
    def leave(number, _):
        for other in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(other, signal.SIG_IGN)
        sys.exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)


PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def end_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@contextmanager
def started(command, **options):
    """A command and a process group of its own for it; ended with all that it started when the block is left, however
    it is left. Should this process be killed, the launcher still gets a SIGTERM."""
    child = subprocess.Popen([str(word) for word in command], start_new_session=True, preexec_fn=end_with_parent,
                             stderr=subprocess.STDOUT, **options)
    try:
        yield child
    finally:
        if child.poll() is None:
            end(child)


def run(command, timeout_s, cwd=None, **environment):
    """Runs a command with its output caught; after the timeout ends it and every process it started."""
    start = time.monotonic()
    with started(command, stdout=subprocess.PIPE, text=True, errors="replace", cwd=cwd,
                 env=launch_environment(**environment)) as child:
        try:
            output, _ = child.communicate(timeout=timeout_s)
            code = child.returncode
        except subprocess.TimeoutExpired:
            output, code = end(child), None
    return Outcome(code, output, time.monotonic() - start)


def end(child):
    """SIGTERM lets the launcher end its ranks (they live in sessions of their own). Where it does not it is killed, and
    so is whatever is left of what it started. Gives the output, where it was caught."""
    family = descendants(child.pid)
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
            child.wait(timeout=5)
            break
        except (subprocess.TimeoutExpired, ProcessLookupError):
            continue
    for pid, born in family.items():
        if birth(pid) == born:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    return child.communicate()[0]


def stat_fields(pid):
    """The fields of /proc/<pid>/stat after the name, or None: state, parent, ..., start time as the twentieth."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def birth(pid):
    """When the process was started, which tells it from another one with its number; None where there is none."""
    fields = stat_fields(pid)
    return fields[19] if fields and fields[0] != "Z" else None


def descendants(pid):
    """The children of a process, their children, and so on: number -> when each was started."""
    children = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        fields = stat_fields(entry)
        if fields:
            children.setdefault(int(fields[1]), []).append(int(entry))
    found, unseen = {}, [pid]
    while unseen:
        for child in children.get(unseen.pop(), []):
            found[child] = birth(child)
            unseen.append(child)
    return {child: born for child, born in found.items() if born}


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
