#!/usr/bin/env python3
"""Runs mpi4py's own tests of files, from its source package, under every MPI at 1, 2 and 4 ranks.

The tests of views run a second time ("@offsets") with their ordered calls carried out through explicit offsets.

Without --tamis they run on the MPIs' own MPI-IO, for comparison, and the exit code only says whether they could run.
With --tamis DIR it is 1 if a test fails that mpi4py_not_yet.txt does not list, if one it lists passes, if one is skipped
that is not expected to be, or if there are more or fewer tests than there should be. What the list names runs at 1 rank
only: at more, a rank that meets the refusal first leaves the test while others wait for it.
"""
import argparse
import fnmatch
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import mpi_hosts

RANKS = (1, 2, 4)
NOT_YET = HERE / "mpi4py_not_yet.txt"
BY_OFFSETS = "@offsets"
SKIPPED = 77  # CTest's customary exit code
MARKS = {"pass": ".", "skip": "s", "not yet": "-", "fail": "F", "hang": "H", "crash": "C"}
FAILURES = ("fail", "hang", "crash")
TESTS = 126  # in the mpi4py that tools/python-requirements.txt names, with the twins
# mpi4py runs it only where the MPI has MPI_ERRORS_ABORT.
MAY_BE_SKIPPED = {"TestErrhandlerFile.testErrorsAbort"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tamis", type=Path, metavar="DIR", help="folder of libtamis-*.so to preload")
    parser.add_argument("--mpi", action="append", choices=[mpi.name for mpi in mpi_hosts.HOSTS], help="default: all")
    parser.add_argument("--ranks", type=int, action="append", metavar="N", help="default: 1, 2 and 4")
    parser.add_argument("--stall", type=float, default=40, metavar="S",
                        help="seconds in which no rank gets on with its tests before they count as hung (default 40)")
    parser.add_argument("--only", default="*", metavar="GLOB", help="tests whose name matches")
    parser.add_argument("--reasons", action="store_true", help="print why each test failed")
    return parser.parse_args()


def test_folder(python):
    """mpi4py's tests, unpacked from the source package of the version that is installed."""
    requirements = (mpi_hosts.ROOT / "tools" / "python-requirements.txt").read_text()
    requirement = re.search(r"^mpi4py==(\S+)", requirements, re.MULTILINE).group(0)
    store = mpi_hosts.ROOT / "build" / "conformance"
    folder = store / requirement.replace("==", "-") / "test"
    if not folder.is_dir():
        store.mkdir(parents=True, exist_ok=True)
        # Only mpi4py itself as source: pip would compile what its build needs, too.
        fetched = mpi_hosts.run([python, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
                                 "--no-binary", "mpi4py", "-d", store, requirement], 300)
        if fetched.code != 0:
            sys.exit(f"conformance: the source of {requirement} cannot be had\n{fetched.output}")
        subprocess.run(["tar", "-xzf", store / f"{folder.parent.name}.tar.gz", "-C", store], check=True)
    return folder


class Launch:
    """One start of the ranks with a list of tests; ends when they are through, crash, or get no further."""

    def __init__(self, mpi, ranks, library, folder, stall_s):
        self._mpi, self._ranks, self._library, self._folder, self._stall_s = mpi, ranks, library, folder, stall_s

    def run(self, tests):
        """Runs the tests in order. Returns verdicts of those that came to one: test -> (verdict, reason)."""
        with tempfile.TemporaryDirectory(prefix="tamis-conformance-") as logs:
            command = self._mpi.mpiexec(self._ranks, [
                self._mpi.python, HERE / "mpi4py_rank.py", self._folder, logs, *tests], self._library)
            with open(Path(logs) / "output", "w+") as output:
                with mpi_hosts.started(command, stdout=output, cwd=logs,
                                       env=mpi_hosts.launch_environment(TMPDIR=logs)) as child:
                    stalled = self._watch(child, logs)
                output.seek(0)
                return verdicts(self._logs(logs), stalled, child.returncode, output.read())

    def _logs(self, logs):
        files = [Path(logs) / str(rank) for rank in range(self._ranks)]
        return [file.read_text().splitlines() if file.exists() else [] for file in files]

    def _watch(self, child, logs):
        """Waits for the end; true if it had to be brought about."""
        lines, since = None, time.monotonic()
        while True:
            try:
                child.wait(1)
                return False
            except subprocess.TimeoutExpired:
                pass
            now = [len(log) for log in self._logs(logs)]
            if now != lines:
                lines, since = now, time.monotonic()
            elif time.monotonic() - since > self._stall_s:
                mpi_hosts.end(child)
                return True


def verdicts(logs, stalled, code, output):
    """The worst verdict of any rank for each test; a test that some rank started and never ended hung or crashed."""
    found = {}
    for log in logs:
        running = None
        for line in log:
            verdict, test, *reason = line.split(" ", 2)
            if verdict == "start":
                running = test
                continue
            running = None
            if verdict == "fail" or test not in found:
                found[test] = (verdict, reason[0] if reason else "")
        if running is not None and found.get(running, ("pass",))[0] != "fail":
            found[running] = ("hang", "") if stalled else ("crash", f"exit code {code}: {output[-200:].strip()}")
    return found


def run_tests(launch, tests, listed):
    """Every test's verdict. After a hang or a crash the ranks are started again with the tests that are left. Where
    several tests failed in one start each is tried again alone: one may have spoilt the others, and when the ranks end
    all at once some may have been in an innocent test. Those that are listed, and so expected to fail, are not."""
    answers, left = {}, list(tests)
    while left:
        found = launch.run(left)
        if not found:
            return answers | {test: ("crash", "the ranks did not start") for test in left}
        reached = [test for test in left if test in found]
        failed = [test for test in reached if found[test][0] in FAILURES]
        answers |= found
        for test in failed if len(failed) > 1 else []:
            if is_listed(test, listed):
                continue
            answers |= launch.run([test])
        left = [test for test in left if test not in found]
    return answers


def short(test):
    return ".".join(test.split(".")[-2:])


def print_table(tests, columns, results):
    """A row per test with anything to say; a column per MPI and number of ranks."""
    width = max(len(short(test)) for test in tests)
    print(" " * width, *(f"{mpi}/{ranks}" for mpi, ranks in columns))
    for test in tests:
        marks = [MARKS[results[column][test][0]] for column in columns]
        if set(marks) - {"."}:
            print(short(test).ljust(width), *(mark.center(len(f"{mpi}/{ranks}"))
                                              for mark, (mpi, ranks) in zip(marks, columns)))
    for column in columns:
        count = Counter(verdict for verdict, _ in results[column].values())
        print(f"{column[0]}, {column[1]} ranks:", ", ".join(f"{count[verdict]} {verdict}" for verdict in MARKS
                                                            if count[verdict]))


def print_reasons(columns, results):
    for column in columns:
        for test, (verdict, reason) in results[column].items():
            if verdict in FAILURES or (verdict == "not yet" and reason):
                print(f"{column[0]}/{column[1]} {short(test)}: {verdict} {reason}")


def not_yet():
    """Globs of tests that need what is not built, one per line; after a # the reason."""
    lines = (line.split("#")[0].strip() for line in NOT_YET.read_text().splitlines())
    return [line for line in lines if line]


def is_listed(test, globs):
    return any(fnmatch.fnmatchcase(short(test), glob) for glob in globs)


def surprises(results, globs):
    """A sentence for each answer that is not as the list says; at 1 rank, what it names has to fail."""
    for (mpi, ranks), answers in results.items():
        for test, (verdict, _) in answers.items():
            where = f"{short(test)} under {mpi} at {ranks} ranks"
            if verdict in FAILURES:
                yield f"UNEXPECTED {verdict}: {where}"
            elif verdict == "skip" and short(test) not in MAY_BE_SKIPPED:
                yield f"UNEXPECTED skip: {where}"
            elif verdict == "pass" and is_listed(test, globs):
                yield f"LISTED but passing: {where} (take it out of {NOT_YET.name})"


def gaps(tests, globs):
    """A sentence for each thing that is not there: tests, or what the list names."""
    unused = [glob for glob in globs if not any(is_listed(test, [glob]) for test in tests)]
    yield from (f"LISTED but no test: {glob} (take it out of {NOT_YET.name})" for glob in unused)
    if len(tests) != TESTS:
        yield f"{len(tests)} tests, not {TESTS}"


def run_column(launch, ranks, tests, listed):
    """All tests at one number of ranks under one MPI. The list excuses a failure, but no hang and no crash."""
    left = [test for test in tests if ranks > 1 and is_listed(test, listed)]
    started = [test for test in tests if test not in left]
    plain = [test for test in started if not test.endswith(BY_OFFSETS)]
    by_offsets = [test for test in started if test.endswith(BY_OFFSETS)]
    answers = {test: ("not yet", "") for test in left}
    answers |= run_tests(launch, plain, listed) | run_tests(launch, by_offsets, listed)
    return {test: ("not yet", reason) if verdict == "fail" and is_listed(test, listed) else (verdict, reason)
            for test, (verdict, reason) in answers.items()}


def main():
    mpi_hosts.end_by_signals()
    arguments = parse_arguments()
    hosts = [mpi for mpi in mpi_hosts.installed_hosts(arguments.mpi) if mpi.has_python]
    if not hosts:
        print("conformance: no MPI with a Python environment here; tools/python_envs.sh makes them", file=sys.stderr)
        return SKIPPED
    folder = test_folder(hosts[0].python)
    listing = mpi_hosts.run([hosts[0].python, HERE / "mpi4py_rank.py", folder, "-"], 60)
    tests = [name for name in listing.output.split()
             if name.startswith("test_") and fnmatch.fnmatch(name, arguments.only)]
    tests += [name + BY_OFFSETS for name in tests if name.startswith("test_io.TestIOView")]
    listed = not_yet() if arguments.tamis else []
    results = {}
    for mpi in hosts:
        library = mpi.tamis_library(arguments.tamis) if arguments.tamis else None
        for ranks in arguments.ranks or RANKS:
            start = time.monotonic()
            launch = Launch(mpi, ranks, library, folder, arguments.stall)
            results[mpi.name, ranks] = run_column(launch, ranks, tests, listed)
            print(f"{mpi.title}, {'Tamis' if library else mpi.io}, {ranks} ranks: {len(tests)} tests, "
                  f"{time.monotonic() - start:.0f} s", flush=True)
    print_table(tests, list(results), results)
    if arguments.reasons:
        print_reasons(list(results), results)
    if not arguments.tamis:
        return 0
    found = list(surprises(results, listed))
    if arguments.only == "*":
        found += gaps(tests, listed)
    for sentence in found:
        print(sentence)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
