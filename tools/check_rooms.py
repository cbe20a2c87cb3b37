#!/usr/bin/env python3
"""Checks the walls of the house: who may include whom, and what may stand where.

    tools/check_rooms.py [--root DIRECTORY]

Prints one line per violation ("file:line: what is wrong") and exits with 1 if there is one.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

# What a room may include besides itself: rooms, or single headers where the rest is out of bounds.
DRIVER_INTERFACE = "drivers/driver.hpp"
TOPOLOGY = "comm/topology.hpp"  # who sits beside whom: plain data
MAY_INCLUDE = {
    "base": set(),
    "layout": {"base"},
    "comm": {"base"},
    "drivers": {"base", "layout"},
    "plan": {"base", "layout", DRIVER_INTERFACE, TOPOLOGY},
    "engine": {"base", "layout", "plan", "comm", DRIVER_INTERFACE},
    "file": {"base", "layout", "plan", "comm", "engine", "drivers"},
    "sim": {"base", "layout", "plan", "comm", "engine", "drivers", "file"},
    "mpi": {"base", "layout", "comm"},
    "abi": {"base", "layout", "plan", "comm", "engine", "drivers", "file", "mpi"},
    "dispatch": set(),
}
MPI_ROOMS = {"mpi", "abi"}
# drivers: the storage itself. mpi: shared segments and futexes.
SYSTEM_IO_ROOMS = {"drivers", "mpi"}
SYSTEM_IO_HEADER = re.compile(r"^(fcntl|unistd|aio|dirent|libaio|liburing)\.h$|^(sys|linux)/")
ENVIRONMENT_FILES = {"abi/ledger.cpp", "file/hint_sources.cpp", "drivers/posix/profile_store.cpp"}
ENVIRONMENT_CALL = re.compile(r"\b(secure_)?getenv\s*\(|\benviron\b")
# What ends the process or prints. assert() is neither: what is installed is built without it.
ENDING_CALL = re.compile(
    r"(?<![\w.>])(?:std::)?(?P<call>"
    r"abort|_?exit|_Exit|quick_exit|terminate|MPI_Abort|__assert_fail|__builtin_(?:trap|abort|debugtrap)"
    r"|v?[fd]?printf|f?putc|putchar|f?puts|fwrite|perror|psignal|v?(?:err|warn)x?|v?syslog"
    r"|fmt::(?:v?print|println)|println?"
    r")\s*\("
    r"|(?<![\w.>])(?:std::)?(?P<signal>raise|t?g?kill|pthread_kill)\s*\([^;]*\bSIG"
    r"|\bstd::(?P<stream>w?(?:cout|cerr|clog))\b"
)
# (file, call): at most one such call in that file, for the reason beside it.
ENDING_ALLOWED = {
    ("abi/library.cpp", "fprintf"),        # the log sink of libtamis-<mpi>.so
    ("dispatch/dispatch.cpp", "fprintf"),  # the log sink of libtamis.so
    ("base/checked.hpp", "__builtin_trap"),  # a narrowed offset that does not fit would write elsewhere
    ("sim/world.cpp", "__builtin_trap"),   # the simulator is no part of the libraries
}

LONGEST_FUNCTION = 60
LONGEST_FILE = 500
# "room/file.cpp" or "room/file.cpp:line of the function's head"; each entry with a reason beside it.
LENGTH_ALLOWED: set[str] = set()

SUFFIXES = {".cpp", ".hpp", ".c", ".h", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


@dataclass(frozen=True)
class Violation:
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


def may_include(room, included):
    target = included.split("/", 1)[0]
    allowed = MAY_INCLUDE[room]
    return target == room or target in allowed or included in allowed


def check_include(room, kind, header):
    """What is wrong with `room` including `header`, or None."""
    if header == "mpi.h":
        return None if room in MPI_ROOMS else "<mpi.h> belongs into mpi/ and abi/"
    if kind == "<":
        if SYSTEM_IO_HEADER.match(header) and room not in SYSTEM_IO_ROOMS:
            return f"<{header}>: system I/O belongs into drivers/"
        return None
    target = header.split("/", 1)[0]
    if "/" in header and target in MAY_INCLUDE and not may_include(room, header):
        return f"{room}/ must not include {header}"
    return None


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def without_literals(text):
    """The text with comments, strings and characters blanked; lines stay where they are."""
    pattern = re.compile(
        r'R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"'
        r"|//[^\n]*|/\*.*?\*/"
        r'|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9a-fA-F])'(?:\\.[^'\n]*|[^'\\\n])'",
        re.DOTALL,
    )
    return pattern.sub(blank, text)


SCOPE_HEAD = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


def opens(head, enclosing):
    """What a brace opens: a scope that may hold functions, a function, or something else."""
    if any(kind != "scope" for kind in enclosing):
        return "other"
    if SCOPE_HEAD.search(head) and not re.search(r"\)\s*(const|noexcept|override|final|->.*)*\s*$", head):
        return "scope"
    return "function" if ")" in head else "other"


def functions(code):
    """(first line, last line) of every function body in blanked code, by counting braces."""
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\[\s\S])*", blank, code, flags=re.MULTILINE)
    stack, found = [], []
    head, line, head_line = "", 1, 1
    for char in code:
        if char == "{":
            stack.append((opens(head, [kind for kind, _ in stack]), head_line))
        elif char == "}" and stack:
            kind, first = stack.pop()
            if kind == "function":
                found.append((first, line))
        if char in "{};":
            head = ""
        elif not char.isspace() or head:
            head_line = line if not head else head_line
            head += char
        line += char == "\n"
    return found


def check_lengths(name, code):
    lines = code.count("\n")
    if lines > LONGEST_FILE and name not in LENGTH_ALLOWED:
        yield 1, f"{lines} lines; a file has at most {LONGEST_FILE}"
    for first, last in functions(code):
        length = last - first + 1
        if length > LONGEST_FUNCTION and f"{name}:{first}" not in LENGTH_ALLOWED:
            yield first, f"a function of {length} lines; at most {LONGEST_FUNCTION}"


def check_code(name, code):
    """Calls that only some files may make."""
    for number, line in enumerate(code.splitlines(), 1):
        if ENVIRONMENT_CALL.search(line) and name not in ENVIRONMENT_FILES:
            yield number, "the environment is read in file/hint_sources.cpp only"
    yield from check_endings(name, code)


def check_endings(name, code):
    allowed = {call for file, call in ENDING_ALLOWED if file == name}
    for number, line in enumerate(code.splitlines(), 1):
        for ending in ENDING_CALL.finditer(line):
            call = ending.group("call") or ending.group("signal") or ending.group("stream")
            if call not in allowed:
                yield number, f"{call}: the library never prints, aborts or exits"
            allowed.discard(call)


def check_file(source_root, path):
    name = path.relative_to(source_root).as_posix()
    room = name.split("/", 1)[0]
    shown = f"src/{name}"
    if room not in MAY_INCLUDE:
        yield Violation(shown, 1, f"{room}/ is no room that tools/check_rooms.py knows")
        return
    text = path.read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        include = INCLUDE.match(line)
        wrong = include and check_include(room, include.group(1), include.group(2))
        if wrong:
            yield Violation(shown, number, wrong)
    if path.suffix == ".hpp" and "#pragma once" not in text:
        yield Violation(shown, 1, "a header without #pragma once")
    code = without_literals(text)
    for number, wrong in (*check_code(name, code), *check_lengths(name, code)):
        yield Violation(shown, number, wrong)


def check_tree(root):
    source_root = root / "src"
    files = sorted(path for path in source_root.rglob("*") if path.suffix in SUFFIXES)
    if not files:
        return [Violation("src", 1, "nothing to check here")]
    return [violation for path in files for violation in check_file(source_root, path)]


def main():
    parser = argparse.ArgumentParser(description="Checks the walls between the rooms of src/.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    violations = check_tree(parser.parse_args().root)
    for violation in violations:
        print(violation)
    if violations:
        print(f"check_rooms: {len(violations)} violation(s)", file=sys.stderr)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
