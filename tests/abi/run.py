#!/usr/bin/env python3
"""Runs unmodified programs in C and Fortran over Tamis, preloaded and linked, and checks its symbols.

    run.py --library-dir build/lib --work-dir build/tests/abi [--mpi mpich] [--mode linked] [--ranks 1 2]

Prints a line per run and "N passed, N failed"; the exit status is 1 where something failed.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MPI_LIBRARY = {"mpich": "libmpich.so.12", "openmpi": "libmpi.so.40"}
MODES = ("preloaded", "preloaded-libtamis", "linked", "linked-libtamis")
# Sources and what builds them. `fatal` is no test by itself.
PROGRAMS = {
    "calls": ("calls.c", "mpicc"),
    "errors": ("errors.c", "mpicc"),
    "large": ("large.c", "mpicc"),
    "counters": ("counters.c", "mpicc"),
    "realms": ("realms.c", "mpicc"),
    "mpif": ("mpif.f", "mpifort"),
    "use_mpi": ("use_mpi.f90", "mpifort"),
    "use_mpi_f08": ("use_mpi_f08.f90", "mpifort"),
}
SINGLE = ("fatal", "private_mpi", "symbols", "no_mpi", "no_implementation")
TIMEOUT = 60


class Failure(Exception):
    """A test that did not pass, with what it said."""


def run(command, env=None, cwd=None):
    """Exit status and output of a command; a test must never hang."""
    try:
        done = subprocess.run([str(word) for word in command], env=env, cwd=cwd, timeout=TIMEOUT,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace")
    except subprocess.TimeoutExpired as error:
        output = error.stdout or b""
        raise Failure(f"still running after {TIMEOUT} s\n{output.decode(errors='replace')}")
    return done.returncode, done.stdout


def must(command, **options):
    code, output = run(command, **options)
    if code != 0:
        raise Failure(f"{' '.join(map(str, command))}: exit status {code}\n{output}")
    return output


def rank_environment():
    """Lets Open MPI start as root and with more ranks than cores."""
    env = dict(os.environ)
    env.pop("LD_PRELOAD", None)
    env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
    return env


class Suite:
    """The tests under one MPI."""

    def __init__(self, mpi, libraries, work):
        self.mpi = mpi
        self.libraries = libraries.resolve()
        self.own = self.libraries / f"libtamis-{mpi}.so"
        self.any = self.libraries / "libtamis.so"
        self.work = work.resolve() / mpi
        self.work.mkdir(parents=True, exist_ok=True)
        self.env = rank_environment()

    def build(self, source, wrapper, name, flags=()):
        program = self.work / name
        own = {".f90": ["-J", self.work], ".f": ["-Werror=line-truncation"]}
        must([f"{wrapper}.{self.mpi}", "-O1", HERE / source, "-o", program,
              *own.get(pathlib.Path(source).suffix, []), *flags])
        return program

    def link_flags(self, library):
        return [f"-L{self.libraries}", f"-Wl,-rpath,{self.libraries}", "-Wl,--no-as-needed",
                f"-l:{library.name}"]

    def program(self, name, mode):
        source, wrapper = PROGRAMS[name]
        if not mode.startswith("linked"):
            return self.build(source, wrapper, name)
        library = self.any if mode == "linked-libtamis" else self.own
        return self.build(source, wrapper, f"{name}.{mode}", self.link_flags(library))

    def ranks(self, count, words, preload=None):
        setting = ["env", f"LD_PRELOAD={preload}"] if preload else []
        return [f"mpiexec.{self.mpi}", "-n", count, *setting, *words]

    def run_program(self, name, mode, count):
        program = self.program(name, mode)
        preload = {"preloaded": self.own, "preloaded-libtamis": self.any}.get(mode)
        data = self.work / f"{name}.{mode}.{count}.dat"
        data.unlink(missing_ok=True)
        output = must(self.ranks(count, [program, data], preload), env=self.env, cwd=self.work)
        verdict = re.search(r"(\d+) checks passed, 0 failed", output)
        if not verdict or int(verdict[1]) == 0:
            raise Failure(output)
        return f"{verdict[1]} checks"

    def fatal(self):
        """An aborting handler ends the program and says why."""
        program = self.build("fatal.c", "mpicc", "fatal")
        # To a file: of what ranks say as they are aborted, a launcher may pass on nothing.
        words = self.work / "fatal.txt"
        words.unlink(missing_ok=True)
        aside = ["sh", "-c", f'exec "$0" "$1" 2>>"{words}"', program, self.work / "no-such-file"]
        code, output = run(self.ranks(2, aside, self.own), env=self.env, cwd=self.work)
        output += words.read_text()
        if code == 0 or "no-such-file" not in output or "NO_SUCH_FILE" not in output:
            raise Failure(f"exit status {code}\n{output}")

    def private_mpi(self):
        """An MPI that comes later and privately, as Python loads it, is found by either file."""
        loader = self.work / "load_later"
        must(["cc", HERE / "load_later.c", "-o", loader, "-ldl"])
        plugin = self.build("calls.c", "mpicc", "calls_plugin.so",
                            ["-shared", "-fPIC", "-Dmain=run"])
        for preload in (self.own, self.any):
            for binding in ({}, {"LD_BIND_NOW": "1"}):
                output = must(["env", f"LD_PRELOAD={preload}", loader, MPI_LIBRARY[self.mpi], plugin,
                               self.work / "private.dat"], env=self.env | binding, cwd=self.work)
                if "0 failed" not in output:
                    raise Failure(output)

    def symbols(self):
        """Every MPI_File_ name of the host is ours, with its twin; nothing else is exported."""
        host = exported(self.host_library())
        table = table_names()
        wanted = {name for name in host if re.match(r"P?MPI_(File_|Register_datarep)", name)}
        if len(wanted) < 100:
            raise Failure(f"the host exports only {len(wanted)} names")
        for library in (self.own, self.any):
            ours = exported(library)
            lacking = sorted((wanted | table) - ours)
            if lacking:
                raise Failure(f"{library.name} lacks {' '.join(lacking)}")
            beyond = sorted(ours - table)
            if beyond:
                raise Failure(f"{library.name} also exports {' '.join(beyond)}")

    def host_library(self):
        program = self.build("fatal.c", "mpicc", "fatal")
        found = re.search(rf"{re.escape(MPI_LIBRARY[self.mpi])} => (\S+)", must(["ldd", program]))
        if not found:
            raise Failure(f"the compiler wrapper does not link {MPI_LIBRARY[self.mpi]}")
        return found[1]

    def no_mpi(self):
        """In a process without MPI libtamis.so does nothing."""
        for preload in (self.own, self.any):
            plain = must(["ls", HERE])
            if must(["env", f"LD_PRELOAD={preload}", "ls", HERE]) != plain:
                raise Failure(f"ls says something else under {preload.name}")

    def no_implementation(self):
        """libtamis.so alone in a directory says what it lacks; calls fail and nothing is mixed."""
        alone = self.work / "alone"
        alone.mkdir(exist_ok=True)
        lonely = alone / "libtamis.so"
        shutil.copy(self.any, lonely)
        program = self.build("fatal.c", "mpicc", "fatal")
        code, output = run(self.ranks(1, [program, self.work / "alone.dat"], lonely), env=self.env,
                           cwd=self.work)
        if code == 0 or f"libtamis-{self.mpi}.so" not in output:
            raise Failure(f"exit status {code}\n{output}")


def exported(library):
    lines = must(["nm", "-D", "--defined-only", library]).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def table_names():
    """Every name of the table that the entry points are generated from."""
    return set(must([sys.executable, ROOT / "tools/gen_abi.py", "names", "/dev/stdout"]).split())


def tests(suite, modes, counts):
    """Names of tests and what runs them."""
    for mode in modes:
        for name in PROGRAMS:
            for count in counts:
                yield (f"{name} {mode} {count} ranks",
                       lambda n=name, m=mode, c=count: suite.run_program(n, m, c))
    for name in SINGLE:
        yield name, getattr(suite, name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library-dir", type=pathlib.Path, required=True)
    parser.add_argument("--work-dir", type=pathlib.Path, required=True)
    parser.add_argument("--mpi", choices=MPI_LIBRARY, nargs="+", default=list(MPI_LIBRARY))
    parser.add_argument("--mode", choices=MODES, nargs="+", default=MODES)
    parser.add_argument("--ranks", type=int, nargs="+", default=(1, 3))
    arguments = parser.parse_args()
    passed = failed = 0
    for mpi in arguments.mpi:
        suite = Suite(mpi, arguments.library_dir, arguments.work_dir)
        for name, test in tests(suite, arguments.mode, arguments.ranks):
            try:
                print(f"ok      {mpi}: {name} {test() or ''}", flush=True)
                passed += 1
            except Failure as failure:
                print(f"FAILED  {mpi}: {name}\n{failure}", flush=True)
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
