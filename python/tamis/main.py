"""The command line of tamis."""

import argparse
import os
import shutil
import subprocess
import sys

from . import hints as hints_module
from . import run as run_module
from .errors import UserError
from .library import MPI_NAMES, Library

DESCRIPTION = "MPI-IO on Tamis: starts unmodified programs on it and explains what it can be told."
RUN_EXAMPLES = """examples:
  tamis run -- mpiexec -n 4 ./program input.h5
  tamis run -- srun -n 64 python3 simulation.py
  tamis run -- ./program            (one rank, without a launcher)"""
HINTS_EXAMPLES = """examples:
  tamis hints                                     every hint, its value, what it does
  tamis hints --file out.h5                       as a file of that name would get them
  tamis hints --check cb_nodes=4 romio_cb_write=enable"""


def make_parser():
    parser = argparse.ArgumentParser(prog="tamis", description=DESCRIPTION)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    run = commands.add_parser("run", help="start a program on Tamis", epilog=RUN_EXAMPLES,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    run.add_argument("--mpi", choices=sorted(MPI_NAMES), help="the launcher's MPI, where it cannot be told")
    run.add_argument("words", nargs=argparse.REMAINDER, metavar="[--] LAUNCHER ... PROGRAM ...")

    hints = commands.add_parser("hints", help="show and check hints", epilog=HINTS_EXAMPLES,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    hints.add_argument("--file", metavar="NAME", help="what a file of this name gets from the environment")
    hints.add_argument("--check", nargs="+", default=[], metavar="KEY=VALUE",
                       help="only say which of these would be ignored")

    commands.add_parser("version", help="version and the MPIs served")
    return parser


def print_version(library):
    helper = library.require(library.hints_helper)
    version = subprocess.run([str(helper), "--version"], stdout=subprocess.PIPE, check=True)
    served = ", ".join(MPI_NAMES[mpi] for mpi in library.served_mpis()) or "no MPI (not built)"
    print(f"tamis {version.stdout.decode().strip()} for {served}")
    return 0


def split_at_dashes(words):
    """What is for tamis, and what behind the first -- is the user's command, untouched."""
    if words[:1] == ["run"] and "--" in words:
        index = words.index("--")
        return words[:index], words[index + 1 :]
    return words, []


def dispatch(library, arguments, command):
    if arguments.command == "run":
        return run_module.run(library, arguments.words + command, arguments.mpi)
    if arguments.command == "hints":
        width = shutil.get_terminal_size((100, 24)).columns
        return hints_module.hints(library, arguments.file, arguments.check, width, print)
    return print_version(library)


def main(prefix, words=None):
    own, command = split_at_dashes(sys.argv[1:] if words is None else words)
    arguments = make_parser().parse_args(own)
    try:
        return dispatch(Library(prefix), arguments, command)
    except UserError as error:
        print(f"tamis: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # the reader had seen enough; nothing is left to flush to it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
