"""A cell: one job of one implementation. Cells come in strict alternation, and each is measured to its end."""

import time
from dataclasses import dataclass
from pathlib import Path

from . import jobs
from .cases import Case
from .implementations import Implementation, Mpi

POSIX = "p"
FILE_NAME = "tamis-bench.dat"


@dataclass(frozen=True)
class Group:
    """What is compared with each other: everything equal but the implementation."""

    case: Case
    ranks: int
    directory: str  # as the user named it


@dataclass(frozen=True)
class Cell:
    group: Group
    mpi: Mpi
    implementation: Implementation
    round: int

    @property
    def ops(self):
        variant = self.implementation.variant
        return tuple(op for op in self.group.case.ops if variant is None or op in variant.ops)

    def levels(self, asked):
        """Of those asked for; the POSIX limit before them, but for variants, whose Tamis has it."""
        of_case = [level for level in asked if level in self.group.case.levels]
        variant = self.implementation.variant
        return [POSIX, *of_case] if variant is None else [level for level in of_case if level in variant.levels]


def groups_of(cases, ranks_of, directories):
    """`ranks_of`: the numbers of ranks for a case."""
    return [Group(case, number, place) for case in cases
            for place in (directories[:1] if case.once else directories) for number in ranks_of(case)]


def entrants_of(case, mpis):
    """Who takes turns; variants of the case right behind the implementations they vary."""
    return [(mpi, entrant) for mpi in mpis for implementation in mpi.implementations
            for entrant in (implementation, *implementation.variants(case))]


def turns_of(groups, mpis, rounds):
    """Round by round, group by group, all implementations one after the other; who is first changes from
    group to group and from round to round. One list of cells for each group and round."""
    for number in range(rounds):
        for index, group in enumerate(groups):
            if group.case.once and number > 0:
                continue
            entrants = entrants_of(group.case, mpis)
            first = (number + index) % len(entrants)
            yield [Cell(group, mpi, implementation, number)
                   for mpi, implementation in entrants[first:] + entrants[:first]]


@dataclass(frozen=True)
class Size:
    """What all cells of a run share; part of their keys."""

    reps: int
    budget: float
    timeout: float
    scale: float
    paper: bool
    levels: str

    def arguments(self, case):
        words = [] if case.is_gauge else ["--workload", case.workload, "--reps", self.reps,
                                          "--budget", f"{self.budget:g}", "--scale", f"{self.scale:g}",
                                          *(["--paper"] if self.paper else [])]
        for name, value in case.parameters:
            words += [f"--{name}", value] if value != "" else [f"--{name}"]
        return list(map(str, words))


def key_of(cell, size):
    """Equal for equal measurements, also of another session."""
    group = cell.group
    return " | ".join([*size.arguments(group.case), group.case.workload, f"{group.ranks} ranks", group.directory,
                       f"levels {size.levels}", cell.mpi.name, cell.implementation.name, f"round {cell.round}"])


def level_name(level):
    return "posix" if level == POSIX else level


def culprit(samples, levels, ops, budget):
    """The level and direction a job was at when it ended: the one after its last sample in the program's
    order, which leaves out levels that have had their time. None: all was done."""
    seen = {(sample["level"], sample["op"], sample["rep"]) for sample in samples}
    spent = {level: 0.0 for level in levels}
    for rep in range(1 + max((sample["rep"] for sample in samples), default=-1) + 1):
        for level in levels:
            if spent[level] > budget:
                continue
            for op in ops:
                if (level_name(level), op, rep) not in seen:
                    return level, op
            spent[level] += sum(sample["seconds"] for sample in samples
                                if sample["level"] == level_name(level) and sample["rep"] == rep)
    return None


def blamed(outcome, levels, ops, budget):
    wrong = next((line for line in outcome.lines if line.get("verified") is False), None)
    if wrong is not None:
        return (POSIX if wrong["level"] == "posix" else wrong["level"]), wrong["op"]
    return culprit(outcome.samples, levels, ops, budget)


class Measurement:
    """One cell. A fault costs its level and direction, never the others': they go on in a job of their own."""

    def __init__(self, cell, size, path):
        self.cell, self.size, self.path = cell, size, path
        self.lines, self.faults = [], []

    def job(self, arguments):
        cell = self.cell
        program = cell.mpi.program(cell.group.case.workload if cell.group.case.is_gauge else "workloads")
        command = jobs.command_of(cell.mpi, cell.implementation, cell.group.ranks, program,
                                  ["--path", self.path, *self.size.arguments(cell.group.case), *arguments])
        return jobs.run(command, dict(cell.implementation.environment), self.size.timeout)

    def fault(self, level, op, outcome):
        self.faults.append({"level": level_name(level), "op": op, "word": outcome.word, "detail": outcome.detail})

    def gauge(self):
        outcome = self.job([])
        self.lines = outcome.lines
        if outcome.word != jobs.OK:
            self.fault("", "", outcome)

    def workload(self, hanging):
        """`hanging`: (level, op) known to do so; nobody waits for them again."""
        levels = self.cell.levels(self.size.levels)
        units = self.units({level: [op for op in self.cell.ops if (level, op) not in hanging] for level in levels})
        while units:
            levels, ops = units.pop(0)
            outcome = self.job(["--levels", ",".join(levels), "--ops", ",".join(ops)])
            self.lines += outcome.lines
            if outcome.word == jobs.OK:
                continue
            at = blamed(outcome, levels, ops, self.size.budget)
            self.fault(*(at or ("", "")), outcome)
            if at is None or outcome.word == jobs.UNFIT:
                break
            units += self.left_over(levels, ops, at)

    def left_over(self, levels, ops, at):
        done = {(line["level"], line["op"]) for line in self.lines if "rep" in line}
        wanted = {level: [op for op in ops if (level, op) != at and (level_name(level), op) not in done]
                  for level in levels}
        return self.units(wanted)

    @staticmethod
    def units(wanted):
        """Levels that want the same directions share a job."""
        found = {}
        for level, ops in wanted.items():
            if ops:
                found.setdefault(tuple(ops), []).append(level)
        return [(levels, list(ops)) for ops, levels in found.items()]


def measure(cell, size, directory, file_system, hanging):
    """A record of the cell, whatever came of it."""
    group = cell.group
    path = Path(directory) / FILE_NAME
    measurement = Measurement(cell, size, path)
    began = time.time()
    if group.case.is_gauge:
        measurement.gauge()
    else:
        measurement.workload(hanging)
    path.unlink(missing_ok=True)
    return {"kind": "cell", "key": key_of(cell, size), "case": group.case.name, "workload": group.case.workload,
            "parameters": dict(group.case.parameters), "curve": group.case.curve, "ranks": group.ranks,
            "directory": group.directory, "file_system": file_system, "mpi": cell.mpi.name,
            "implementation": cell.implementation.name, "round": cell.round, "began": round(began, 3),
            "seconds": round(time.time() - began, 3), "lines": measurement.lines, "faults": measurement.faults}


def hanging_before(records, cell, size):
    """(level, op) at which this implementation hung in an earlier round."""
    found = set()
    for number in range(cell.round):
        record = records.by_key.get(key_of(Cell(cell.group, cell.mpi, cell.implementation, number), size), {})
        for fault in record.get("faults", ()):
            if fault["word"] == jobs.HANGS:
                found.add((POSIX if fault["level"] == "posix" else fault["level"], fault["op"]))
    return found
