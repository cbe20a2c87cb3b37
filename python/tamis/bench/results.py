"""From records to figures: medians and spread, ratios to the peers and to the POSIX limit. Pure."""

import statistics

from . import aims, jobs
from .cases import GAUGES
from .implementations import TAMIS, VARIANT, is_ours
from .means import geometric_mean, median_ratio

FORMAT = 3
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


def medians(by_round):
    return {number: statistics.median(values) for number, values in by_round.items()}


def flat(by_round):
    return [value for values in by_round.values() for value in values]


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
        self.name, self.level = name, level
        found = rates(records, level, op)
        self.by_round = medians(found)
        self.figure = spread(flat(found), any(told(records, level, op, "partial")), fault_at(records, level, op))

    @property
    def speed(self):
        """None where nothing was measured, or where what was measured moved wrong bytes."""
        return None if self.figure["fault"] == jobs.WRONG else self.figure.get("mib_per_s")


def ratios(tamis, by_round):
    """Of Tamis to what was measured in the same round, one for each round that has both."""
    if not tamis or not tamis.speed:
        return []
    return [own / by_round[number] for number, own in tamis.by_round.items() if by_round.get(number)]


def hardest(tamis, sides):
    """Of those that did it right the one to which Tamis has the least ratio, or the fastest where there is none."""
    right = [side for side in sides if side.speed]
    paired = [side for side in right if ratios(tamis, side.by_round)]
    if paired:
        return min(paired, key=lambda side: median_ratio(ratios(tamis, side.by_round)))
    return max(right, key=lambda side: side.speed, default=None)


def compare(tamis, peers, all_levels, posix):
    """Tamis beside the better peer at the level, the peers' best level, and the POSIX limit. A ratio is the median
    over the rounds of those within a round: what differs from round to round is the machine."""
    better, best = hardest(tamis, peers), hardest(tamis, all_levels)
    found = ratios(tamis, better.by_round) if better else []
    ratio, fails = median_ratio(found), bool(tamis and not tamis.speed)
    return {
        "better_peer": better.name if better else None, "ratio": ratio, "rounds": len(found),
        "ratio_least": round(min(found), 4) if found else None,
        "ratio_most": round(max(found), 4) if found else None,
        "best_level": f"{best.name} level {best.level}" if best else None,
        "ratio_best_level": median_ratio(ratios(tamis, best.by_round)) if best else None,
        "ratio_posix": median_ratio(ratios(tamis, medians(posix))),
        "peer_ahead": bool(better and (fails or (ratio is not None and ratio < 1))),
        "partial": bool(found and (tamis.figure["partial"] or better.figure["partial"])),
    }


def variants_of(tamis, sides):
    """Figures of Tamis with hints, and what they make of the speed in the same round."""
    return {side.name[len(VARIANT):]: {**side.figure, "ratio": median_ratio(ratios(side, tamis.by_round))}
            for side in sides if side.name.startswith(VARIANT) and (side.by_round or side.figure["fault"])
            } if tamis else {}


def piece_bytes(records, level, op):
    """On average over the ranks' pieces; None where nobody told."""
    return next(iter(told(records, level, op, "piece_bytes")), None)


def rows_of_group(head, records, ops):
    """All levels and directions of one workload, number of ranks, directory and MPI."""
    of = {}
    for record in records:
        of.setdefault(record["implementation"], []).append(record)
    rows = []
    for op in ops:
        posix = rates(records, "posix", op)
        sides = {level: {name: Side(name, own, level, op) for name, own in of.items()} for level in LEVELS}
        peers = {level: [side for name, side in sides[level].items() if not is_ours(name)] for level in LEVELS}
        all_levels = [side for level in LEVELS for side in peers[level]]
        for level in LEVELS:
            if not any(side.figure["samples"] or side.figure["fault"] for side in sides[level].values()):
                continue
            tamis = sides[level].get(TAMIS)
            rows.append({**head, "op": op, "level": level, "posix": spread(flat(posix)),
                         "piece_bytes": piece_bytes(records, level, op),
                         "variants": variants_of(tamis, sides[level].values()),
                         "tamis": tamis.figure if tamis else None,
                         "peers": {side.name: side.figure for side in peers[level]},
                         **compare(tamis, peers[level], all_levels, posix)})
    return rows


MEANS_OF = ("mpi", "ranks", "level")
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
    return record["workload"] in GAUGES


def gauges_of(records):
    """What the gauges printed, each line with where it was printed."""
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


def means_of(rows):
    """For each MPI, number of ranks and level, over workloads, directories and directions."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in MEANS_OF), []).append(row["ratio"])
    return [{**dict(zip(MEANS_OF, key)), "rows": len(found), "geometric_mean_ratio": geometric_mean(found)}
            for key, found in sorted(groups.items())]


def summary_of(rows):
    """Calls left out make a ratio of two extrapolations: such rows are in no mean."""
    compared = [row for row in rows if row["ratio"]]
    whole = [row for row in compared if not row["partial"]]
    return {"rows": len(rows), "compared": len(compared), "partial": len(compared) - len(whole),
            "peer_ahead": sum(row["peer_ahead"] for row in rows), "means": means_of(whole)}


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
    gauges = gauges_of(records)
    return {
        "format": FORMAT,
        "machine": machine_of(sessions),
        "commands": [session["command"] for session in sessions],
        "loads": [[session["load"], end] for session, end in zip(sessions, loads_after(records))],
        "aims": aims.aims_of(rows, gauges),
        "summary": summary_of(rows),
        "rows": rows,
        "gauges": gauges,
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
