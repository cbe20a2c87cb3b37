"""The records as tables for people."""


def table(headings, rows):
    """Columns as wide as their widest cell; the first one left-aligned."""
    cells = [headings, *rows]
    widths = [max(len(str(row[i])) for row in cells) for i in range(len(headings))]
    lines = []
    for row in cells:
        first = str(row[0]).ljust(widths[0])
        lines.append("  ".join([first, *(str(c).rjust(w) for c, w in zip(row[1:], widths[1:]))]))
    lines.insert(1, "-" * len(lines[0]))
    return "\n".join(lines)


def pick(records, **wanted):
    return [r for r in records if all(r.get(key) == value for key, value in wanted.items())]


def best_peer(records, **wanted):
    """The fastest of the hosts' own MPI-IO, over what `wanted` leaves open."""
    peers = [r for r in pick(records, **wanted) if r["variant"] != "Tamis" and r["level"] != "posix"]
    return max((r["mib_per_s"] for r in peers), default=None)


def ratio(value, other):
    return f"{value / other:.2f}x" if value and other else "-"


def posix_limit(records, op):
    """Median over all jobs of the run, whatever MPI-IO they had: none takes part in it."""
    values = sorted(r["mib_per_s"] for r in pick(records, level="posix", op=op))
    return values[len(values) // 2] if values else None


def speed(records, title):
    """One file system and number of ranks."""
    done = [r for r in records if "mib_per_s" in r]
    columns = list(dict.fromkeys((r["mpi"], r["variant"]) for r in done))
    rows = []
    for op in ("write", "read"):
        rows.append([f"{op} POSIX limit"] + [figure(done, *c, "posix", op) for c in columns])
        for level in "0123":
            rows.append([f"{op} level {level}{size_note(done, level)}"]
                        + [figure(done, *c, level, op) for c in columns])
    headings = ["MiB/s: median (least-most)"] + [" ".join(c) for c in columns]
    notes = [f"  {r['mpi']} {r['variant']} {r['what']}: {r['ending']}" for r in records if "ending" in r]
    return "\n".join([f"\n== {title}", table(headings, rows), *notes, *ratios(done, columns)])


def size_note(done, level):
    sizes = sorted({r["n"] for r in done if r["level"] == level})
    return f" (n={','.join(map(str, sizes))})" if sizes else ""


def figure(done, mpi, variant, level, op):
    found = pick(done, mpi=mpi, variant=variant, level=level, op=op)
    if not found:
        return "-"
    r = found[0]
    return f"{r['mib_per_s']:.0f} ({r['least']:.0f}-{r['most']:.0f})"


def ratios(done, columns):
    """Tamis against the better peer: under its own MPI and under any, at its level and at level 3."""
    rows = []
    for mpi in dict.fromkeys(mpi for mpi, variant in columns if variant == "Tamis"):
        for op in ("write", "read"):
            tamis = {level: pick(done, mpi=mpi, variant="Tamis", level=level, op=op) for level in "0123"}
            speeds = {level: found[0]["mib_per_s"] for level, found in tamis.items() if found}
            third = speeds.get("3")
            rows.append(
                [f"{mpi} {op}"]
                + [ratio(speeds.get(x), best_peer(done, mpi=mpi, level=x, op=op)) for x in "0123"]
                + [ratio(third, best_peer(done, level="3", op=op)),
                   ratio(third, best_full(done, mpi, op)),
                   ratio(third, posix_limit(done, op))]
            )
    if not rows:
        return []
    headings = ["Tamis against the better peer", "level 0", "level 1", "level 2", "level 3",
                "level 3: any MPI's peer", "level 3: peer's best level", "level 3: POSIX limit"]
    return [table(headings, rows)]


def best_full(done, mpi, op):
    """The better peer at whichever level suits it, under this MPI, on the full array."""
    n = max((r["n"] for r in done if r["level"] == "3"), default=None)
    return best_peer(done, mpi=mpi, op=op, n=n)


def contig(records):
    rows = [[f"{r['mpi']} {r['variant']} {r['op']} {r['fs']}", f"{r['mpi_ns']:.0f}", f"{r['posix_ns']:.0f}",
             f"{r['ratio']:.3f}", f"{r['ratio_quartiles'][0]:.3f}-{r['ratio_quartiles'][1]:.3f}",
             f"{r['ratio_fastest']:.3f}", f"{r['allocations_per_call']:g}"]
            for r in records if "ratio" in r]
    headings = ["4 KiB at explicit offsets", "MPI ns", "POSIX ns", "ratio", "quartiles", "fastest blocks",
                "allocations"]
    return "\n== contig: one rank, blocks of calls in turns\n" + table(headings, rows) + endings(records)


def bigvector(records):
    rows = [[f"{r['mpi']} {r['variant']} {r['blocks']:.0e} blocks", f"{r['set_view_ms']:.2f}",
             f"{r['write_ms']:.2f}", f"{r['read_ms']:.2f}", f"{r['total_ms']:.2f}",
             f"{r['resident_growth'] / 2**20:.2f}", f"{r['heap_peak'] / 2**20:.2f}"]
            for r in records if "total_ms" in r]
    headings = ["view of eight-byte blocks", "set_view ms", "write ms", "read ms", "all ms",
                "resident MiB", "heap MiB"]
    return "\n== bigvector: one rank, access in the middle\n" + table(headings, rows) + endings(records)


def memory(records):
    rows = [[f"{r['mpi']} {r['variant']} {r['op']}", r["mib_per_rank"], r["cb_buffer_mib"],
             f"{r['resident_growth'] / 2**20:.1f}", f"{r['resident_growth_all'] / 2**20:.1f}",
             f"{r['heap_peak'] / 2**20:.1f}"] for r in records if "heap_peak" in r]
    headings = ["level 3, 4 ranks", "MiB per rank", "cb_buffer MiB", "resident MiB, worst rank",
                "all ranks", "heap MiB, worst rank"]
    return "\n== memory beside the user's buffers\n" + table(headings, rows) + endings(records)


def endings(records):
    return "".join(f"\n  {r['mpi']} {r['variant']}: {r['ending']}" for r in records if "ending" in r)
