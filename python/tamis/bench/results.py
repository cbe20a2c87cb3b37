"""From records to figures: medians and spread, ratios to the peers and to the POSIX limit. Pure."""

import math
import statistics

from . import jobs
from .implementations import TAMIS

FORMAT = 1
LEVELS = "0123"
MIB = 2**20


def spread(values, partial=False, fault=""):
    """REQUIRES: values, or a fault."""
    figure = {"samples": len(values), "partial": partial, "fault": fault}
    if values:
        quartiles = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
        figure.update(mib_per_s=statistics.median(values), least=min(values), q1=quartiles[0], q3=quartiles[2],
                      most=max(values))
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in figure.items()}


def rates(records, level, op):
    """MiB/s of each timed access, by round."""
    found = {}
    for record in records:
        for line in record["lines"]:
            if "rep" in line and line["level"] == level and line["op"] == op and line["seconds"] > 0:
                found.setdefault(record["round"], []).append(line["bytes"] / MIB / line["seconds"])
    return found


def told(records, level, op, what):
    """What the summaries of a level and direction say."""
    return [line[what] for record in records for line in record["lines"]
            if line.get("summary") and line["level"] == level and line["op"] == op and what in line]


def fault_at(records, level, op):
    """The worst that happened there in any round; "" where all went well."""
    words = {fault["word"] for record in records for fault in record["faults"]
             if (fault["level"], fault["op"]) == (level, op) or fault["level"] == ""}
    return next((word for word in jobs.FAULTS if word in words), "")


class Side:
    """One implementation at one level and direction."""

    def __init__(self, name, records, level, op):
        self.name = name
        self.by_round = {number: statistics.median(values)
                         for number, values in rates(records, level, op).items()}
        every = [value for values in rates(records, level, op).values() for value in values]
        self.figure = spread(every, any(told(records, level, op, "partial")), fault_at(records, level, op))

    @property
    def speed(self):
        """None where nothing was measured, or where what was measured moved wrong bytes."""
        return None if self.figure["fault"] == jobs.WRONG else self.figure.get("mib_per_s")


def quotient(part, whole):
    return round(part / whole, 4) if part and whole else None


def faster(sides):
    """The fastest of those that did it right; None where none did."""
    right = [side for side in sides if side.speed]
    return max(right, key=lambda side: side.speed) if right else None


def ratio_by_round(tamis, peer):
    both = [tamis.by_round[number] / peer.by_round[number] for number in tamis.by_round if number in peer.by_round]
    return (round(min(both), 4), round(max(both), 4)) if both else (None, None)


def compare(tamis, peers, best, posix):
    """Tamis beside the better peer at the level, the peers' best level, and the POSIX limit."""
    better = faster(peers)
    speed = tamis.speed if tamis else None
    ratio = quotient(speed, better.speed if better else None)
    least, most = ratio_by_round(tamis, better) if tamis and better else (None, None)
    return {
        "better_peer": better.name if better else None, "ratio": ratio, "ratio_least": least, "ratio_most": most,
        "best_level": best[0] if best else None, "ratio_best_level": quotient(speed, best[1].speed if best else None),
        "ratio_posix": quotient(speed, posix.get("mib_per_s")),
        "peer_ahead": bool(tamis and better and (speed is None or better.speed > speed)),
    }


def rows_of_group(head, records, ops):
    """All levels and directions of one workload, number of ranks, directory and MPI."""
    of = {}
    for record in records:
        of.setdefault(record["implementation"], []).append(record)
    rows = []
    for op in ops:
        posix = spread([value for values in rates(records, "posix", op).values() for value in values])
        sides = {level: {name: Side(name, own, level, op) for name, own in of.items()} for level in LEVELS}
        peers = {level: [side for name, side in sides[level].items() if name != TAMIS] for level in LEVELS}
        bests = [(f"{side.name} level {level}", side) for level in LEVELS for side in peers[level] if side.speed]
        best = max(bests, key=lambda pair: pair[1].speed) if bests else None
        for level in LEVELS:
            if not any(side.figure["samples"] or side.figure["fault"] for side in sides[level].values()):
                continue
            tamis = sides[level].get(TAMIS)
            rows.append({**head, "op": op, "level": level, "posix": posix,
                         "tamis": tamis.figure if tamis else None,
                         "peers": {side.name: side.figure for side in peers[level]},
                         **compare(tamis, peers[level], best, posix)})
    return rows


HEAD = ("case", "workload", "parameters", "curve", "ranks", "directory", "file_system", "mpi")


def rows_of(records):
    """In the order in which things were measured first."""
    groups = {}
    for record in records:
        if record["kind"] == "cell" and not is_gauge(record):
            key = (record["case"], record["ranks"], record["directory"], record["mpi"])
            groups.setdefault(key, []).append(record)
    rows = []
    for found in groups.values():
        measured = {line["op"] for record in found for line in record["lines"] if "op" in line}
        ops = [op for op in ("write", "read") if op in measured]
        rows += rows_of_group({name: found[0][name] for name in HEAD}, found, ops)
    return rows


def is_gauge(record):
    return record["workload"] in ("contig", "bigvector", "memory")


def gauges_of(records):
    """What contig, bigvector and memory printed, each line with where it was printed."""
    return [{"program": record["workload"], "mpi": record["mpi"], "implementation": record["implementation"],
             "directory": record["directory"], "file_system": record["file_system"], "round": record["round"],
             **line} for record in records if record["kind"] == "cell" and is_gauge(record)
            for line in record["lines"] if "program" in line]


def faults_of(records):
    """Each once, with the rounds it happened in."""
    found = {}
    for record in records:
        for fault in record.get("faults", ()):
            key = tuple(record[name] for name in ("case", "ranks", "directory", "mpi", "implementation")) + (
                fault["level"], fault["op"], fault["word"])
            found.setdefault(key, {"detail": fault["detail"], "rounds": []})["rounds"].append(record["round"])
    names = ("case", "ranks", "directory", "mpi", "implementation", "level", "op", "word")
    return [{**dict(zip(names, key)), **value} for key, value in found.items()]


def summary_of(rows):
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None
    return {"rows": len(rows), "compared": len(ratios), "peer_ahead": sum(row["peer_ahead"] for row in rows),
            "geometric_mean_ratio": round(mean, 4) if mean else None}


def machine_of(sessions):
    """The last session's, with the directories and MPIs of all of them."""
    found = dict(sessions[-1]["machine"]) if sessions else {}
    for name in ("file_systems", "mpis"):
        found[name] = {key: value for session in sessions for key, value in session["machine"][name].items()}
    return found


def results_of(records):
    """The document of a run."""
    sessions = [record for record in records if record["kind"] == "session"]
    rows = rows_of(records)
    return {
        "format": FORMAT,
        "machine": machine_of(sessions),
        "command": sessions[-1]["command"] if sessions else "",
        "loads": [[session["load"], end] for session, end in zip(sessions, loads_after(records))],
        "summary": summary_of(rows),
        "rows": rows,
        "gauges": gauges_of(records),
        "faults": faults_of(records),
    }


def loads_after(records):
    """Of each session; None for one that was killed."""
    loads = []
    for record in records:
        if record["kind"] == "session":
            loads.append(None)
        elif record["kind"] == "session_end" and loads:
            loads[-1] = record["load"]
    return loads
