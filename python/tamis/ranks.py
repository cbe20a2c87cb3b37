"""The launchers of this machine, and whether two ranks under each are served by the library."""

import json
import os
import re
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from .errors import UserError
from .launcher import MPI_LAUNCHER, Launcher, mpi_of_launcher, version_text
from .run import Seeing, command_for, environment_with

TIMEOUT_S = 60
VERSION = re.compile(r"\b\d+\.\d+(?:\.\d+)*")
# Two ranks on one core, and ranks of root in a container: Open MPI wants to be told.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}

# What the user wants to see of jobs, and where: these ranks must not write there.
USERS_OWN = ("TAMIS_STATS", "TAMIS_EXPLAIN", "TAMIS_REPORT", "TAMIS_TRACE")


@dataclass(frozen=True)
class Found:
    """A launcher on the search path; mpi is None for one that cannot be served, and why says so."""

    path: str
    mpi: Optional[str]
    version: str = ""
    why: str = ""


def find_launchers():
    """Every launcher on the search path once, whatever the number of its names."""
    seen = set()
    for directory in os.get_exec_path():
        for path in sorted(Path(directory or ".").glob("mpi*")):
            real = os.path.realpath(path)
            if MPI_LAUNCHER.match(path.name) and real not in seen and os.access(path, os.X_OK):
                seen.add(real)
                yield understood(str(path))


def understood(path):
    try:
        mpi = mpi_of_launcher(path)
    except UserError as error:
        return Found(path, None, why=str(error))
    version = VERSION.search(version_text(path))
    return Found(path, mpi, version.group() if version else "of unknown version")


@dataclass(frozen=True)
class Outcome:
    """What two ranks did; `failure` is empty where all went well."""

    version: str = ""
    served: bool = False
    failure: str = ""


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip(" =\t")]
    return lines[-1] if lines else "nothing"


def understood_output(code, output):
    for line in output.splitlines():
        if line.startswith("{"):
            with suppress(ValueError):
                answer = json.loads(line)
                return Outcome(answer["version"], answer["served"])
    signs = [line.strip() for line in output.splitlines() if "MPI_" in line or "signal" in line.lower()]
    return Outcome(failure=f"exit code {code}: {signs[0] if signs else last_line(output)}")


def try_ranks(library, found, file, timeout_s=TIMEOUT_S):
    """Two ranks of a small program, started as `tamis run` starts them."""
    words = [found.path, "-n", "2", str(library.require(library.rank_probe(found.mpi))), str(file)]
    command = command_for(Launcher(found.path, found.mpi), words, Seeing())
    environment = {**ENVIRONMENT, **environment_with(library.require_preload(found.mpi), Seeing())}
    for name in USERS_OWN:
        environment.pop(name, None)
    try:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    except OSError as error:
        return Outcome(failure=str(error))
    try:
        output, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return Outcome(failure=f"no end after {timeout_s} s")
    finally:
        end(process)
        with suppress(OSError):
            Path(file).unlink()
    return understood_output(process.returncode, output.decode(errors="replace"))


def end(process):
    """Ends the launcher and what it started: they are a session of their own."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
