"""The report as text: for a terminal with colours, for a pipe without."""

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..units import count, duration, moment, numbered, share, size, times
from . import compare
from .words import bound, caveats, jobs_titles, lead, side_lines, taken, way_name

STYLES = {
    "broken": "bold white on red",
    "costly": "bold red",
    "worth a look": "yellow",
    "minor": "cyan",
    "unclear": "magenta",
    "good": "green",
}
VERDICTS = {"better": "green", "worse": "red", "": ""}
SHADES = " ░▒▓█"
PICTURE_ROWS = 16
MOST_FILES = 12
PRINTED = {"ns": duration, "bytes": size, "count": count, "ratio": times}


def table_of(*columns):
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right", overflow="fold")
    return table


def indented(text, columns):
    return Padding(text, (0, 0, 0, columns), expand=False)


def bullet(text):
    line = Table.grid(padding=(0, 1))
    line.add_row("   →", Text(text))
    return line


def ways_table(study):
    table = table_of("way", "calls", "wanted", "accessed", "wasted", "requests", "mean request", "slowest rank")
    for way in study.ways:
        figures = study.figures(way)
        table.add_row(
            way_name(way),
            count(figures.calls),
            size(figures.bytes_wanted),
            size(figures.accessed),
            size(figures.wasted),
            count(figures.requests),
            size(figures.mean_request),
            duration(figures.slowest_ns),
        )
    return table


def time_line(figures):
    parts = sorted((part for part in figures.shares() if part[1]), key=lambda part: -part[1])
    return ", ".join(f"{phase} {share(ns, figures.total_ns)}" for phase, ns in parts) or "none"


def merged_rows(table, most):
    """The table with at most `most` rows, neighbours added up."""
    rows = min(most, len(table))
    groups = [table[row * len(table) // rows : (row + 1) * len(table) // rows] for row in range(rows)]
    return [[sum(cells) for cells in zip(*group)] for group in groups]


def heat_lines(table, ranks):
    """One line per group of ranks; every cell with bytes is seen."""
    merged = merged_rows(table, PICTURE_ROWS)
    most = max(max(row) for row in merged)
    for number, row in enumerate(merged):
        first, last = number * ranks // len(merged), max(
            number * ranks // len(merged), (number + 1) * ranks // len(merged) - 1
        )
        label = f"{first}" if first == last else f"{first}–{last}"
        cells = "".join(SHADES[0 if cell == 0 else 1 + min(3, 4 * cell // (most + 1))] for cell in row)
        yield f"{label:>11} │{cells}│"


def show_pattern(console, study):
    pattern = study.file.pattern
    for direction, table, style in (("read", pattern.read, "blue"), ("written", pattern.written, "dark_orange")):
        if any(map(any, table)):
            console.print(
                Text(
                    (
                        f"bytes {direction}: ranks down, offset in the file across, "
                        f"{size(pattern.column_bytes)} per column"
                    ),
                    style="dim",
                )
            )
            for line in heat_lines(table, study.file.ranks):
                console.print(Text(line, style=style), no_wrap=True, crop=True)


def show_advice(console, advice, with_file):
    for one in advice:
        head = Text(f" {one.severity} ", style=STYLES[one.severity])
        head.append(f" {one.file + ': ' if with_file else ''}{one.headline}", style="bold not reverse")
        console.print(head)
        console.print(indented(Text(one.evidence, style="dim"), 4))
        for action in one.actions:
            console.print(bullet(action.text))
            if action.code:
                console.print(indented(Text(action.code, style="cyan"), 6))


def show_distance(console, study):
    distance = study.distance
    if distance.ratio is not None:
        console.print(
            Text(
                f"storage: {taken(study)} on the slowest rank; at least {duration(distance.ideal_ns)} for the bytes"
                f" wanted in large requests, {bound(study)}{times(distance.ratio)}"
            )
        )
        console.print(indented(Text(distance.basis, style="dim"), 4))


def show_file(console, study):
    file = study.file
    console.print()
    console.print(Text(file.name, style="bold underline"))
    console.print(Text(lead(study), style="dim"))
    console.print(ways_table(study))
    console.print()
    console.print(Text(f"time: {time_line(study.all)}"))
    for line in side_lines(study):
        console.print(Text(f"      {line}"))
    show_distance(console, study)
    show_pattern(console, study)
    show_advice(console, study.advice, with_file=False)


def show_rest(console, rest):
    if rest:
        console.print()
        console.print(Text(f"and {numbered(len(rest), 'more file')}, less in time:"))
        table = table_of("file", "wanted", "requests", "at most", "advice")
        for study in rest:
            table.add_row(
                Text(study.file.name),
                size(study.all.bytes_wanted),
                count(study.all.requests),
                duration(study.taken_ns),
                Text(study.advice[0].headline),
            )
        console.print(table)


def show_job(console, study):
    job = study.job
    console.print(Text(job.program, style="bold"))
    console.print(
        Text(
            f"{numbered(job.ranks, 'rank')} on {numbered(job.nodes, 'node')} ({job.host}), {job.mpi}, Tamis"
            f" {job.tamis}, {moment(job.began)}, {duration(job.seconds * 1e9)} from the first open to the end"
        )
    )
    if caveats(job):
        console.print(
            Text(f"incomplete: {'; '.join(caveats(job))}; all sums are too small", style="bold yellow")
        )
    console.print(
        Text(
            f"{size(study.bytes('read'))} read and {size(study.bytes('write'))} written by"
            f" {numbered(study.all.calls, 'call')}; {taken(study)} in I/O on the slowest rank;"
            f" {size(study.all.wasted)} wasted"
        )
    )
    for file in study.files[:MOST_FILES]:
        show_file(console, file)
    show_rest(console, study.files[MOST_FILES:])


def comparison_table(title, studies, titles):
    table = table_of(
        title,
        *(word for number, name in enumerate(titles) for word in ([name] if number == 0 else [name, "ratio"])),
    )
    for line in compare.compare(studies):
        written = PRINTED[line.measure.unit]
        cells = [Text(written(line.values[0]))]
        for value, ratio in zip(line.values[1:], line.ratios):
            cells += [Text(written(value)), Text(times(ratio), style=VERDICTS[line.verdict(ratio)])]
        table.add_row(line.measure.name, *cells)
    return table


def show_comparison(console, studies):
    titles = jobs_titles(studies)
    if any(len(study.files) > 1 for study in studies):
        console.print(comparison_table("all files", studies, titles))
    for name, files in compare.matched_files(studies):
        console.print()
        console.print(comparison_table(Text(name), files, titles))
    console.print()


def show(studies, width):
    console = Console(width=max(60, width), highlight=False, markup=False, emoji=False, soft_wrap=False)
    if len(studies) > 1:
        show_comparison(console, studies)
    for number, study in enumerate(studies):
        if number:
            console.print()
            console.rule()
        show_job(console, study)
