"""tamis run: starts an unmodified program on Tamis."""

import os
import sys
from pathlib import Path

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


class Seeing:
    """What of the job the user wants to see: the variables that say so to the library."""

    def __init__(self, stats=False, explain=False, report=None, trace=None):
        self.variables = {}
        if stats:
            self.variables["TAMIS_STATS"] = "1"
        if explain:
            self.variables["TAMIS_EXPLAIN"] = "1"
        for name, path in (("TAMIS_REPORT", report), ("TAMIS_TRACE", trace)):
            if path is not None:
                self.variables[name] = self.fresh(Path(path).absolute())

    @staticmethod
    def fresh(path):
        """The path, where a document can be written and none of an earlier job is left."""
        if path.is_dir():
            raise UserError(f"{path} is a directory")
        try:
            path.touch()
            for old in (path, *path.parent.glob(f"{path.name}.rank-*")):
                old.unlink()
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}") from error
        return str(path)


def environment_with(preload, seeing):
    """This environment with the library first among what is preloaded already.

    The launcher gets it, too. That does no harm: the library sleeps in a process without MPI.
    """
    environment = dict(os.environ) | seeing.variables
    others = environment.get("LD_PRELOAD", "")
    environment["LD_PRELOAD"] = f"{preload}:{others}" if others else str(preload)
    return environment


def command_for(launcher, arguments, seeing):
    """The command line to start; Open MPI hands a variable to other nodes only if it is named."""
    command = [launcher.path, *arguments[1:]]
    if launcher.mpi == "openmpi" and not launcher.is_program:
        command[1:1] = [word for name in ("LD_PRELOAD", *seeing.variables) for word in ("-x", name)]
    return command


def run(library, arguments, mpi=None, seeing=None):
    """Becomes the command; returns only by an exception.

    The launcher takes this process over, so its exit code and its signals are the command's own.
    """
    if not arguments:
        raise UserError("run what? For example: tamis run -- mpiexec -n 4 ./program")
    seeing = seeing or Seeing()
    launcher = understand(arguments[0], mpi)
    preload = library.require_preload(launcher.mpi)
    check_programs(launcher, arguments)
    if launcher.mpi is None and not launcher.is_program:
        print(f"tamis: {arguments[0]} does not say which MPI it starts; each rank looks for its own",
              file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execve(launcher.path, command_for(launcher, arguments, seeing),
                  environment_with(preload, seeing))
    except OSError as error:
        raise UserError(f"{launcher.path}: {error.strerror}", CANNOT_EXECUTE) from error
