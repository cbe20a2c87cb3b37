#!/usr/bin/env python3
"""Writes the pages that are made from tables.

    tools/make_docs.py [--build build] [--check]

With --check nothing is written; the exit code says whether the pages are up to date.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HINTS_HEAD = """\
# Hints

<!-- Made by `make docs` from the table in src/plan/hints.cpp; change it there. -->

A hint tells Tamis something about a file or about how to go about it. A wrong one costs time, not bytes; the exception is
`tamis_locks=disable`, which is a promise that nobody else writes the file meanwhile. Names and
meanings are ROMIO's where it has them; `tamis hints` prints this table with the values in force. Which to take when:
[choosing-hints.md](choosing-hints.md); who has which part of the file: [realms.md](realms.md).

| hint | default | values | what it does |
|---|---|---|---|
"""
HINTS_TAIL = """\

## Where hints come from
From weakest to strongest; for each hint the last word counts.

1. **The site:** the file that `ROMIO_HINTS` names, otherwise `/etc/romio-hints`. One hint per line, `key value`; `#`
   starts a comment.
2. **The program:** the info object of `MPI_File_open`, later that of `MPI_File_set_view` and `MPI_File_set_info`.
3. **The user of this run:** `TAMIS_HINTS`, which can be changed when the program cannot:

   ```
   TAMIS_HINTS='*.h5:cb_nodes=4:romio_ds_write=disable,/scratch/*:striping_unit=1M'
   ```

   Patterns are separated by commas, hints by colons. A pattern is a shell's (`*` also stands for slashes) and is held
   against the file name as the program gave it and against its last component. All patterns that fit count, in their
   order. A backslash keeps a comma or a colon: `*:cb_config_list=*\\:1`.

Rank 0's hints are in force on all ranks; they are agreed upon by one broadcast when the file is opened.
`tamis_pretend_nodes` and `tamis_shared_memory` count at open only.

## Which are in force, which are ignored
`MPI_File_get_info` tells a program what is in force. Hints that are unknown, malformed or out of range are ignored, as
the standard says (MPI 4.1, section 14.2.8), but not passed over in silence:

```
tamis hints                                         # the table, the environment's values, what is wrong with them
tamis hints --file run/out.h5                       # as a file of that name gets them
tamis hints --check cb_nodes=four cb_knots=4        # what would be ignored, and why
```
"""


def cell(text):
    return text.replace("|", "\\|") if text else "–"


def code(text):
    return f"`{cell(text)}`" if text else "–"


def hints_page(build):
    environment = {**os.environ, "ROMIO_HINTS": os.devnull}
    environment.pop("TAMIS_HINTS", None)
    answer = subprocess.run([build / "lib" / "tamis" / "tamis-hints"], stdout=subprocess.PIPE,
                            env=environment, check=True)
    rows = "".join(
        f"| `{hint['key']}` | {code(hint['default'])} | {cell(hint['range'])} | {cell(hint['sentence'])} |\n"
        for hint in json.loads(answer.stdout)["hints"]
    )
    return HINTS_HEAD + rows + HINTS_TAIL


def main():
    parser = argparse.ArgumentParser(description="Writes the pages that are made from tables.")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    page = ROOT / "docs" / "hints.md"
    text = hints_page(arguments.build.resolve())
    if not arguments.check:
        page.write_text(text, encoding="utf-8")
    elif not page.is_file() or page.read_text(encoding="utf-8") != text:
        print(f"{page} is out of date: make docs", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
