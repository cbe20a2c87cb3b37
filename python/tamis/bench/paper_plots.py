"""Figures 4, 5 and 7 of paper 001 with our figures, and the same over the number of ranks: level 3, every
implementation, every way Tamis was told to go, the POSIX limit."""

import textwrap
from dataclasses import dataclass

from .implementations import TAMIS

PANEL_INCH, PANEL_HEIGHT, LEAST_INCH, LABEL_INCH = 2.9, 2.0, 5.2, 1.6
TITLE_CHARACTERS, TITLE_CHARACTERS_PER_INCH = 46, 12
LIMIT = {"color": "black", "linestyle": "--", "linewidth": 1}
TAMIS_COLOUR = "#0072B2"
PEER_COLOURS = {"ROMIO": "#D55E00", "OMPIO": "#E69F00"}
WAY_COLOURS = ("#009E73", "#CC79A7", "#56B4E9", "#882255")
KINDS = ("succinct", "vector", "enumerated")
BOTH = ("write", "read")


@dataclass(frozen=True)
class Line:
    label: str
    style: dict
    points: tuple  # of (x, MiB/s)


@dataclass(frozen=True)
class Panel:
    title: str
    lines: tuple


@dataclass(frozen=True)
class Picture:
    name: str
    title: str
    x_label: str
    base: int  # of the axis; 0: not logarithmic
    panels: tuple  # rows of them


def solid(colour, marker="o"):
    return {"color": colour, "linestyle": "-", "linewidth": 1.2, "marker": marker, "markersize": 3.5}


def speed(figure):
    return (figure or {}).get("mib_per_s")


def line(label, style, points):
    found = tuple(sorted((x, y) for x, y in points if y))
    return [Line(label, style, found)] if found else []


def values_of(rows, name):
    return list(dict.fromkeys(row[name] for row in rows))


def peers_of(rows, x):
    for peer in dict.fromkeys(name for row in rows for name in row["peers"]):
        yield from line(peer, solid(PEER_COLOURS.get(peer, "#777777"), "s"),
                        [(x(row), speed(row["peers"].get(peer))) for row in rows])


def limit_of(rows, x):
    return line("POSIX limit", LIMIT, {x(row): speed(row["posix"]) for row in rows}.items())


def lines_of(rows, x):
    """Tamis, what hints make of it, the peers, the limit."""
    found = line(TAMIS, solid(TAMIS_COLOUR), [(x(row), speed(row["tamis"])) for row in rows])
    ways = dict.fromkeys(name for row in rows for name in row["variants"])
    for way, colour in zip(ways, WAY_COLOURS):
        points = [(x(row), speed(row["variants"].get(way))) for row in rows]
        found += line(f"{TAMIS}, {way}", solid(colour, "^"), points)
    return tuple([*found, *peers_of(rows, x), *limit_of(rows, x)])


def along(rows, curve):
    return [row for row in rows if row["curve"] == curve and row["level"] == "3"]


def settings_of(rows, places):
    """(words, rows) of each MPI, place and, where there are several, number of ranks."""
    found = {}
    for row in rows:
        found.setdefault((row["mpi"], row["directory"], row["ranks"]), []).append(row)
    for (mpi, directory, ranks), own in sorted(found.items()):
        yield f"{mpi}, {places[directory]}, {ranks} ranks", own


def regions(rows, places):
    """Figure 4: peers flatten every type, so that any one of theirs serves."""
    own = along(rows, "size")

    def size(row):
        return row["parameters"]["size"]

    def panel(title, found):
        lines = []
        for kind, colour in zip(KINDS, (TAMIS_COLOUR, *WAY_COLOURS)):
            lines += line(f"{TAMIS}, {kind} type", solid(colour),
                          [(size(row), speed(row["tamis"])) for row in found if row["parameters"]["type"] == kind])
        one = KINDS[1] if any(row["parameters"]["type"] == KINDS[1] for row in found) else KINDS[0]
        flat = [row for row in found if row["parameters"]["type"] == one]
        return Panel(title, tuple([*lines, *peers_of(flat, size), *limit_of(flat, size)]))

    grid = tuple(tuple(panel(f"{op}, {words}", found) for words, found in
                       settings_of([row for row in own if row["op"] == op], places)) for op in BOTH)
    yield Picture("figure-4", "HPIO by region size, level 3 (figure 4 of 001)", "bytes of a region", 2, grid)


def fills(rows, places):
    """Figure 5: a picture for each MPI, place and number of ranks; its panels are the extents."""
    def panel(own, op, extent):
        found = [row for row in own if (row["op"], row["parameters"]["extent"]) == (op, extent)]
        return Panel(f"{op}, extent {extent}", lines_of(found, lambda row: row["parameters"]["fill"]))

    for number, (words, own) in enumerate(settings_of(along(rows, "fill"), places)):
        extents = sorted({row["parameters"]["extent"] for row in own})
        grid = tuple(tuple(panel(own, op, extent) for extent in extents) for op in BOTH)
        yield Picture(f"figure-5-{number + 1}", f"When sieving pays: {words}, level 3 (figure 5 of 001)",
                      "per cent of the extent filled", 0, grid)


def steps(rows, places):
    """Figure 7."""
    own = [row for row in along(rows, "") if row["workload"] == "timesteps" and row["op"] == "write"]
    yield Picture("figure-7", "Time steps by the way the file is dealt out, level 3 (figure 7 of 001)", "ranks", 2,
                  (by_ranks(own, places, "write"),))


def by_ranks(rows, places, what):
    """A panel for each MPI and place, over the number of ranks."""
    found = {}
    for row in rows:
        found.setdefault((row["mpi"], row["directory"]), []).append(row)
    words = textwrap.fill(what, TITLE_CHARACTERS)
    return tuple(Panel(f"{words}\n{mpi}, {places[directory]}", lines_of(own, lambda row: row["ranks"]))
                 for (mpi, directory), own in sorted(found.items()))


def ranks(rows, places):
    """Each workload that was measured at several numbers of ranks: a picture for each direction."""
    plain = along(rows, "")
    several = [case for case in values_of(plain, "case")
               if len({row["ranks"] for row in plain if row["case"] == case}) > 1]
    for op in BOTH:
        grid = tuple(by_ranks([row for row in plain if (row["case"], row["op"]) == (case, op)], places, case)
                     for case in several)
        yield Picture(f"ranks-{op}", f"{op.capitalize()}s over the number of ranks, level 3", "ranks", 2, grid)


def pictures_of(rows, places):
    """Those that have anything in them."""
    for maker in (regions, fills, steps, ranks):
        for picture in maker(rows, places):
            grid = tuple(row for row in picture.panels if any(panel.lines for panel in row))
            if grid:
                yield Picture(picture.name, picture.title, picture.x_label, picture.base, grid)


def draw_panel(axis, panel, picture):
    for one in panel.lines:
        axis.plot([x for x, _ in one.points], [y for _, y in one.points], label=one.label, **one.style)
    axis.set_title(panel.title, fontsize=7)
    axis.grid(linewidth=0.3)
    axis.set_yscale("log")
    axis.tick_params(labelsize=6)
    if picture.base:
        ticks = sorted({x for one in panel.lines for x, _ in one.points})
        axis.set_xscale("log", base=picture.base)
        axis.set_xticks(ticks, list(map(str, ticks)))
        axis.minorticks_off()


def draw(plt, picture):
    """Panels are equally large, however many lines the title and the legend need."""
    labels = dict.fromkeys(one.label for row in picture.panels for panel in row for one in panel.lines)
    columns = max(map(len, picture.panels))
    width = max(LEAST_INCH, PANEL_INCH * columns)
    per_line = max(1, int(width / LABEL_INCH))
    title = textwrap.fill(picture.title, int(width * TITLE_CHARACTERS_PER_INCH))
    above = 0.25 + 0.18 * len(title.splitlines())
    below = 0.2 + 0.18 * -(-len(labels) // per_line)
    height = PANEL_HEIGHT * len(picture.panels) + above + below
    drawing, axes = plt.subplots(len(picture.panels), columns, squeeze=False, figsize=(width, height))
    legend = {}
    for row, panels in zip(axes, picture.panels):
        for k, axis in enumerate(row):
            if k >= len(panels) or not panels[k].lines:
                axis.set_visible(False)
                continue
            draw_panel(axis, panels[k], picture)
            legend.update({label: handle for handle, label in zip(*axis.get_legend_handles_labels())})
        row[0].set_ylabel("MiB/s", fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel(picture.x_label, fontsize=8)
    drawing.legend([legend[label] for label in labels], list(labels), loc="lower center", ncol=per_line, fontsize=7)
    drawing.suptitle(title, fontsize=10, y=1 - 0.08 / height, va="top")
    drawing.tight_layout(rect=(0, below / height, 1, 1))  # it leaves room for the title
    return drawing
