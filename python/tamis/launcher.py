"""Finds out which MPI a launcher belongs to and which program it is told to start."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from .errors import CANNOT_EXECUTE, NO_SUCH_PROGRAM, UserError
from .library import MPI_NAMES

# Names by which a word is taken for a launcher; everything else is a program of its own.
MPI_LAUNCHER = re.compile(r"^(mpiexec|mpirun|mpirun_rsh|orterun|prterun|prun|oshrun)([-.].*)?$")
# Launchers of batch systems: they start whatever MPI the program brings along.
BATCH_LAUNCHER = re.compile(r"^(srun|aprun|jsrun|ibrun|lrun|alps|flux|yod)$")

# What `launcher --version` says, first match wins: Intel's launcher is a Hydra as well.
VERSION_SIGNS = (
    (re.compile(r"Intel\(R\) MPI"), None, "Intel MPI"),
    (re.compile(r"IBM Spectrum MPI"), None, "IBM Spectrum MPI"),
    (re.compile(r"MPT|Microsoft MPI"), None, "a vendor's MPI"),
    (re.compile(r"HYDRA", re.IGNORECASE), "mpich", "MPICH"),
    (re.compile(r"Open MPI|OpenRTE|PRRTE|prterun", re.IGNORECASE), "openmpi", "Open MPI"),
)
VERSION_TIMEOUT_S = 20

# Options and how many words they take, as far as programs are started with them every day. A word
# that is not here ends the search for the program: then the launcher itself says what is wrong.
OPTION_WORDS = {
    "mpich": {
        **dict.fromkeys("-l -prepend-rank -genvall -genvnone -envall -envnone -v -verbose "
                        "-print-all-exitcodes".split(), 0),
        **dict.fromkeys("-n -np -ppn -perhost -host -hosts -hostlist -f -hostfile -machinefile "
                        "-genvlist -envlist -bind-to -map-by -launcher -rmk -iface "
                        "-outfile-pattern -errfile-pattern".split(), 1),
        **dict.fromkeys("-genv -env".split(), 2),
    },
    "openmpi": {
        **dict.fromkeys("-q --quiet -v --verbose --oversubscribe -oversubscribe --nooversubscribe "
                        "--allow-run-as-root --tag-output -tag-output --bynode --byslot "
                        "--report-bindings --use-hwthread-cpus".split(), 0),
        **dict.fromkeys("-n -np --n --np -c -N -npernode --npernode -H -host --host -hostfile "
                        "--hostfile -machinefile --machinefile -x --map-by -map-by --bind-to "
                        "-bind-to --rank-by --output".split(), 1),
        **dict.fromkeys("-mca --mca -gmca --gmca --prtemca --pmixmca".split(), 2),
    },
}


@dataclass(frozen=True)
class Launcher:
    """The first word of a command line, understood."""

    path: str
    mpi: Optional[str] = None  # None: known only once the ranks run
    is_program: bool = False  # no launcher at all: the program itself, alone


def find_program(word, what):
    """The path of a program as a shell would find it."""
    path = shutil.which(word)
    if path is not None:
        return path
    if "/" in word and Path(word).is_file():
        raise UserError(f"{what} {word} cannot be executed", CANNOT_EXECUTE)
    raise UserError(f"no such {what}: {word}", NO_SUCH_PROGRAM)


def version_text(path):
    try:
        answer = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, timeout=VERSION_TIMEOUT_S,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return answer.stdout.decode(errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""


def mpi_of_launcher(path):
    """The MPI the launcher belongs to. Says so where that MPI cannot be served or told."""
    text = version_text(path)
    for sign, mpi, called in VERSION_SIGNS:
        if sign.search(text):
            if mpi is None:
                raise UserError(f"{path} belongs to {called}, which Tamis cannot serve "
                                f"(it serves {' and '.join(MPI_NAMES.values())})")
            return mpi
    first_line = text.strip().splitlines()[0] if text.strip() else "nothing"
    raise UserError(f"cannot tell which MPI {path} belongs to (--version says: {first_line}). "
                    f"If it is one of these, say so: --mpi {' | '.join(MPI_NAMES)}")


def understand(word, mpi=None):
    """What the first word of the command is; `mpi` is what the user says it is."""
    name = Path(word).name
    if MPI_LAUNCHER.match(name):
        path = find_program(word, "launcher")
        return Launcher(path, mpi or mpi_of_launcher(path))
    if BATCH_LAUNCHER.match(name):
        return Launcher(find_program(word, "launcher"), mpi)
    return Launcher(find_program(word, "program"), mpi, is_program=True)


def programs_of(arguments, mpi):
    """The programs a launcher's arguments name, one per part between colons, where they can be told.

    Nothing is told about a part that changes directory or has options this module does not know.
    """
    programs, words = [], OPTION_WORDS.get(mpi, {})
    index, is_searching = 0, True
    while index < len(arguments):
        word = arguments[index]
        if word == ":":
            is_searching = True
        elif is_searching and word in words:
            index += words[word]
        elif is_searching:
            is_searching = False
            if not word.startswith("-"):
                programs.append(word)
        index += 1
    return programs
