"""The command line of tamis."""

import argparse
import os
import shutil
import subprocess
import sys

from . import bench as bench_module
from . import calibrate as calibrate_module
from . import doctor as doctor_module
from . import explain as explain_module
from . import hints as hints_module
from . import report as report_module
from . import run as run_module
from . import scale as scale_module
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

REPORT_EXAMPLES = """examples:
  TAMIS_REPORT=job.json tamis run -- mpiexec -n 8 ./program
  tamis report job.json                            text, here
  tamis report job.json --html job.html            a page that needs nothing else
  tamis report before.json after.json --html both.html --png pictures"""

DOCTOR_EXAMPLES = """examples:
  tamis doctor                          this machine and this directory
  tamis doctor /scratch/run/out.h5      as a file of that name would find them

exit code: 0 nothing is broken (warnings may be there; with --strict they count), 1 a problem,
2 the command itself could not run"""
CALIBRATE_EXAMPLES = """examples:
  tamis calibrate /scratch                          measure, at most 20 s and 1 GiB of writes
  tamis calibrate /scratch --seconds 5 --size 128M
  tamis calibrate --list
  tamis calibrate --remove /scratch"""


def add_doctor(commands):
    doctor = commands.add_parser("doctor", help="what works here and what does not", epilog=DOCTOR_EXAMPLES,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    doctor.add_argument("path", nargs="?", default=".", metavar="PATH", help="a file, there or not, or a directory")
    doctor.add_argument("--json", action="store_true", help="for programs: one JSON document")
    doctor.add_argument("--strict", action="store_true", help="warnings count as problems in the exit code")
    doctor.add_argument("--quick", action="store_true", help="start no ranks (login nodes)")


def add_calibrate(commands):
    calibrate = commands.add_parser("calibrate", help="measure the storage behind a path for the planner",
                                    epilog=CALIBRATE_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = calibrate.add_mutually_exclusive_group(required=True)
    what.add_argument("path", nargs="?", metavar="PATH", help="a directory, or a file in it")
    what.add_argument("--list", action="store_true", help="the profiles stored")
    what.add_argument("--remove", metavar="PATH", help="forget the profile for a path")
    calibrate.add_argument("--seconds", type=float, default=20, help="most time to take (20)")
    calibrate.add_argument("--size", default="1G", help="most bytes to write (1G)")


def make_parser():
    parser = argparse.ArgumentParser(prog="tamis", description=DESCRIPTION)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    run = commands.add_parser("run", help="start a program on Tamis", epilog=RUN_EXAMPLES,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    run.add_argument("--mpi", choices=sorted(MPI_NAMES), help="the launcher's MPI, where it cannot be told")
    run.add_argument("--stats", action="store_true", help="print the counters of each file at its close")
    run.add_argument("--explain", action="store_true", help="print each decision and its reasons")
    run.add_argument("--report", metavar="FILE", help="write the job's document, for tamis report")
    run.add_argument("--trace", metavar="FILE", help="write a timeline, for Perfetto or chrome://tracing")
    run.add_argument("words", nargs=argparse.REMAINDER, metavar="[--] LAUNCHER ... PROGRAM ...")

    hints = commands.add_parser("hints", help="show and check hints", epilog=HINTS_EXAMPLES,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    hints.add_argument("--file", metavar="NAME", help="what a file of this name gets from the environment")
    hints.add_argument("--check", nargs="+", default=[], metavar="KEY=VALUE",
                       help="only say which of these would be ignored")

    report = commands.add_parser("report", help="what jobs did with their files, and what to do about it",
                                 epilog=REPORT_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    report.add_argument("jobs", nargs="+", metavar="JOB.json", help="what TAMIS_REPORT wrote; several: side by side")
    report.add_argument("--html", metavar="FILE", help="write one self-contained page")
    report.add_argument("--png", metavar="DIR", help="write the pictures as PNG files")
    report.add_argument("--text", action="store_true", help="write text, also with --html or --png")

    add_doctor(commands)
    add_calibrate(commands)
    bench_module.add_parser(commands)
    explain_module.add_arguments(
        commands.add_parser("explain", help="what would be decided for an access, and why", epilog=explain_module.EXAMPLES,
                            formatter_class=argparse.RawDescriptionHelpFormatter))

    scale_module.add_arguments(
        commands.add_parser("scale", help="what collective access costs at many ranks, simulated", epilog=scale_module.EXAMPLES,
                            formatter_class=argparse.RawDescriptionHelpFormatter))

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


def dispatch(library, arguments, own, command):
    if arguments.command == "run":
        seeing = run_module.Seeing(arguments.stats, arguments.explain, arguments.report, arguments.trace)
        return run_module.run(library, arguments.words + command, arguments.mpi, seeing)
    if arguments.command == "hints":
        width = shutil.get_terminal_size((100, 24)).columns
        return hints_module.hints(library, arguments.file, arguments.check, width, print)
    if arguments.command == "report":
        return report_module.report(arguments.jobs, arguments.html, arguments.png, arguments.text)
    if arguments.command == "doctor":
        return doctor_module.doctor(library, arguments.path, arguments.json, arguments.strict, not arguments.quick)
    if arguments.command == "calibrate":
        return calibrate(library, arguments)
    if arguments.command == "bench":
        return bench_module.bench(library, arguments, own)
    if arguments.command == "explain":
        return explain_module.explain(library, arguments, print)
    if arguments.command == "scale":
        return scale_module.scale(library, arguments)
    return print_version(library)


def calibrate(library, arguments):
    if arguments.list:
        return calibrate_module.list_profiles(library, print)
    if arguments.remove is not None:
        return calibrate_module.remove(library, arguments.remove, print)
    return calibrate_module.calibrate(library, arguments.path, arguments.seconds, arguments.size, print)


def main(prefix, words=None):
    own, command = split_at_dashes(sys.argv[1:] if words is None else words)
    arguments = make_parser().parse_args(own)
    sys.stdout.reconfigure(errors="replace")  # for terminals that have no arrows and no µs
    try:
        return dispatch(Library(prefix), arguments, own, command)
    except UserError as error:
        print(f"tamis: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # the reader had seen enough; nothing is left to flush to it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
