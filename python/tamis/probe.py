"""Asks tamis-probe, which measures and tries things through the library itself."""

import json
import subprocess

from .errors import UserError

TIMEOUT_S = 60


def ask(library, *words):
    """One answer as a dictionary."""
    command = [str(library.require(library.probe_helper)), *map(str, words)]
    try:
        answer = subprocess.run(command, stdout=subprocess.PIPE, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise UserError(f"{words[0]}: no answer for {TIMEOUT_S} s; the storage hangs") from None
    if answer.returncode != 0:
        raise UserError(f"{command[0]} ended with {answer.returncode}")
    return json.loads(answer.stdout.decode(errors="replace"))


def follow(library, *words):
    """Starts a measurement; the process writes a line of JSON for each step."""
    command = [str(library.require(library.probe_helper)), *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)
