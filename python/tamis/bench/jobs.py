"""One run of ranks: started, given a time, ended with all it started, and its end put into a word."""

import json
import os
import re
import signal
import subprocess
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

OK = "ok"
WRONG = "wrong bytes"
HANGS = "hangs"
REFUSES = "refuses"  # the MPI-IO answered with an error
FAILS = "fails"  # the program could not do its own part
CRASHES = "crashes"
UNFIT = "unfit"  # no such size or number of ranks: nobody's fault
FAULTS = (WRONG, HANGS, REFUSES, FAILS, CRASHES)

# As root, in a container, more ranks than cores: what Open MPI 4 and 5 want to hear. Ranks that wait give
# way, which is the best the peers can do where ranks outnumber cores.
RANK_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
# What would change what is measured: hints and reports of the caller's own.
FORGOTTEN = ("LD_PRELOAD", "TAMIS_HINTS", "ROMIO_HINTS", "TAMIS_REPORT", "TAMIS_TRACE", "TAMIS_STATS",
             "TAMIS_EXPLAIN")
MARK = "TAMIS_BENCH_JOB"  # names the job in the environment of all its processes
UNFIT_CODE = 2
GRACE_S = 5
ERROR_LINE = re.compile(r"^bench: (?!failed: )(.*)$", re.MULTILINE)
FAILED_LINE = re.compile(r"^bench: failed: (.*)$", re.MULTILINE)
UNFIT_LINE = re.compile(r"^workloads: (.*)$", re.MULTILINE)


@dataclass
class Outcome:
    """What a job printed, and how it ended."""

    word: str
    detail: str = ""
    lines: list = field(default_factory=list)

    @property
    def samples(self):
        """The timed accesses of the workloads' program."""
        return [line for line in self.lines if "rep" in line]


def json_lines(text):
    """A line that is cut off, as of a job that was ended, is left out."""
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line) if line.startswith("{") else None)
        except ValueError:
            continue
    return [line for line in found if line is not None]


def first_match(pattern, text):
    found = pattern.search(text)
    return found.group(1).strip() if found else ""


def judge(lines, code, errors, timed_out):
    """The word for an end, and what was said of it."""
    wrong = next((line for line in lines if line.get("verified") is False), None)
    if wrong is not None:
        return WRONG, f"{wrong.get('what', 'a byte')} at {wrong.get('at')}: {wrong.get('got')}, not {wrong.get('want')}"
    if timed_out:
        return HANGS, ""
    if code == 0:
        return OK, ""
    if code == UNFIT_CODE and UNFIT_LINE.search(errors):
        return UNFIT, first_match(UNFIT_LINE, errors)
    if FAILED_LINE.search(errors):
        return FAILS, first_match(FAILED_LINE, errors)
    if ERROR_LINE.search(errors):
        return REFUSES, first_match(ERROR_LINE, errors)
    last = errors.strip().splitlines()[-1:] or [""]
    return CRASHES, f"exit code {code}: {last[0][:200]}"


def processes_marked(mark):
    wanted = f"{MARK}={mark}".encode()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)
        except OSError:  # gone, or another user's
            continue


def end(job, mark):
    """Ends a job that takes too long: the launcher, which knows its ranks; then whatever is left of it."""
    job.terminate()
    try:
        output, errors = job.communicate(timeout=GRACE_S)
    except subprocess.TimeoutExpired:
        end_marked(mark)
        output, errors = job.communicate()
    end_marked(mark)
    return output, errors


def end_marked(mark):
    """A rank that spins on would spoil every figure after it."""
    for process in processes_marked(mark):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def command_of(mpi, implementation, ranks, program, arguments, more=None):
    """The preload, and what else is for the ranks, never reaches the launcher."""
    own = {f"{name}={value}" for name, value in (more or {}).items()}
    if implementation.preload is not None:
        own.add(f"LD_PRELOAD={implementation.preload}")
    if implementation.hints:
        own.add(f"TAMIS_HINTS={implementation.hints}")
    for_ranks = ["env", *sorted(own)] if own else []
    return [mpi.launcher, "-n", str(ranks), *for_ranks, str(program), *map(str, arguments)]


def run(command, environment, limit_s):
    """Runs it, and leaves nothing of it behind, however it ends."""
    mark = uuid.uuid4().hex
    kept = {name: value for name, value in os.environ.items() if name not in FORGOTTEN}
    job = subprocess.Popen(command, env={**kept, **RANK_ENVIRONMENT, **environment, MARK: mark}, text=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           errors="replace", start_new_session=True)
    timed_out = False
    try:
        output, errors = job.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        output, errors = end(job, mark)
        timed_out = True
    except BaseException:  # the user has seen enough
        end(job, mark)
        raise
    lines = json_lines(output)
    word, detail = judge(lines, job.returncode, errors, timed_out)
    if word not in (OK, UNFIT):
        end_marked(mark)
    return Outcome(word, detail or (f"after {limit_s:g} s" if timed_out else ""), lines)


class Clock:
    """A time for all that is begun; None: no end."""

    def __init__(self, seconds):
        self.began = time.monotonic()
        self.seconds = seconds

    @property
    def spent(self):
        return time.monotonic() - self.began

    @property
    def is_over(self):
        return self.seconds is not None and self.spent >= self.seconds
