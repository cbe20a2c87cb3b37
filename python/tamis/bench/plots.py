"""Plots of every workload: bandwidth by level as grouped bars, and curves over what its curve varies."""

import io
import os
import textwrap

from . import paper_plots

LEVELS = "0123"
INCH = 3.4
LEGEND_INCH, AIR = 1.8, 1.6
DPI, PALETTE = 90, 128
TITLE_CHARACTERS_PER_INCH = 10
COLOURS = {  # told apart also by those who see few colours
    ("mpich", "Tamis"): "#0072B2", ("openmpi", "Tamis"): "#56B4E9", ("mpich", "ROMIO"): "#D55E00",
    ("openmpi", "OMPIO"): "#E69F00", ("openmpi", "ROMIO"): "#CC79A7",
}
OTHER_COLOURS = ("#009E73", "#F0E442", "#777777", "#332288", "#882255")
LIMIT = {"color": "black", "linestyle": "--", "linewidth": 1, "label": "POSIX limit"}
# The parameter of a curve: what it says, base of the axis, parameters that change along with it.
CURVES = {"size": ("bytes of a region", 2, ()), "fill": ("per cent of the extent filled", None, ()),
          "elmtcount": ("elements of a chunk, vectors of equal size", 2, ("veclen",))}


def pyplot():
    """None where matplotlib is not at hand."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot as module
    return module


def entrants_of(rows):
    """(mpi, implementation), Tamis first."""
    found = dict.fromkeys((row["mpi"], "Tamis") for row in rows if row["tamis"])
    found.update(dict.fromkeys((row["mpi"], peer) for row in rows for peer in row["peers"]))
    return list(found)


def colours_of(entrants):
    """Wheels are named mpich-4.3.0: a colour of their own each."""
    spare = list(OTHER_COLOURS)
    return {entrant: COLOURS.get(entrant) or (spare.pop(0) if spare else "#000000") for entrant in entrants}


def figure_for(rows, entrant, **wanted):
    """What the entrant reached there; None where it has no figure."""
    mpi, name = entrant
    for row in rows:
        if row["mpi"] == mpi and all(row[key] == value for key, value in wanted.items()):
            found = row["tamis"] if name == "Tamis" else row["peers"].get(name)
            return found if found and "mib_per_s" in found else None
    return None


def whiskers(figures):
    return [[max(0, found["mib_per_s"] - found["q1"]) for found in figures],
            [max(0, found["q3"] - found["mib_per_s"]) for found in figures]]


def panels(plt, rows, places):
    """Directions and file systems below each other; numbers of ranks side by side."""
    lines = list(dict.fromkeys((row["op"], row["directory"]) for row in rows))
    columns = sorted({row["ranks"] for row in rows})
    drawing, axes = plt.subplots(len(lines), len(columns), squeeze=False, sharey="row",
                                 figsize=(INCH * len(columns) + 0.8, INCH * 0.75 * len(lines) + 0.9))
    for i, (op, directory) in enumerate(lines):
        for k, ranks in enumerate(columns):
            own = [row for row in rows if (row["op"], row["ranks"], row["directory"]) == (op, ranks, directory)]
            axes[i][k].set_title(f"{op}, {ranks} ranks, {places[directory]}", fontsize=9)
            axes[i][k].grid(axis="y", linewidth=0.3)
            axes[i][0].set_ylabel("MiB/s")
            yield drawing, axes[i][k], own


def posix_limit(rows):
    return next((row["posix"]["mib_per_s"] for row in rows if "mib_per_s" in row["posix"]), None)


def bars(axis, rows, entrants, colours):
    """Levels differ by orders of magnitude: the scale is logarithmic."""
    width = 0.8 / len(entrants)
    levels = [level for level in LEVELS if any(row["level"] == level for row in rows)]
    for index, entrant in enumerate(entrants):
        found = [(k, figure_for(rows, entrant, level=level)) for k, level in enumerate(levels)]
        found = [(k, figure) for k, figure in found if figure]
        if found:
            axis.bar([k - 0.4 + width * (index + 0.5) for k, _ in found], [f["mib_per_s"] for _, f in found], width,
                     yerr=whiskers([f for _, f in found]), color=colours[entrant], label=" ".join(entrant),
                     error_kw={"linewidth": 0.7})
    limit = posix_limit(rows)
    if limit:
        axis.axhline(limit, **LIMIT)
    axis.set_yscale("log")
    axis.set_xticks(range(len(levels)), [f"level {level}" for level in levels])


def lines(axis, rows, entrants, colours):
    """Level 3 drawn through, level 2 dotted."""
    parameter = rows[0]["curve"]
    label, base, _ = CURVES[parameter]
    values = sorted({row["parameters"][parameter] for row in rows})
    for entrant in entrants:
        for level, style in (("3", "-o"), ("2", ":s")):
            found = [(value, figure_for([row for row in rows if row["parameters"][parameter] == value], entrant,
                                        level=level)) for value in values]
            found = [(value, figure) for value, figure in found if figure]
            if found:
                axis.errorbar([value for value, _ in found], [f["mib_per_s"] for _, f in found],
                              yerr=whiskers([f for _, f in found]), fmt=style, markersize=3, linewidth=1,
                              color=colours[entrant], label=f"{' '.join(entrant)}, level {level}")
    limits = [(value, posix_limit([row for row in rows if row["parameters"][parameter] == value])) for value in values]
    axis.plot([value for value, limit in limits if limit], [limit for _, limit in limits if limit], **LIMIT)
    if base:
        axis.set_xscale("log", base=base)
        axis.set_xticks(values, list(map(str, values)), fontsize=7)
    axis.set_yscale("log")
    axis.set_xlabel(label)


def fit(drawing):
    """Axes that are shared take all values in, also those of the later panels."""
    by_line = {}
    for axis in drawing.axes:
        drawn = [patch.get_height() for patch in axis.patches]
        drawn += [y for line in axis.lines for y in line.get_ydata()]
        by_line.setdefault(axis.get_subplotspec().rowspan.start, []).append((axis, [y for y in drawn if y > 0]))
    for found in by_line.values():
        values = [y for _, drawn in found for y in drawn]
        if values:
            found[0][0].set_ylim(min(values) / AIR, max(values) * AIR)


def draw(plt, rows, title, places, painter):
    entrants = entrants_of(rows)
    colours = colours_of(entrants)
    legend = {}
    for drawing, axis, own in panels(plt, rows, places):
        if own:
            painter(axis, own, entrants, colours)
            legend.update({label: handle for handle, label in zip(*axis.get_legend_handles_labels())})
    fit(drawing)
    columns = max(1, min(len(legend), int(drawing.get_figwidth() / LEGEND_INCH)))
    lines_below = -(-len(legend) // columns)
    drawing.legend(legend.values(), legend.keys(), loc="lower center", ncol=columns, fontsize=8)
    drawing.suptitle(textwrap.fill(title, int(drawing.get_figwidth() * TITLE_CHARACTERS_PER_INCH)), fontsize=11)
    height = drawing.get_figheight()
    drawing.tight_layout(rect=(0, (0.15 + 0.2 * lines_below) / height, 1, 1))
    return drawing


def plots_of(rows):
    """(name, title, rows, painter) of every plot: a workload, or a curve with what it holds constant."""
    found = {}
    for row in rows:
        moving = {row["curve"], *CURVES.get(row["curve"], ("", None, ()))[2]}
        fixed = [f"{name}={value}" for name, value in row["parameters"].items() if name not in moving]
        title = " ".join([row["workload"], *fixed]) + (f", by {row['curve']}" if row["curve"] else "")
        found.setdefault((title, lines if row["curve"] else bars), []).append(row)
    for (title, painter), own in found.items():
        yield "".join(c if c.isalnum() else "-" for c in title.replace(", ", "-")), title, own, painter


def save_png(drawing, path):
    """A few colours only: a fourth of the bytes."""
    from PIL import Image  # matplotlib needs it itself
    whole = io.BytesIO()
    drawing.savefig(whole, format="png", dpi=DPI)
    Image.open(whole).convert("RGB").quantize(PALETTE, dither=Image.Dither.NONE).save(path, optimize=True)


def drawings(plt, results, places):
    """(name, title, drawing): the papers' figures first."""
    for picture in paper_plots.pictures_of(results["rows"], places):
        yield picture.name, picture.title, paper_plots.draw(plt, picture)
    for name, title, rows, painter in plots_of(results["rows"]):
        yield name, title, draw(plt, rows, title, places, painter)


def draw_all(results, places, directory, endings=("png", "svg")):
    """Files of every plot; their names and titles. None without matplotlib."""
    plt = pyplot()
    if plt is None:
        return None
    os.makedirs(directory, exist_ok=True)
    made = []
    for name, title, drawing in drawings(plt, results, places):
        if "png" in endings:
            save_png(drawing, directory / f"{name}.png")
        if "svg" in endings:
            drawing.savefig(directory / f"{name}.svg")
        plt.close(drawing)
        made.append((name, title))
    return made
