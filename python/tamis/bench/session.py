"""A run of the benchmarks: cell by cell onto disk, then results, table and plots."""

import json
import os
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..errors import UserError
from ..terminal import progress
from . import cases, cells, implementations, jobs, machine, plots, records, results, show
from .implementations import TAMIS, is_ours

RECORDS, RESULTS, TABLE = "records.jsonl", "results.json", "table.txt"


@contextmanager
def scratch_in(directories):
    """A place of our own in each directory, gone afterwards."""
    with ExitStack() as stack:
        places = {}
        for name in directories:
            if not os.path.isdir(name) or not os.access(name, os.W_OK):
                raise UserError(f"--dirs: {name} is no directory that can be written to")
            places[name] = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tamis-bench-", dir=name)))
        yield places


def remaining(clock, done, total):
    """What is to be expected of the time; nothing before anything is done."""
    if done == 0:
        return ""
    left = clock.spent / done * (total - done)
    if clock.seconds is not None:
        left = min(left, clock.seconds - clock.spent)
    return f", about {max(1, round(left / 60))} min left"


def words_for(cell, rounds, places):
    group = cell.group
    return (f"{group.case.name}, {group.ranks} ranks, {places[group.directory]}, round {cell.round + 1} of {rounds}: "
            f"{cell.mpi.name} {cell.implementation.name}")


class Run:
    """Everything a run is told, understood."""

    def __init__(self, library, options):
        chosen = cases.SETS[options.set]
        self.options = options
        self.programs = options.programs or implementations.default_programs(library)
        self.mpis = implementations.find_mpis(library, self.programs, options.mpi, options.pypi)
        known = cases.catalogue(self.mpis[0].program("workloads"))
        kinds = cases.KINDS if options.curves == "yes" else ("rows",) if options.curves == "no" else ("curves",)
        self.cases = cases.cases_of(options.workloads, options.set, known, kinds)
        self.rounds = options.rounds or chosen.rounds
        self.seconds = options.seconds or chosen.seconds
        self.size = cells.Size(reps=options.reps or chosen.reps, budget=options.budget or chosen.budget,
                               timeout=options.timeout or chosen.timeout, scale=options.scale or chosen.scale,
                               paper=chosen.paper, levels=options.levels)
        self.machine = machine.describe(library, self.mpis, {name: name for name in options.dirs})

    @property
    def amounts(self):
        """What must not differ between figures that stand in one row."""
        return {name: getattr(self.size, name) for name in ("scale", "paper", "reps", "budget")}

    def begin(self, log):
        for before in (record["amounts"] for record in log.all if record["kind"] == "session"):
            for name, value in self.amounts.items():
                if before[name] != value:
                    raise UserError(f"--resume: {name} {before[name]} there, {value} here: begin anew in another --out")
        log.add({"kind": "session", "format": records.FORMAT, "machine": self.machine, "load": machine.load(),
                 "command": self.options.command_line, "amounts": self.amounts})

    def warn(self):
        for mpi in self.mpis:
            if all(one.name != TAMIS for one in mpi.implementations):
                print(f"tamis: the library for {mpi.name} is not built: its own MPI-IO alone is measured",
                      file=sys.stderr)

    def turns_left(self, log):
        """Turns with the cells that are not in the log."""
        groups = cells.groups_of(self.cases, lambda case: cases.ranks_of(case, self.options.set, self.options.ranks),
                                 self.options.dirs)
        for turn in cells.turns_of(groups, self.mpis, self.rounds):
            left = [cell for cell in turn if cells.key_of(cell, self.size) not in log.by_key]
            if left:
                yield left

    def measure(self, log):
        """Ends early, after a whole turn, where the time is over; returns the number of cells left."""
        clock = jobs.Clock(self.seconds)
        systems = self.machine["file_systems"]
        turns = list(self.turns_left(log))
        total, done = sum(map(len, turns)), 0
        with scratch_in(self.options.dirs) as places, progress() as bar:
            for turn in turns:
                if clock.is_over:
                    break
                for cell in turn:
                    bar(done / total, words_for(cell, self.rounds, systems) + remaining(clock, done, total))
                    directory = cell.group.directory
                    log.add(cells.measure(cell, self.size, places[directory], systems[directory],
                                          cells.hanging_before(log, cell, self.size)))
                    done += 1
        return total - done


def write_results(log, directory):
    found = results.results_of(log.all)
    (directory / RESULTS).write_text(json.dumps(found, indent=1) + "\n")
    text = show.text_of(found)
    (directory / TABLE).write_text(text + "\n")
    return found, text


def default_directory():
    return Path(f"tamis-bench-{time.strftime('%Y%m%d-%H%M%S')}")


def run(library, options):
    if options.resume and options.out is None:
        raise UserError("--resume wants --out DIR: which run is to go on?")
    directory = options.out or default_directory()
    chosen = Run(library, options)
    log = records.open_records(directory / RECORDS, options.resume)
    chosen.warn()
    chosen.begin(log)
    left = chosen.measure(log)
    log.add({"kind": "session_end", "load": machine.load()})
    found, text = write_results(log, directory)
    print(text)
    drawn = plots.draw_all(found, show.places_of(found), directory)
    if drawn is None:
        print(f"tamis: no plots: python3-matplotlib is not there for {sys.executable}", file=sys.stderr)
    if left:
        print(f"The time is over with {left} cells left: --resume --out {directory} goes on.")
    print(f"Figures, table and plots are in {directory}.")
    ours = [fault for fault in found["faults"] if is_ours(fault["implementation"]) and fault["word"] in jobs.FAULTS]
    return 1 if ours else 0


def known_workloads(library, options):
    """What --list prints: every workload, its sentence and parameters."""
    programs = options.programs or implementations.default_programs(library)
    mpi = implementations.find_mpis(library, programs, options.mpi, False)[0]
    width = shutil.get_terminal_size((100, 24)).columns
    for workload in cases.catalogue(mpi.program("workloads")).values():
        print(f"{workload['name']:<11}{workload['sentence']} ({workload['paper']})"[:width])
        for parameter in workload["parameters"]:
            print(f"  {parameter['name']}={parameter['default']}  {parameter['sentence']}"[:width])
    print(f"{', '.join(cases.GAUGES)}: programs with tables of their own")
    return 0
