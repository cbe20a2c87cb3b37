"""One job from what its processes wrote, and one file from its opens.

A library that was rank 0 of a file writes it into its own document: rank 0 of the job into JOB.json, others
into JOB.json.rank-N beside it. Each open of a file has an entry of its own.
"""

from dataclasses import replace

from ..errors import UserError
from .document import COUNTERS, SIZES, Pattern, Timeline, load_parts

MOST_ROWS = 64
MOST_ACCESSES = 32
CLOCKS_APART_S = 60  # documents of one job begin no further apart, beyond what the job lasted


def same_job(one, other):
    """Whether a document beside another is of the same run, not left over from an earlier one."""
    apart = abs(one.began - other.began)
    facts = (one.program, one.ranks, one.mpi) == (other.program, other.ranks, other.mpi)
    return facts and apart <= max(one.seconds, other.seconds) + CLOCKS_APART_S


def whole_job(jobs):
    """The job of all documents. REQUIRES: at least one, each same_job() with the first."""
    began = min(job.began for job in jobs)
    entries = [
        (job.rank, replace(file, began=file.began + job.began - began)) for job in jobs for file in job.files
    ]
    by_file = {}
    for writer, file in entries:
        by_file.setdefault((file.path, file.name), []).append((writer, file))
    ranks = jobs[0].ranks
    return replace(
        jobs[0],
        began=began,
        seconds=max(job.began + job.seconds for job in jobs) - began,
        nodes=max(job.nodes for job in jobs),
        cores=max(job.cores for job in jobs),
        incomplete=any(job.incomplete for job in jobs),
        files_left_out=sum(job.files_left_out for job in jobs),
        files=[whole_file(opens, ranks) for opens in by_file.values()],
    )


def ranks_of(opens, most):
    """How many ranks opened a file: those of the communicators together, as far as they can differ."""
    of_writers = {}
    for writer, file in opens:
        of_writers[writer] = max(file.ranks, of_writers.get(writer, 0))
    return max(*of_writers.values(), min(most, sum(of_writers.values())), 1)


def whole_file(opens, most_ranks):
    """One file from its opens, given as (rank of the writer, file), by at most so many ranks."""
    if len(opens) == 1:
        return opens[0][1]
    files = [file for _, file in sorted(opens, key=lambda entry: entry[1].began)]
    began = files[0].began
    ranks = ranks_of(opens, most_ranks)
    return replace(
        files[-1],  # its hints are the last ones
        ranks=ranks,
        opens=sum(file.opens for file in files),
        began=began,
        seconds=max(file.began + file.seconds for file in files) - began,
        incomplete=any(file.incomplete for file in files),
        amode=" / ".join(dict.fromkeys(file.amode for file in files)),
        ways=whole_ways(opens),
        accesses=whole_accesses(files),
        accesses_left_out=sum(file.accesses_left_out for file in files),
        pattern=whole_pattern(opens, ranks),
        timeline=whole_timeline(files, began),
    )


def kind_of(way):
    return way.direction, way.collective, way.route, way.method


def added(one, other):
    """Two ways of the same kind, one after the other."""
    return replace(
        one,
        **{name: getattr(one, name) + getattr(other, name) for name in (*COUNTERS, "slowest_ns")},
        **{name: [a + b for a, b in zip(getattr(one, name), getattr(other, name))] for name in SIZES},
        ns={phase: one.ns[phase] + other.ns[phase] for phase in one.ns},
        memory=max(one.memory, other.memory),
        aggregators=max(one.aggregators, other.aggregators),
    )


def slowest_of(shares):
    """The most that a rank can have spent, of (rank of the writer, ranks, slowest_ns) of each open."""
    firsts = {writer for writer, _, _ in shares}
    return max(sum(ns for writer, ranks, ns in shares if writer <= rank < writer + ranks) for rank in firsts)


def whole_ways(opens):
    """What one rank took part in came one after the other; other ranks' opens may have gone on at once."""
    ways, shares = {}, {}
    for writer, file in opens:
        for way in file.ways:
            kind = kind_of(way)
            ways[kind] = added(ways[kind], way) if kind in ways else way
            shares.setdefault(kind, []).append((writer, file.ranks, way.slowest_ns))
    return [replace(way, slowest_ns=slowest_of(shares[kind])) for kind, way in ways.items()]


def whole_accesses(files):
    found = {}
    for access in (access for file in files for access in file.accesses):
        key = replace(access, calls=0)
        found[key] = found.get(key, 0) + access.calls
    merged = [replace(access, calls=calls) for access, calls in found.items()]
    return sorted(merged, key=lambda access: -access.calls * access.bytes)[:MOST_ACCESSES]


def rebinned(cells, width, columns, target, shift=0):
    """The cells of `width` each, the first at `shift`, as `columns` cells of `target` each."""
    sums = [0] * columns
    for index, cell in enumerate(cells):
        sums[min(columns - 1, (shift + index * width) // target)] += cell
    return sums


def whole_pattern(opens, ranks):
    """All opens on top of each other. A communicator's ranks are taken for neighbours from its rank 0 on."""
    width = max(file.pattern.column_bytes for _, file in opens)
    columns = max(file.pattern.columns for _, file in opens)
    first, rows = min(writer for writer, _ in opens), min(MOST_ROWS, ranks)
    tables = {name: [[0] * columns for _ in range(rows)] for name in ("read", "written")}
    for writer, file in opens:
        for name, table in tables.items():
            for index, cells in enumerate(getattr(file.pattern, name)):
                rank = writer - first + index * file.ranks // file.pattern.rows
                row = min(rows - 1, rank * rows // ranks)
                added = rebinned(cells, file.pattern.column_bytes, columns, width)
                table[row] = [one + other for one, other in zip(table[row], added)]
    return Pattern(rows, columns, width, **tables)


def whole_timeline(files, began):
    columns = max(file.timeline.columns for file in files)
    shifts = [round((file.began - began) * 1e9) for file in files]
    ends = [shift + file.timeline.columns * file.timeline.column_ns for shift, file in zip(shifts, files)]
    width = -(-max(ends) // columns)
    tables = []
    for name in ("read", "written"):
        sums = [0] * columns
        for shift, file in zip(shifts, files):
            line = file.timeline
            cells = rebinned(getattr(line, name), line.column_ns, columns, width, shift)
            sums = [a + b for a, b in zip(sums, cells)]
        tables.append(sums)
    return Timeline(columns, width, *tables)


def load_job(path):
    """The job that a document tells of. UserError where it cannot be had, or has nothing to tell."""
    parts = load_parts(path)
    job = whole_job([part for part in parts if same_job(parts[0], part)])
    if not job.files:
        raise UserError(f"{path}: no files: the job opened none through Tamis")
    return replace(job, source=str(path))
