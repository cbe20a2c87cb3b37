"""tamis hints: the table of hints, and which ones a program or an environment gets wrong."""

import json
import subprocess
import textwrap

from .errors import UserError


def ask_library(library, file_name=None, checks=()):
    """The table as the library holds it, with values in force and what it would ignore."""
    command = [str(library.require(library.hints_helper))]
    if file_name is not None:
        command += ["--file", file_name]
    answer = subprocess.run([*command, *checks], stdout=subprocess.PIPE, check=False)
    if answer.returncode != 0:
        raise UserError(f"{command[0]} ended with {answer.returncode}")
    return json.loads(answer.stdout.decode(errors="replace"))


def formatted_table(hints, width):
    """The hints as lines for a terminal; * marks values that are not the default, with their source."""
    key_width = max(len(hint["key"]) for hint in hints)
    value_width = max(len(hint["value"]) for hint in hints) + 1
    indent = " " * (key_width + value_width + 4)
    for hint in hints:
        mark = "" if hint["value"] == hint["default"] else "*"
        head = f"{hint['key']:<{key_width}}  {hint['value'] + mark:<{value_width}}  "
        source = "" if hint["source"] == "default" else f" From {hint['source']}."
        text = f"{hint['sentence']} ({hint['range']}){source}"
        yield textwrap.fill(text, width, initial_indent=head, subsequent_indent=indent)


def formatted_refusals(ignored):
    for hint in ignored:
        given = f"{hint['key']}={hint['value']}" if hint["value"] else hint["key"]
        source = "" if hint["source"] in ("", "command line") else f" (from {hint['source']})"
        yield f"ignored: {given}: {hint['reason']}{source}"


def hints(library, file_name, checks, width, write):
    """Writes the answer; the exit code says whether every hint given is a good one."""
    answer = ask_library(library, file_name, checks)
    if not checks:
        for line in formatted_table(answer["hints"], width):
            write(line)
    for line in formatted_refusals(answer["ignored"]):
        write(line)
    if checks and not answer["ignored"]:
        write("all taken")
    return 1 if answer["ignored"] else 0
