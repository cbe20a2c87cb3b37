"""How far a run has come to what the library is to reach: a line for each aim, and the rows that fall short. Pure."""

from ..units import numbered, size
from .cases import LEVELS
from .implementations import TAMIS
from .means import geometric_mean, median_ratio

MIB = 2**20
LARGE_PIECE = 512
OF_POSIX = 0.8
CYCLIC_BYTES_PER_S = 500e6
LEAST_AT_LEVEL_3 = {2: 5, 4: 10, 8: 10, 16: 10}  # by ranks
NEAR = {9: 8}  # BTIO's squares
LEAST_AT_LEVEL_2, LEAST_AT_LEVEL_0 = 2, 0.95
WRITE_BEHIND, LEAST_WRITE_BEHIND = "write-behind", 5
MOST_BARRIERS = 2
MOST_HEAP = 2**20


def aim(what, wanted, reached, met, short=()):
    """`met`: None where nothing was measured. `short`: (row, ratio) of those that fall short."""
    ordered = sorted(short, key=lambda pair: pair[1])
    names = ("case", "ranks", "directory", "mpi", "op", "level")
    return {"what": what, "wanted": wanted, "reached": reached if met is not None else "not measured", "met": met,
            "short": [{**{name: row[name] for name in names}, "ratio": ratio} for row, ratio in ordered]}


def mean_text(ratios):
    return f"geometric mean {geometric_mean(ratios):.2f}x" if ratios else ""


def each_at_least(what, least, pairs, note=""):
    """`pairs`: (row, ratio). Every one of them."""
    ratios = [ratio for _, ratio in pairs]
    short = [(row, ratio) for row, ratio in pairs if ratio < least]
    reached = f"{len(pairs) - len(short)} of {numbered(len(pairs), 'row')}, {mean_text(ratios)}{note}"
    return aim(what, f"every row {least:g}x", reached, not short if pairs else None, short)


def at_level(rows, level, ratio="ratio"):
    """Rows of workloads, not of their curves, that have the ratio."""
    return [row for row in rows if row["level"] == level and not row["curve"] and row[ratio]]


def setting(row):
    return row["case"], row["ranks"], row["directory"], row["mpi"], row["op"]


def any_level(rows):
    """Level 3 beside the peers' best level, where they were measured at all of them."""
    levels = {}
    for row in rows:
        levels.setdefault(setting(row), set()).add(row["level"])
    found = [row for row in whole(at_level(rows, "3", "ratio_best_level")) if levels[setting(row)] >= set(LEVELS) - {"1"}]
    return each_at_least("level 3 to the peers' best level, whichever", 1,
                         [(row, row["ratio_best_level"]) for row in found])


def whole(rows):
    """Calls left out make a ratio of two extrapolations."""
    return [row for row in rows if not row["partial"]]


def mean_at_level_3(rows, ranks):
    own = [row for row in whole(at_level(rows, "3")) if NEAR.get(row["ranks"], row["ranks"]) == ranks]
    ratios = [row["ratio"] for row in own]
    by_mpi = {}
    for row in own:
        by_mpi.setdefault(row["mpi"], []).append(row["ratio"])
    parts = ", ".join(f"{mpi} {geometric_mean(found):.2f}x" for mpi, found in sorted(by_mpi.items()))
    least, mean = LEAST_AT_LEVEL_3[ranks], geometric_mean(ratios)
    return aim(f"level 3 to the better peer's level 3, {ranks} ranks", f"geometric mean {least}x",
               f"{mean_text(ratios)} of {numbered(len(ratios), 'row')} ({parts})", mean >= least if ratios else None)


def large_pieces(rows):
    found = [row for row in whole(at_level(rows, "3", "ratio_posix")) if (row["piece_bytes"] or 0) >= LARGE_PIECE]
    return each_at_least(f"level 3, pieces of {LARGE_PIECE} B and more, to the POSIX limit", OF_POSIX,
                         [(row, row["ratio_posix"]) for row in found])


def is_cyclic(row):
    """Eight bytes of each rank in turn, without gaps."""
    sizes = {"size": 8, "spacing": 0}
    return row["workload"] == "hpio" and all(row["parameters"].get(name) == value for name, value in sizes.items())


def cyclic_pieces(rows):
    found = [row for row in rows if is_cyclic(row) and row["level"] == "3" and row["ranks"] == 2
             and row["file_system"] == "tmpfs" and (row["tamis"] or {}).get("mib_per_s")]
    least = CYCLIC_BYTES_PER_S / MIB
    reached = ", ".join(f"{row['mpi']} {row['op']} {row['tamis']['mib_per_s']:,.0f}" for row in found)
    return aim("level 3, cyclic pieces of 8 bytes, 2 ranks, tmpfs, MiB/s", f"{least:.0f}", reached,
               all(row["tamis"]["mib_per_s"] >= least for row in found) if found else None)


def mean_at_level_2(rows):
    ratios = [row["ratio"] for row in whole(at_level(rows, "2"))]
    return aim("level 2 to the better peer's level 2", f"geometric mean {LEAST_AT_LEVEL_2}x",
               f"{mean_text(ratios)} of {numbered(len(ratios), 'row')}",
               geometric_mean(ratios) >= LEAST_AT_LEVEL_2 if ratios else None)


def level_0(rows):
    return each_at_least("level 0 to the better peer's level 0", LEAST_AT_LEVEL_0,
                         [(row, row["ratio"]) for row in whole(at_level(rows, "0"))])


def write_behind(rows):
    found = [(row, row["variants"][WRITE_BEHIND]["ratio"]) for row in rows
             if row["level"] == "3" and row["op"] == "write" and row["variants"].get(WRITE_BEHIND, {}).get("ratio")]
    return each_at_least("time steps with write-behind to those without", LEAST_WRITE_BEHIND, found)


def nothing_to_do(gauges):
    """By MPI and ranks the median over rounds and directions of what a call costs in barriers."""
    found = {}
    for line in gauges:
        if line["program"] == "nothing" and line["implementation"] == TAMIS:
            found.setdefault((line["mpi"], line["ranks"]), []).append(line["ratio"])
    medians = {key: median_ratio(ratios) for key, ratios in sorted(found.items())}
    by_mpi = {}
    for (mpi, ranks), ratio in medians.items():
        by_mpi.setdefault(mpi, []).append(f"{ratio:.2f} ({ranks})")
    reached = "; ".join(f"{mpi} {', '.join(texts)}" for mpi, texts in by_mpi.items())
    return aim("a collective call with nothing to do, in MPI_Barriers (ranks)", f"at most {MOST_BARRIERS}", reached,
               all(ratio <= MOST_BARRIERS for ratio in medians.values()) if medians else None)


def memory(gauges):
    own = [line for line in gauges if line["program"] == "memory" and line["implementation"] == TAMIS]
    worst = max((line["heap_peak"] for line in own), default=0)
    pieces = max((line.get("pieces", 0) for line in own), default=0)
    return aim("views and plans of a rank on one node", f"under {size(MOST_HEAP)}",
               f"{size(worst)} at most" + (f", up to {pieces:,} pieces" if pieces else ""),
               worst < MOST_HEAP if own else None)


def aims_of(rows, gauges):
    return [any_level(rows), *(mean_at_level_3(rows, ranks) for ranks in LEAST_AT_LEVEL_3), large_pieces(rows),
            cyclic_pieces(rows), mean_at_level_2(rows), level_0(rows), write_behind(rows), nothing_to_do(gauges),
            memory(gauges)]
