#!/usr/bin/env python3
"""Runs clang-tidy over src/ and cli/, each file once.

    tools/tidy.py [--build DIRECTORY] [--jobs N] [WORD...]     only files whose path contains one of the words

What is compiled once per MPI is read as it is compiled for the first of them: clang-tidy by itself would read such a
file with every command that it finds, that is, for the libraries and the tests of every MPI.
"""
import argparse
import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (ROOT / "src", ROOT / "cli")


def one_command_each(database, words):
    """The first command of every file of the folders above."""
    chosen = {}
    for entry in json.loads(database.read_text()):
        path = Path(entry["directory"], entry["file"])
        inside = any(path.is_relative_to(folder) for folder in FOLDERS)
        if inside and any(word in str(path.relative_to(ROOT)) for word in words or [""]):
            chosen.setdefault(path, entry)
    return list(chosen.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="a build with compile_commands.json")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    entries = one_command_each(arguments.build / "compile_commands.json", arguments.words)
    if not entries:
        sys.exit("tidy: no such file is compiled")
    folder = arguments.build / "tidy"
    folder.mkdir(exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(entries, indent=1))
    os.execvp("run-clang-tidy", ["run-clang-tidy", "-quiet", "-p", str(folder), "-j", str(arguments.jobs),
                                 *(f"^{re.escape(entry['file'])}$" for entry in entries)])


if __name__ == "__main__":
    main()
