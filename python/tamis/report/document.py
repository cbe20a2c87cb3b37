"""The job document, format 1: read, checked, and held as values.

Whatever is wrong with a document is one line that names the place: files[0].ways[2].calls is no integer.
Keys that are not known are ignored, so that a library may say more within a format.
"""

import dataclasses
import glob
import json
import math
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import UserError

FORMAT = 1
SIZES = ("request_sizes", "read_sizes", "write_sizes")  # requests by size: all, and by what they do
REQUEST_SIZES = 18  # requests of < 16 B, 16 to 31 B, ... 512 KiB to 1 MiB, >= 1 MiB
COUNTERS = (
    "calls",
    "errors",
    "bytes_wanted",
    "bytes_moved",
    "pieces",
    "reads",
    "bytes_read",
    "writes",
    "bytes_written",
    "lists",
    "bytes_resent",
    "bytes_messages",
    "bytes_announced",
    "windows",
    "windows_listed",
    "rewrites",
    "bytes_rewritten",
    "gaps",
    "bytes_gaps",
    "locks",
)
PHASES = ("survey", "announce", "pack", "wait", "transfer", "lock", "agree")


class Defect(Exception):
    """What is wrong with the document, and where."""


def integer(value, where):
    if not isinstance(value, int) or isinstance(value, bool):
        raise Defect(f"{where} is no integer")
    if value < 0:
        raise Defect(f"{where} is negative")
    return value


def positive(value, where):
    if integer(value, where) == 0:
        raise Defect(f"{where} is 0")
    return value


def any_number(value, where):
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise Defect(f"{where} is no number")
    if not math.isfinite(value):
        raise Defect(f"{where} is {value}")
    return float(value)


def number(value, where):
    if any_number(value, where) < 0:
        raise Defect(f"{where} is negative")
    return float(value)


def text(value, where):
    if not isinstance(value, str):
        raise Defect(f"{where} is no text")
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in value)


def flag(value, where):
    if not isinstance(value, bool):
        raise Defect(f"{where} is neither true nor false")
    return value


def one_of(*words):
    def read(value, where):
        if value not in words:
            raise Defect(f"{where} is none of {', '.join(words)}")
        return value

    return read


def list_of(kind, length=None):
    def read(value, where):
        if not isinstance(value, list):
            raise Defect(f"{where} is no list")
        if length is not None and len(value) != length:
            raise Defect(f"{where} has {len(value)} entries, not {length}")
        return [kind(entry, f"{where}[{index}]") for index, entry in enumerate(value)]

    return read


def texts(value, where):
    if not isinstance(value, dict):
        raise Defect(f"{where} is no object")
    return {text(key, where): text(entry, f"{where}.{key}") for key, entry in value.items()}


def nanoseconds(value, where):
    if not isinstance(value, dict):
        raise Defect(f"{where} is no object")
    for key in (*PHASES, "total"):
        if key not in value:
            raise Defect(f'{where} lacks "{key}"')
    return {key: integer(value[key], f"{where}.{key}") for key in (*PHASES, "total")}


KINDS = {int: integer, float: number, str: text, bool: flag}


def read_as(shape):
    """A reader for objects of a dataclass; a field's `read` says how, else its type does."""

    def read(value, where):
        if not isinstance(value, dict):
            raise Defect(f"{where or 'the document'} is no object")
        found = {}
        for entry in dataclasses.fields(shape):
            if entry.name in value:
                kind = entry.metadata.get("read") or KINDS[entry.type]
                found[entry.name] = kind(value[entry.name], f"{where}.{entry.name}".lstrip("."))
            elif entry.default is dataclasses.MISSING and entry.default_factory is dataclasses.MISSING:
                raise Defect(f'{where or "the document"} lacks "{entry.name}"')
        return shape(**found)

    return read


def reading(kind, **more):
    return field(metadata={"read": kind}, **more)


DIRECTION = one_of("read", "write")


@dataclass(frozen=True)
class Way:
    """Accesses that went the same way: sums over their calls and over ranks."""

    direction: str = reading(DIRECTION)
    collective: bool
    route: str = reading(one_of("alone", "two_phase", "nothing"))
    method: str
    calls: int
    errors: int
    bytes_wanted: int
    bytes_moved: int
    pieces: int
    reads: int
    bytes_read: int
    writes: int
    bytes_written: int
    request_sizes: list = reading(list_of(integer, REQUEST_SIZES))
    read_sizes: list = reading(list_of(integer, REQUEST_SIZES))
    write_sizes: list = reading(list_of(integer, REQUEST_SIZES))
    bytes_resent: int
    bytes_messages: int
    bytes_announced: int
    windows: int
    windows_listed: int
    rewrites: int
    bytes_rewritten: int
    gaps: int
    bytes_gaps: int
    locks: int
    ns: dict = reading(nanoseconds)
    slowest_ns: int
    memory: int
    lists: int
    aggregators: int  # ranks that served windows


@dataclass(frozen=True)
class Access:
    """One kind of access, with what the library said of its decision."""

    direction: str = reading(DIRECTION)
    collective: bool
    calls: int
    bytes: int
    pieces: int
    span: int
    text: str


@dataclass(frozen=True)
class Pattern:
    """Bytes wanted per group of ranks and stretch of the file."""

    rows: int = reading(positive)
    columns: int = reading(positive)
    column_bytes: int = reading(positive)
    read: list = reading(list_of(list_of(integer)))
    written: list = reading(list_of(list_of(integer)))


@dataclass(frozen=True)
class Timeline:
    """Bytes moved per stretch of time since the file was opened."""

    columns: int = reading(positive)
    column_ns: int = reading(positive)
    read: list = reading(list_of(integer))
    written: list = reading(list_of(integer))


@dataclass(frozen=True)
class Costs:
    """What the library takes the storage to cost."""

    read_ns: float
    write_ns: float
    byte_ns: float
    lock_ns: float
    source: str

    @property
    def measured(self):
        return self.source != "built-in"


@dataclass(frozen=True)
class File:
    name: str
    path: str
    driver: str
    ranks: int = reading(positive)
    opens: int
    began: float = reading(any_number)  # since the job did
    seconds: float
    amode: str
    hints: dict = reading(texts)
    aggregators: list = reading(list_of(integer))
    window_bytes: int
    costs: Costs = reading(read_as(Costs))
    ways: list = reading(list_of(read_as(Way)))
    accesses: list = reading(list_of(read_as(Access)))
    pattern: Pattern = reading(read_as(Pattern))
    timeline: Timeline = reading(read_as(Timeline))
    accesses_left_out: int  # calls of kinds beyond those that are kept
    hint_sources: dict = reading(texts, default_factory=dict)  # of those whose source is known
    filesystem: str = ""
    incomplete: bool = False


@dataclass(frozen=True)
class Job:
    """One run of a program."""

    tamis: str
    mpi: str
    program: str
    ranks: int = reading(positive)
    nodes: int
    cores: int
    host: str
    began: float
    seconds: float
    incomplete: bool
    files: list = reading(list_of(read_as(File)))
    files_left_out: int  # opens beyond those that are kept
    rank: int = 0  # of the process that wrote it
    source: str = ""  # the document's own name


def check_shapes(job):
    """What a field alone cannot tell: tables have the sizes they claim."""
    for index, file in enumerate(job.files):
        for name in ("read", "written"):
            where, table = f"files[{index}].pattern.{name}", getattr(file.pattern, name)
            if len(table) != file.pattern.rows:
                raise Defect(f"{where} has {len(table)} rows, not {file.pattern.rows}")
            if any(len(row) != file.pattern.columns for row in table):
                raise Defect(f"{where} has a row that is not of {file.pattern.columns} columns")
            if len(getattr(file.timeline, name)) != file.timeline.columns:
                raise Defect(f"files[{index}].timeline.{name} is not of {file.timeline.columns} columns")


def parsed(raw):
    try:
        return json.loads(raw)
    except json.JSONDecodeError as error:
        cut = raw[error.pos :].strip() == "" or error.msg.startswith("Unterminated string")
        if raw.strip() and cut:
            raise Defect("ends in the middle: the document is truncated") from error
        raise Defect(f"is no JSON document: {error.msg} in line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise Defect("is no job document: nested too deeply") from error


def as_job(tree, source):
    """The document as values. Throws Defect."""
    if not isinstance(tree, dict) or "format" not in tree:
        raise Defect('is no job document: no "format" in it')
    if tree["format"] != FORMAT or isinstance(tree["format"], bool):
        raise Defect(f"has format {tree['format']!r:.40}; this tamis reads format {FORMAT}")
    job = read_as(Job)({**tree, "source": source}, "")
    check_shapes(job)
    return job


def load(path):
    """The job of one document on disk; UserError says in one line why there is none."""
    try:
        with open(path, encoding="utf-8") as stream:
            raw = stream.read()
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is no JSON document: not text") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        return as_job(parsed(raw), str(path))
    except Defect as defect:
        raise UserError(f"{path}: {defect}") from defect


def load_parts(path):
    """The document and those that other ranks of the same job wrote beside it, JOB.json.rank-N."""
    path = Path(path)
    pieces = sorted(path.parent.glob(f"{glob.escape(path.name)}.rank-*"))
    return [load(piece) for piece in ([path] if path.exists() or not pieces else []) + pieces]
