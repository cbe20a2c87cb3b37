"""Pictures of a file's accesses, by matplotlib: as SVG inside a page, or as PNG files.

In a page they take its colours: text and lines are drawn in marker colours that become CSS variables, so
that one picture serves light and dark. Nothing here opens a display.
"""

import io
import re
from dataclasses import dataclass

import matplotlib
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ..units import BYTE_UNITS, duration, short_count, size
from .figures import OTHER
from .words import way_name

COLOURS = {"read": "#2f86c8", "write": "#e2783c"}
PHASE_COLOURS = {
    "transfer": "#2f86c8",
    "pack": "#3fa58c",
    "wait": "#e8b33c",
    "lock": "#d1495b",
    "survey": "#8d6cc0",
    "agree": "#bfa5e0",
    "announce": "#e58fb3",
    OTHER: "#9aa3ad",
}
PNG_DPI = 160
WIDTH = 10.4  # inches; a page's column
NARROW = 6.0  # and where two stand beside each other
FAINTEST = 0.16  # opacity of a cell with few bytes, so that it is seen at all
MOST_WAYS = 12


@dataclass(frozen=True)
class Ink:
    text: str
    muted: str
    line: str
    paper: str


PRINTED = Ink("#1c2430", "#5d6875", "#d7dde3", "#ffffff")
# Markers, each replaced by the variable of its name.
ON_PAGE = Ink("#010203", "#040506", "#070809", "none")
MARKERS = {"#010203": "var(--ink)", "#040506": "var(--muted)", "#070809": "var(--line)"}

STYLE = {
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.family": "sans-serif",
    "axes.linewidth": 0.8,
    "text.parse_math": False,
}


@dataclass(frozen=True)
class Frame:
    """What a picture is drawn for."""

    ink: Ink
    width: float = WIDTH
    longest_ns: int = 0  # pictures of time reach at least so far, so that two can be compared


@dataclass(frozen=True)
class Picture:
    name: str
    title: str
    figure: Figure


def axes_of(figure, ink, rows=1, columns=1, **more):
    panels = figure.subplots(rows, columns, squeeze=False, **more)
    for axes in panels.flat:
        axes.set_facecolor("none")
        axes.tick_params(colors=ink.muted, labelcolor=ink.muted, length=3)
        for spine in axes.spines.values():
            spine.set_color(ink.line)
        axes.xaxis.label.set_color(ink.muted)
        axes.yaxis.label.set_color(ink.muted)
    return panels[0]


def blank(frame, height):
    figure = Figure(figsize=(frame.width, height), layout="constrained")
    figure.patch.set_facecolor(frame.ink.paper)
    return figure


def byte_ticks(most, number):
    """Round figures of one unit from 0 to `most`, and that unit's place in BYTE_UNITS."""
    unit = min(len(BYTE_UNITS) - 1, max(0, (max(int(most), 1).bit_length() - 2) // 10))
    scale = 1 << 10 * unit
    ticks = MaxNLocator(number, steps=[1, 2, 2.5, 5, 10]).tick_values(0, most / scale)
    return [tick * scale for tick in ticks if 0 <= tick * scale <= most * 1.0001], unit


def byte_axis(axis, most, label):
    ticks, unit = byte_ticks(most, 6)
    axis.set_ticks(ticks)
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / (1 << 10 * unit):g}"))
    axis.set_label_text(label.format(BYTE_UNITS[unit]))


def tints(direction):
    """From hardly there to the full colour: reads on light and on dark."""
    colour = to_rgba(COLOURS[direction])[:3]
    tint = LinearSegmentedColormap.from_list(direction, [(*colour, FAINTEST), (*colour, 1.0)])
    tint.set_bad((0, 0, 0, 0))
    return tint


def used_columns(pattern):
    """How many columns there are up to the last with bytes."""
    used = [
        index
        for table in (pattern.read, pattern.written)
        for row in table
        for index, cell in enumerate(row)
        if cell
    ]
    return max(used, default=0) + 1


def heat_map(axes, table, direction, study, figure, ink):
    pattern, ranks = study.file.pattern, study.file.ranks
    columns = used_columns(pattern)
    verb = "read" if direction == "read" else "written"
    cells = [[cell or float("nan") for cell in row[:columns]] for row in table]
    image = axes.imshow(
        cells,
        cmap=tints(direction),
        vmin=0,
        aspect="auto",
        interpolation="none",
        extent=(0, columns * pattern.column_bytes, ranks - 0.5, -0.5),
    )
    byte_axis(axes.xaxis, columns * pattern.column_bytes, "offset in the file ({})")
    axes.yaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
    axes.set_title(
        f"bytes {verb}, per {size(pattern.column_bytes)} of the file", loc="left", fontsize=10, color=ink.text
    )
    if pattern.rows <= 16:
        for row in range(1, pattern.rows):
            axes.axhline(row * ranks / pattern.rows - 0.5, color=ink.line, linewidth=0.5)
    bar = figure.colorbar(image, ax=axes, pad=0.015, aspect=22, format=FuncFormatter(lambda value, _: size(value)))
    bar.set_ticks(byte_ticks(max(map(max, table)), 4)[0])
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=ink.muted, labelcolor=ink.muted, length=0)


def pattern_picture(study, frame):
    """Offset in the file × rank, reads and writes apart; None where no bytes were wanted."""
    tables = {"read": study.file.pattern.read, "write": study.file.pattern.written}
    used = [direction for direction, table in tables.items() if any(map(any, table))]
    if not used:
        return None
    figure = blank(frame, min(3.4, 1.5 + 0.16 * study.file.pattern.rows))
    panels = axes_of(figure, frame.ink, 1, len(used), sharey=True)
    for axes, direction in zip(panels, used):
        heat_map(axes, tables[direction], direction, study, figure, frame.ink)
    panels[0].set_ylabel("rank")
    return Picture("pattern", "Who touched which part of the file", figure)


def last_column(line):
    return max(
        (index for table in (line.read, line.written) for index, cell in enumerate(table) if cell), default=-1
    )


def timeline_picture(study, frame):
    line = study.file.timeline
    columns = last_column(line) + 1
    if columns == 0:
        return None
    figure = blank(frame, 1.9)
    axes = axes_of(figure, frame.ink)[0]
    seconds = line.column_ns / 1e9
    scale, unit = (1.0, "s") if columns * seconds >= 1 else (1e3, "ms")
    edges = [index * seconds * scale for index in range(columns + 1)]
    rates = {"read": line.read, "write": line.written}
    most = max(max(rate[:columns]) for rate in rates.values()) / seconds
    for direction, rate in rates.items():
        if any(rate):
            values = [cell / seconds for cell in rate[:columns]]
            axes.stairs(values, edges, fill=True, color=COLOURS[direction], alpha=0.30)
            axes.stairs(values, edges, color=COLOURS[direction], linewidth=1.4, label=direction)
    axes.set_xlim(0, edges[-1])
    axes.set_ylim(0, most * 1.08)
    byte_axis(axes.yaxis, most * 1.08, "{} per second")
    axes.set_xlabel(f"since the file was opened ({unit})")
    legend(axes, frame.ink, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0)
    return Picture("time", "Over time", figure)


def legend(axes, ink, **more):
    shown = axes.legend(frameon=False, labelcolor=ink.text, handlelength=1.1, handleheight=0.9, **more)
    shown.set_in_layout(bool(more))


def size_labels():
    edges = [size(16 << k) for k in range(17)]
    return ["<16 B", *edges[:-1], f"≥{edges[-1]}"]


def requests_picture(study, frame):
    """Histogram of requests to the storage by size; those of a read-modify-write are of both kinds."""
    sizes = {"read": study.all.read_sizes, "write": study.all.write_sizes}
    used = [direction for direction, counts in sizes.items() if any(counts)]
    if not used:
        return None
    figure = blank(frame, 2.1)
    axes = axes_of(figure, frame.ink)[0]
    width = 0.84 / len(used)
    most = max(max(sizes[direction]) for direction in used)
    for turn, direction in enumerate(used):
        counts = sizes[direction]
        places = [k + (turn - (len(used) - 1) / 2) * width for k in range(len(counts))]
        axes.bar(places, counts, width * 0.94, color=COLOURS[direction], label=f"{direction}s")
        for k, height in enumerate(counts):
            crowded = all(each[k] for each in sizes.values())
            outward = 0.38 * width * (1 - 2 * turn) if crowded else 0
            if height:
                axes.text(
                    places[k] + outward,
                    height + most * 0.02,
                    short_count(height),
                    ha=("right", "left")[turn] if crowded else "center",
                    va="bottom",
                    color=frame.ink.text,
                    fontsize=7 if len(used) > 1 else 8,
                )
    axes.set_xticks(range(18), size_labels(), fontsize=7.5)
    axes.set_xlim(-0.7, 17.7)
    axes.set_ylim(0, most * 1.18)
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short_count(value)))
    axes.set_xlabel("request size, from")
    axes.set_ylabel("requests")
    legend(axes, frame.ink)
    return Picture("requests", "Sizes of the requests to the storage", figure)


def phases_picture(study, frame):
    """Where the time of each way went, summed over ranks."""
    ways = [way for way in study.ways if way.ns["total"]][:MOST_WAYS]
    if not ways:
        return None
    figure = blank(frame, 1.15 + 0.3 * len(ways))
    axes = axes_of(figure, frame.ink)[0]
    shares = [dict(study.figures(way).shares()) for way in ways]
    most = max(frame.longest_ns, *(sum(parts.values()) for parts in shares))
    scale, unit = next(((s, u) for s, u in ((3.6e12, "h"), (1e9, "s"), (1e6, "ms")) if most >= s), (1e3, "µs"))
    begins = [0.0] * len(ways)
    for phase, colour in PHASE_COLOURS.items():
        lengths = [parts[phase] / scale for parts in shares]
        if any(length * scale >= 0.004 * most for length in lengths):
            axes.barh(range(len(ways)), lengths, 0.62, left=begins, color=colour, label=phase)
        begins = [begin + length for begin, length in zip(begins, lengths)]
    for row, end in enumerate(begins):
        axes.text(
            end + most / scale * 0.008, row, duration(end * scale), va="center", color=frame.ink.text, fontsize=8
        )
    axes.set_yticks(range(len(ways)), [way_name(way) for way in ways])
    axes.invert_yaxis()
    axes.set_xlim(0, most / scale * 1.09)
    axes.set_xlabel(f"time, sum over ranks ({unit})")
    legend(axes, frame.ink, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=8, borderaxespad=0, columnspacing=1.2)
    return Picture("phases", "Where the time went", figure)


PICTURES = (pattern_picture, phases_picture, requests_picture, timeline_picture)


def of_file(study, frame):
    """The pictures of a FileStudy that have something to show."""
    with matplotlib.rc_context(STYLE):
        return [picture for picture in (draw(study, frame) for draw in PICTURES) if picture is not None]


def as_svg(picture, prefix):
    """To stand inside a page: no declarations, no names that another picture has, the page's font and colours."""
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": prefix}):
        raw = io.StringIO()
        picture.figure.savefig(raw, format="svg", transparent=True, metadata={"Date": None})
    svg = raw.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.S)
    svg = re.sub(r'\s+xmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(
        r'<svg [^>]*?viewBox="([^"]*)"[^>]*>',
        rf'<svg role="img" aria-label="{picture.title}" viewBox="\1">',
        svg,
        count=1,
    )
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    for marker, variable in MARKERS.items():
        svg = svg.replace(marker, variable)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'(url\(|href=")#', rf"\1#{prefix}-", svg)
    return svg


def file_stem(name):
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name.rsplit("/", 1)[-1])[:60] or "file"


def save(picture, name, path):
    """As a PNG file with the file's name above; letters in it mean nothing but themselves."""
    with matplotlib.rc_context(STYLE):
        picture.figure.suptitle(
            f"{name}: {picture.title.lower()}", fontsize=10, x=0.01, ha="left", color=PRINTED.text
        )
        picture.figure.savefig(path, dpi=PNG_DPI)


def export(studies, directory, most_files=12):
    """PNG files named job-file-picture; the directory is made where there is none."""
    directory.mkdir(parents=True, exist_ok=True)
    for job_number, job in enumerate(studies, 1):
        lead = f"job{job_number}-" if len(studies) > 1 else ""
        for file_number, study in enumerate(job.files[:most_files], 1):
            for picture in of_file(study, Frame(PRINTED)):
                stem = f"{lead}{file_number:02}-{file_stem(study.file.name)}-{picture.name}"
                save(picture, study.file.name, directory / f"{stem}.png")
