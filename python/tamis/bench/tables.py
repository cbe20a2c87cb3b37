"""tamis bench --tables: the tables of paper 004: printed there, by formula, and as the library counts."""

import json
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from ..errors import UserError
from ..terminal import progress
from . import counted, differences, implementations, machine, methods, show
from .implementations import TAMIS
from .paper004 import METHODS, QUANTITIES, TABLES
from .records import Records

FORMAT = 1
RECORDS, RESULTS = "tables.jsonl", "tables.json"
MIB = 2**20
TIMEOUT_S = 300
DATATYPE = ("datatype I/O: no file system under the library takes a datatype with a request, so there is nothing to "
            "count; the library hands descriptions of views to its aggregators in the same form.")
HEADINGS = ("per client", "", "desired MB", "accessed MB", "operations", "resent MB")


def description_of(program, table, scale):
    command = [str(program), "--describe", "--workload", table.workload, "--ranks", str(table.clients),
               *counted.sizes_of(table, scale)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if answer.returncode != 0:
        raise UserError(f"{' '.join(command)}: {answer.stderr.strip()}")
    return json.loads(answer.stdout)


def as_printed(quantity, value, example=None):
    """With as many digits as the paper has there."""
    if value is None:
        return None
    if quantity == "operations":
        return differences.whole(round(value, 1))
    decimals = len(example.partition(".")[2]) if example else 2
    return f"{value / MIB:.{decimals}f}"


def dash_if_none(quantity, value):
    """Nothing is resent where no client moves another's bytes."""
    return None if quantity == "resent" and not value else value


class Row:
    """One method: three figures for each quantity."""

    def __init__(self, table, method, formula, found, with_paper):
        self.method, self.formula, self.found = method, formula, found
        self.fault = (found or {}).get("fault", "")
        printed = {quantity: table.printed_at(method, quantity) if with_paper else None for quantity in QUANTITIES}
        self.printed = printed
        self.by_formula = {quantity: as_printed(quantity, formula[quantity], printed[quantity])
                           for quantity in QUANTITIES}
        self.by_library = {quantity: None for quantity in QUANTITIES}
        if found and not self.fault:
            self.by_library = {quantity: as_printed(quantity, dash_if_none(quantity, found[quantity]),
                                                    printed[quantity]) for quantity in QUANTITIES}

    def paired(self, left, right):
        return {quantity: (left[quantity], right[quantity]) for quantity in QUANTITIES}

    def notes(self, table, with_paper):
        if with_paper:
            yield from differences.of_paper(table, self.method, self.paired(self.printed, self.by_formula))
        if self.fault:
            yield f"{self.method}: the library's run: {self.fault} {self.found['detail']}".rstrip()
        elif self.found:
            yield from differences.of_lists(self.found)
            yield from differences.of_library(self.method, self.formula, self.found,
                                              self.paired(self.by_formula, self.by_library))

    def document(self):
        return {"method": self.method, "paper": self.printed, "formula": self.formula, "tamis": self.found,
                "printed": {"formula": self.by_formula, "tamis": self.by_library}}


def document_of(table, description, found, scale, is_real):
    """One table: its rows, and a sentence for every difference."""
    with_paper = scale == 1
    by_formula = methods.formulas(description, table.direction)
    rows = [Row(table, method, by_formula[method], found.get(method), with_paper) for method in METHODS]
    notes = [note for row in rows for note in row.notes(table, with_paper)]
    notes.append(DATATYPE if is_real else f"{table.clients} clients: formulas alone, from the same description of the "
                                          "access that real ranks have.")
    return {"table": table.number, "workload": table.workload, "clients": table.clients,
            "direction": table.direction, "parameters": description["parameters"], "scale": scale,
            "rows": [row.document() for row in rows], "notes": notes}


def cells_of(document):
    """Three lines for each method; what is not there at all is left out."""
    for row in document["rows"]:
        first = row["method"]
        for label, figures in (("paper", row["paper"]), ("formula", row["printed"]["formula"]),
                               ("Tamis", row["printed"]["tamis"])):
            if any(figures.values()):
                yield [first, label, *(figures[quantity] or "-" for quantity in QUANTITIES)]
                first = ""


def title_of(document):
    size = "" if document["scale"] == 1 else f", {document['scale']:g} of the paper's size"
    return (f"Table {document['table']} of 004: {document['workload']}, {document['clients']} clients, "
            f"{document['direction']}{size}")


def written(documents, heading, form, bullet, gap):
    """All tables, each with its title before it and its notes behind it."""
    parts = []
    for document in documents["tables"]:
        notes = "\n".join(f"{bullet}{note}" for note in document["notes"])
        parts.append(gap.join((f"{heading} {title_of(document)}", form(HEADINGS, list(cells_of(document))), notes)))
    return "\n\n".join(parts)


def text_of(documents):
    return written(documents, "==", show.aligned, "  ", "\n")


def markdown_of(documents):
    return written(documents, "###", show.markdown, "- ", "\n\n")


def mpi_with_tamis(library, options):
    programs = options.programs or implementations.default_programs(library)
    for mpi in implementations.find_mpis(library, programs, options.mpi, False):
        if any(one.name == TAMIS for one in mpi.implementations):
            return mpi
    raise UserError("--tables counts in the library, which is not built: `make build`")


class Counting:
    """Runs what is not in the log yet."""

    def __init__(self, library, options, log):
        self.options, self.log = options, log
        self.mpi = mpi_with_tamis(library, options)
        self.scale = options.scale or 1
        self.version = f"{machine.tamis_version(library)} {machine.commit()}"

    def methods_for(self, table):
        if table.clients > self.options.most_ranks:
            return []
        return counted.methods_counted(table.direction, table.clients)

    def count(self, table, method):
        key = f"{table.workload} | {table.clients} | {method} | {self.scale:g} | {self.mpi.name} | {self.version}"
        if key in self.log.by_key:
            return self.log.by_key[key]["counted"]
        found = counted.count(self.mpi, table, method, self.scale, self.options.dirs[0],
                              self.options.timeout or TIMEOUT_S)
        if "fault" not in found:  # another try may go better
            self.log.add({"kind": "count", "key": key, "counted": found})
        return found

    def table(self, table, show_progress):
        description = description_of(self.mpi.program("workloads"), table, self.scale)
        methods.check_runs(description)
        found = {}
        for method in self.methods_for(table):
            show_progress(f"table {table.number}, {table.workload}, {table.clients} clients: {method}")
            found[method] = self.count(table, method)
        return document_of(table, description, found, self.scale, bool(found))


@contextmanager
def directory_for(options):
    """--out, which keeps what was counted; else a passing one."""
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        yield options.out
        return
    with tempfile.TemporaryDirectory(prefix="tamis-tables-") as passing:
        yield Path(passing)


def identity(document):
    return document["workload"], document["clients"], document["scale"]


def write(path, counting, documents):
    """Tables that were made before, and not now, stay; all in the paper's order."""
    before = json.loads(path.read_text())["tables"] if path.is_file() else []
    made = {identity(document): document for document in [*before, *documents]}
    kept = sorted(made.values(), key=lambda document: (document["table"], document["clients"], document["scale"]))
    found = {"format": FORMAT, "mpi": counting.mpi.name, "tamis": counting.version, "tables": kept}
    path.write_text(json.dumps(found, indent=1) + "\n")


def run(library, options):
    chosen = [table for table in TABLES if not options.workloads or table.workload in options.workloads]
    if not chosen:
        raise UserError(f"--tables has {', '.join(dict.fromkeys(table.workload for table in TABLES))}")
    if options.ranks:
        chosen = [table for table in chosen if table.clients in options.ranks]
    with directory_for(options) as directory:
        counting = Counting(library, options, Records(directory / RECORDS))
        documents = []
        with progress() as bar:
            for index, table in enumerate(chosen):
                documents.append(counting.table(table, lambda what, share=index / len(chosen): bar(share, what)))
        write(directory / RESULTS, counting, documents)
    print(text_of({"tables": documents}))
    faults = [note for document in documents for note in document["notes"] if "the library's run:" in note]
    for fault in faults:
        print(f"tamis: {fault}", file=sys.stderr)
    return 1 if faults else 0
