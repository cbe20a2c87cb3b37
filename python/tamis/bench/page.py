"""The dated page of a run: machine, how to repeat it, what a peer does better, tables and plots."""

import json
import re
from pathlib import Path

from ..errors import UserError
from ..units import size
from . import plots, records, session, show, tables
from . import results as figures

HOW = """Each job runs all levels of one workload under one MPI-IO; jobs take strict turns, and who is first changes
from round to round. Times run from the moment all ranks are ready to the moment the last one is done, without open,
view and close; of `timesteps`, writing, until the file is closed. Every byte of the file and of the buffers is
compared. The POSIX limit is measured in the same jobs: the same ranks move as many bytes, each in one contiguous
`pwrite` or `pread` a step.

Level 0 is a call for each contiguous piece, 1 a collective call for each, 2 a view and one call, 3 a view and one
collective call. A speed is the median over all accesses of all rounds, in brackets its quartiles; `~` stands before
one that was taken from the first calls only. A ratio is the median over the rounds of those within a round, each job
beside the peer's of the same round; beside it stand the number of rounds and their range. The better peer is the one of
the MPI's own implementations that moved the right bytes to which Tamis has the least ratio. `<` marks a row in which
it is ahead: the ratio is below 1."""


def loads_text(loads):
    return "; ".join(f"{before} before, {after if after is not None else 'unknown'} after" for before, after in loads)


def machine_table(results):
    machine = results["machine"]
    rows = [
        ["cores", f"{machine['cores']} ({machine['cpu']})"],
        ["memory", size(machine["memory_bytes"])],
        ["kernel", machine["kernel"]],
        ["file systems", ", ".join(show.places_of(results).values())],
        ["MPIs", ", ".join(f"{name} {version}" if version not in name else name
                           for name, version in machine["mpis"].items())],
        ["Tamis", " ".join(filter(None, (machine["tamis"], machine["commit"])))],
        ["load of the last minute", loads_text(results["loads"])],
    ]
    return show.markdown(["machine", ""], rows).replace("---:", "---")


def repeatable(command):
    """The command without where its output went."""
    return re.sub(r" --resume\b", "", re.sub(r" --(out|programs)[ =]\S+", "", command))


def how_to_repeat(results):
    """The commands whose figures these are; one that was ended and went on stands there once."""
    return "To repeat it:\n\n```sh\n{}\n```".format("\n".join(dict.fromkeys(map(repeatable, results["commands"]))))


def means(results):
    return [show.markdown(*show.means_table(results["summary"]))] if results["summary"]["means"] else []


def behind(results, places):
    headings, rows = show.behind_table(results["rows"], places)
    if not rows:
        return "In no row is a peer ahead."
    return show.markdown(headings, rows)


def short_section(results, places):
    found = [show.markdown(*table) for table in show.short_tables(results["aims"], places)]
    return ["## Rows that fall short of an aim", *found] if found else []


def paper_section(pictures, folder):
    """The papers' figures; the workloads' own stand with their tables."""
    found = [f"![{title}]({folder}/{name}.png)" for name, title in pictures if is_papers(name)]
    return ["## As in paper 001, and over the number of ranks", *found] if found else []


def is_papers(name):
    return name.startswith(("figure-", "ranks-"))


def variants_section(results, places):
    table = show.variants_table(results["rows"], places)
    return ["## Tamis with hints", show.markdown(*table)] if table[1] else []


def workload_sections(results, places, pictures, folder):
    """Every workload: its plots, then its tables, none left out."""
    by_workload = {}
    for rows in show.grouped(results["rows"]).values():
        by_workload.setdefault(rows[0]["workload"], []).append(rows)
    for workload, groups in by_workload.items():
        parts = [f"### {workload}"]
        parts += [f"![{title}]({folder}/{name}.png)" for name, title in pictures
                  if not is_papers(name) and title.split()[0].rstrip(",") == workload]
        for rows in groups:
            parts.append(f"{show.title(rows[0], places)}\n\n{show.markdown(*show.table_of(rows))}")
        yield "\n\n".join(parts)


def gauge_section(results, places):
    found = [show.markdown(*table) for table in show.gauge_tables(results, places)]
    return ["## One call, large views, memory", *found] if found else []


def fault_section(results, places):
    found = [f"- {line}" for line in show.fault_lines(results, places)]
    return ["## What went wrong", "\n".join(found)] if found else []


def text_of(results, pictures, folder, counted):
    places = show.places_of(results)
    parts = [f"# Benchmarks of {results['machine']['date'].split()[0]}", show.summary_line(results["summary"]),
             show.markdown(*show.aims_table(results["aims"])), machine_table(results), how_to_repeat(results), HOW,
             *paper_section(pictures, folder), *variants_section(results, places),
             *short_section(results, places), "## Beside the better peer, level by level", *means(results),
             "## Where a peer is ahead", behind(results, places), *fault_section(results, places),
             "## The workloads", *workload_sections(results, places, pictures, folder),
             *gauge_section(results, places)]
    if counted:
        parts += ["## The tables of paper 004", tables.markdown_of(counted)]
    return "\n\n".join(parts) + "\n"


def write(directory, target):
    """The page, and beside it a folder of the same name with its pictures."""
    found = records.read(directory / session.RECORDS)
    if not found:
        raise UserError(f"{directory / session.RECORDS}: nothing has been measured there")
    results = figures.results_of(found)
    counted_path = directory / tables.RESULTS
    counted = json.loads(counted_path.read_text()) if counted_path.is_file() else None
    folder = target.parent / "img" / target.stem
    pictures = plots.draw_all(results, show.places_of(results), folder, ("png",)) or []
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text_of(results, pictures, Path("img") / target.stem, counted))
    print(f"{target}, with {len(pictures)} pictures in {folder}")
    return 0
