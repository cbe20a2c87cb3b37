"""Results as text for people: the same columns in the terminal and on the page."""

from ..units import numbered
from . import jobs

BEHIND = "<"  # marks a row in which a peer is ahead
ABOUT = "~"  # stands before a speed of the first calls only
SPEED_HEADINGS = ("", "to better peer", "rounds", "their range", "to its best level", "to POSIX", BEHIND)


def aligned(headings, rows):
    """Columns as wide as their widest cell; the first one left-aligned."""
    cells = [list(map(str, row)) for row in (headings, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headings))]
    lines = ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
             .rstrip() for row in cells]
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)


def markdown(headings, rows):
    lines = [headings, ["---"] + ["---:"] * (len(headings) - 1), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def speed(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def figure(found):
    """Median and quartiles in MiB/s; ~: the first calls only; a word where something went wrong."""
    if not found:
        return "-"
    parts = []
    if "mib_per_s" in found:
        about = ABOUT if found["partial"] else ""
        parts.append(f"{about}{speed(found['mib_per_s'])} ({speed(found['q1'])}-{speed(found['q3'])})")
    if found["fault"]:
        parts.append(found["fault"])
    return " ".join(parts) or "-"


def times(ratio):
    return f"{ratio:.2f}x" if ratio else "-"


def ratio_range(row):
    return f"{row['ratio_least']:.2f}-{row['ratio_most']:.2f}" if row["ratio_least"] else "-"


def grouped(rows):
    """By what stands above a table."""
    groups = {}
    for row in rows:
        groups.setdefault((row["case"], row["ranks"], row["directory"], row["mpi"]), []).append(row)
    return groups


def title(row, places):
    return f"{row['case']}, {row['ranks']} ranks, {places[row['directory']]}, {row['mpi']}"


def places_of(results):
    """Directories by what matters of them; their names only where that tells them apart."""
    systems = results["machine"].get("file_systems", {})
    names = list(systems.values())
    return {name: system if names.count(system) == 1 else f"{system} {name}" for name, system in systems.items()}


def table_of(rows):
    """Headings and cells of one group of rows."""
    peers = list(rows[0]["peers"])
    headings = ["MiB/s: median (quartiles)", "Tamis", *peers, *SPEED_HEADINGS[1:]]
    cells = [[f"{row['op']} level {row['level']}", figure(row["tamis"]),
              *(figure(row["peers"].get(peer)) for peer in peers), times(row["ratio"]), row["rounds"] or "-",
              ratio_range(row), times(row["ratio_best_level"]), times(row["ratio_posix"]),
              BEHIND if row["peer_ahead"] else ""]
             for row in rows]
    for op in dict.fromkeys(row["op"] for row in rows):
        posix = next(row["posix"] for row in rows if row["op"] == op)
        cells.append([f"{op} POSIX limit", figure(posix)] + [""] * (len(headings) - 2))
    return headings, cells


def behind_table(rows, places):
    """Rows in which a peer is ahead, the worst first; those without a figure of ours before all."""
    found = sorted((row for row in rows if row["peer_ahead"]), key=lambda row: row["ratio"] or 0)
    headings = ["peer ahead", "Tamis", "peer", "its MiB/s", "ratio", "rounds", "their range"]
    return headings, [[f"{title(row, places)}, {row['op']} level {row['level']}", figure(row["tamis"]),
                       row["better_peer"], figure(row["peers"][row["better_peer"]]), times(row["ratio"]),
                       row["rounds"] or "-", ratio_range(row)] for row in found]


def fault_lines(results, places):
    for fault in results["faults"]:
        where = " ".join(filter(None, (fault["op"], f"level {fault['level']}" if fault["level"] else "")))
        rounds = len(set(fault["rounds"]))
        kind = "left out" if fault["word"] == jobs.UNFIT else fault["word"]
        yield (f"{title(fault, places)} {fault['implementation']}{': ' + where if where else ''}: {kind}"
               f"{' in ' + str(rounds) + ' rounds' if rounds > 1 else ''}"
               f"{' (' + fault['detail'] + ')' if fault['detail'] else ''}")


def variants_table(rows, places):
    """Tamis with hints beside Tamis without."""
    found = [(row, name, figures) for row in rows for name, figures in row["variants"].items()]
    headings = ["Tamis with hints", "MiB/s", "without", "ratio"]
    return (headings, [[f"{name}: {title(row, places)}, {row['op']} level {row['level']}", figure(figures),
                        figure(row["tamis"]), times(figures["ratio"])] for row, name, figures in found])


def met(one):
    return "-" if one["met"] is None else "yes" if one["met"] else "no"


def aims_table(found):
    return (["aim", "wanted", "reached", "met"],
            [[one["what"], one["wanted"], one["reached"], met(one)] for one in found])


def short_tables(found, places):
    """Of each aim that is to hold in every row, the rows in which it does not."""
    for one in found:
        if one["short"]:
            yield ([f"short of it: {one['what']}", "ratio"],
                   [[f"{title(row, places)}, {row['op']} level {row['level']}", times(row["ratio"])]
                    for row in one["short"]])


def contig_table(gauges, places):
    headings = ["4 KiB at explicit offsets, one rank", "MPI ns", "POSIX ns", "ratio", "quartiles", "fastest blocks",
                "allocations", "counters on / off", "quartiles"]
    return headings, [[f"{line['mpi']} {line['implementation']} {line['op']} {places[line['directory']]}",
                       f"{line['mpi_ns']:.0f}", f"{line['posix_ns']:.0f}", f"{line['ratio']:.3f}",
                       "{:.3f}-{:.3f}".format(*line["ratio_quartiles"]), f"{line['ratio_fastest']:.3f}",
                       f"{line['allocations_per_call']:g}", f"{line['counted_ratio']:.3f}",
                       "{:.3f}-{:.3f}".format(*line["counted_ratio_quartiles"])] for line in gauges]


def nothing_table(gauges, _places):
    headings = ["a collective call with nothing to do", "ranks", "call us", "barrier us", "ratio", "quartiles"]
    return headings, [[f"{line['mpi']} {line['implementation']} {line['op']}", line["ranks"],
                       f"{line['call_us']:,.1f}", f"{line['barrier_us']:,.1f}", f"{line['ratio']:.2f}",
                       "{:.2f}-{:.2f}".format(*line["ratio_quartiles"])] for line in gauges]


def bigvector_table(gauges, _places):
    headings = ["view of eight-byte blocks, access in its middle", "set_view ms", "write ms", "read ms", "all ms",
                "resident MiB", "heap MiB"]
    return headings, [[f"{line['mpi']} {line['implementation']} {line['blocks']:.0e} blocks",
                       *(f"{line[name]:.2f}" for name in ("set_view_ms", "write_ms", "read_ms", "total_ms")),
                       f"{line['resident_growth'] / 2**20:.2f}", f"{line['heap_peak'] / 2**20:.2f}"]
                      for line in gauges]


def pieces_text(line):
    """Of a rank; records of before did not tell."""
    return f"{line['pieces']:,}{', listed' if line['listed'] else ''}" if "pieces" in line else "-"


def memory_table(gauges, _places):
    headings = ["memory beside the buffers: level 3, 4 ranks", "pieces", "MiB per rank", "cb_buffer MiB",
                "resident MiB, worst rank", "all ranks", "heap MiB, worst rank"]
    return headings, [[f"{line['mpi']} {line['implementation']} {line['op']}",
                       pieces_text(line), line["mib_per_rank"],
                       line["cb_buffer_mib"], f"{line['resident_growth'] / 2**20:.1f}",
                       f"{line['resident_growth_all'] / 2**20:.1f}", f"{line['heap_peak'] / 2**20:.1f}"]
                      for line in gauges]


GAUGE_TABLES = {"contig": contig_table, "nothing": nothing_table, "bigvector": bigvector_table, "memory": memory_table}


def gauge_tables(results, places):
    for program, table in GAUGE_TABLES.items():
        lines = [line for line in results["gauges"] if line["program"] == program]
        if lines:
            yield table(lines, places)


def summary_line(summary):
    if not summary["compared"]:
        return "Nothing was compared with a peer."
    ahead, partial = summary["peer_ahead"], summary["partial"]
    return (f"{summary['compared']} of {summary['rows']} rows compared with the better peer at the same level; "
            f"a peer is ahead in {ahead}{f' (marked {BEHIND})' if ahead else ''}."
            + (f" {numbered(partial, 'row')} with calls left out ({ABOUT}): in no mean." if partial else ""))


def means_table(summary):
    """MPIs and ranks down, levels across; in brackets over how many rows."""
    levels = sorted({mean["level"] for mean in summary["means"]})
    lines = {}
    for mean in summary["means"]:
        lines.setdefault((mean["mpi"], mean["ranks"]), {})[mean["level"]] = mean
    return (["geometric means of the ratios to the better peer", *(f"level {level}" for level in levels)],
            [[f"{mpi}, {ranks} ranks",
              *(f"{times(own[level]['geometric_mean_ratio'])} ({own[level]['rows']})" if level in own else "-"
                for level in levels)] for (mpi, ranks), own in lines.items()])


def text_of(results):
    """All of it, for a terminal."""
    places = places_of(results)
    parts = [f"== {title(rows[0], places)}\n{aligned(*table_of(rows))}" for rows in grouped(results["rows"]).values()]
    parts += [aligned(*table) for table in gauge_tables(results, places)]
    variants = variants_table(results["rows"], places)
    if variants[1]:
        parts.append(aligned(*variants))
    behind = behind_table(results["rows"], places)
    if behind[1]:
        parts.append(aligned(*behind))
    faults = list(fault_lines(results, places))
    if faults:
        parts.append("\n".join(["What went wrong:", *(f"  {line}" for line in faults)]))
    if results["summary"]["means"]:
        parts.append(aligned(*means_table(results["summary"])))
    parts.append(aligned(*aims_table(results["aims"])))
    parts.append(summary_line(results["summary"]))
    return "\n\n".join(parts)
