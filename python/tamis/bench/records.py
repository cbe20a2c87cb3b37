"""What has been measured, a JSON line each, on disk at once: a run that is killed loses the cell it was at."""

import json
import os

from ..errors import UserError

FORMAT = 1


class Records:
    """An append-only file of records; cells are found again by their keys."""

    def __init__(self, path):
        self.path = path
        self.all = read(path)
        self.by_key = {record["key"]: record for record in self.all if "key" in record}

    def add(self, record):
        self.all.append(record)
        if "key" in record:
            self.by_key[record["key"]] = record
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())


def read(path):
    """All whole lines. What a killed run left of its last one is taken off the file."""
    if not path.exists():
        return []
    records, whole = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            records.append(json.loads(line))
            whole.append(line)
        except ValueError:
            continue
    text = "".join(f"{line}\n" for line in whole)
    if text != path.read_text(encoding="utf-8"):
        path.write_text(text, encoding="utf-8")
    return records


def open_records(path, resume):
    """REQUIRES nothing there, unless what is there is to be gone on with."""
    if path.exists() and not resume:
        raise UserError(f"{path} is there already: --resume goes on with it, another --out begins anew")
    path.parent.mkdir(parents=True, exist_ok=True)
    return Records(path)
