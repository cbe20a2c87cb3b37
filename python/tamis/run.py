"""tamis run: starts an unmodified program on Tamis."""

import os
import sys

from .elf import is_statically_linked
from .errors import CANNOT_EXECUTE, UserError
from .launcher import find_program, programs_of, understand


def check_program(word, path):
    if is_statically_linked(path):
        raise UserError(
            f"{word} is statically linked: nothing can be preloaded into it, so Tamis cannot serve "
            "it. Link it dynamically, or link it with Tamis (see README)."
        )


def check_programs(launcher, arguments):
    if launcher.is_program:
        check_program(arguments[0], launcher.path)
        return
    for word in programs_of(arguments[1:], launcher.mpi):
        check_program(word, find_program(word, "program"))


def environment_with(preload):
    """This environment with the library first among what is preloaded already.

    The launcher gets it, too. That does no harm: the library sleeps in a process without MPI.
    """
    environment = dict(os.environ)
    others = environment.get("LD_PRELOAD", "")
    environment["LD_PRELOAD"] = f"{preload}:{others}" if others else str(preload)
    return environment


def command_for(launcher, arguments):
    """The command line to start; Open MPI hands a variable to other nodes only if it is named."""
    command = [launcher.path, *arguments[1:]]
    if launcher.mpi == "openmpi" and not launcher.is_program:
        command[1:1] = ["-x", "LD_PRELOAD"]
    return command


def run(library, arguments, mpi=None):
    """Becomes the command; returns only by an exception.

    The launcher takes this process over, so its exit code and its signals are the command's own.
    """
    if not arguments:
        raise UserError("run what? For example: tamis run -- mpiexec -n 4 ./program")
    launcher = understand(arguments[0], mpi)
    preload = library.require_preload(launcher.mpi)
    check_programs(launcher, arguments)
    if launcher.mpi is None and not launcher.is_program:
        print(f"tamis: {arguments[0]} does not say which MPI it starts; each rank looks for its own",
              file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execve(launcher.path, command_for(launcher, arguments), environment_with(preload))
    except OSError as error:
        raise UserError(f"{launcher.path}: {error.strerror}", CANNOT_EXECUTE) from error
