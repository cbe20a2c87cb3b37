"""The two pictures of the demo: the wall itself, and the bandwidths side by side."""
import math

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

import wall_layout as layout

_ROOM, _BEZEL, _EDGE, _TEXT, _FAINT = "#15171b", "#08090b", "#33373f", "#d8dbe0", "#8b9099"
_HOST, _TAMIS, _LIMIT = "#b3b8c2", "#0f766e", "#9a3412"

_LEVELS = ("rows, independent", "rows, collective", "view, independent", "view, collective")

_SCREEN = (640, 480)   # a tile as drawn
_FRAME = 12            # width of a bezel
_GAP = 10
_MARGIN = 56


def _font(size):
    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)


def draw_wall(sequence, credit, path):
    """Six screens with the middle of the processed sequence, each rank's whole tile, and all frames as a film strip."""
    step = (_SCREEN[0] + 2 * _FRAME + _GAP, _SCREEN[1] + 2 * _FRAME + _GAP)
    width = 2 * _MARGIN + layout.COLUMNS * step[0] - _GAP
    wall_bottom = _MARGIN + layout.ROWS * step[1] - _GAP
    strip_height = _strip_height(len(sequence), width)
    canvas = Image.new("RGB", (width, wall_bottom + strip_height + 176), _ROOM)
    draw = ImageDraw.Draw(canvas)
    shown = sequence[len(sequence) // 3]
    for rank in range(layout.RANKS):
        row, column = divmod(rank, layout.COLUMNS)
        corner = (_MARGIN + column * step[0], _MARGIN + row * step[1])
        _draw_screen(canvas, draw, corner, rank, shown)
    _draw_strip(canvas, draw, sequence, wall_bottom + 36, strip_height)
    _draw_captions(draw, wall_bottom + 36 + strip_height + 22, credit)
    canvas.save(path)


def _draw_screen(canvas, draw, corner, rank, frame):
    outer = (*corner, corner[0] + _SCREEN[0] + 2 * _FRAME, corner[1] + _SCREEN[1] + 2 * _FRAME)
    draw.rounded_rectangle(outer, radius=10, fill=_BEZEL, outline=_EDGE, width=2)
    tile = Image.fromarray(layout.tile(rank).cut(frame))
    origin = (corner[0] + _FRAME, corner[1] + _FRAME)
    picture = tile.resize(_SCREEN, Image.Resampling.LANCZOS).convert("RGBA")
    picture.alpha_composite(_overlap_marks(rank))
    canvas.paste(picture.convert("RGB"), origin)


def _overlap_marks(rank):
    """A light veil over what the neighbours show too, with a fine line where it begins, and the rank's number."""
    scale = _SCREEN[0] / layout.TILE_WIDTH
    row, column = divmod(rank, layout.COLUMNS)
    width, height = _SCREEN
    across, down = round(layout.OVERLAP_X * scale), round(layout.OVERLAP_Y * scale)
    marks = Image.new("RGBA", _SCREEN, (0, 0, 0, 0))
    draw = ImageDraw.Draw(marks)
    for shared, box in ((column > 0, (0, 0, across, height)),
                        (column + 1 < layout.COLUMNS, (width - across, 0, width, height)),
                        (row > 0, (0, 0, width, down)),
                        (row + 1 < layout.ROWS, (0, height - down, width, height))):
        if shared:
            veil = Image.new("RGBA", _SCREEN, (0, 0, 0, 0))
            ImageDraw.Draw(veil).rectangle(box, fill=(255, 255, 255, 20))
            marks.alpha_composite(veil)
    for at in [across] * (column > 0) + [width - across] * (column + 1 < layout.COLUMNS):
        _dashes(draw, (at, 0), (at, height))
    for at in [down] * (row > 0) + [height - down] * (row + 1 < layout.ROWS):
        _dashes(draw, (0, at), (width, at))
    draw.text((width - 12, 8), f"rank {rank}", font=_font(15), fill=(255, 255, 255, 215), anchor="ra",
              stroke_width=2, stroke_fill=(0, 0, 0, 110))
    return marks


def _dashes(draw, start, end, dash=4, pause=9):
    length = max(end[0] - start[0], end[1] - start[1])
    upright = start[0] == end[0]
    for first in range(0, length, dash + pause):
        last = min(first + dash, length)
        points = ((start[0], first), (start[0], last)) if upright else ((first, start[1]), (last, start[1]))
        draw.line(points, fill=(255, 255, 255, 150), width=1)


def _strip_width(count, width):
    return (width - 2 * _MARGIN - (count - 1) * _GAP) / count


def _strip_height(count, width):
    return min(round(_strip_width(count, width) * layout.FRAME_HEIGHT / layout.FRAME_WIDTH), 220)


def _draw_strip(canvas, draw, sequence, top, height):
    count = len(sequence)
    width = min(_strip_width(count, canvas.width), height * layout.FRAME_WIDTH / layout.FRAME_HEIGHT)
    for number, frame in enumerate(sequence):
        left = round(_MARGIN + number * (width + _GAP))
        size = (round(width), height)
        canvas.paste(Image.fromarray(frame).resize(size, Image.Resampling.LANCZOS), (left, top))
        if number == count // 3:
            draw.rectangle((left - 3, top - 3, left + size[0] + 2, top + height + 2), outline=_TEXT, width=2)


def _draw_captions(draw, top, credit):
    draw.text((_MARGIN, top), "Six MPI ranks, six screens: each reads its own overlapping tile of every frame, "
              "grades it and writes the part it owns.", font=_font(23), fill=_TEXT)
    draw.text((_MARGIN, top + 38), f"{layout.COLUMNS} × {layout.ROWS} screens of {layout.TILE_WIDTH} × "
              f"{layout.TILE_HEIGHT} pixels, overlaps of {layout.OVERLAP_X} and {layout.OVERLAP_Y} pixels (veiled), "
              f"frames of {layout.FRAME_WIDTH} × {layout.FRAME_HEIGHT}.  Picture: {credit}.",
              font=_font(17), fill=_FAINT)


def rate_words(rate):
    """MB/s with as many digits as are worth reading."""
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def draw_bandwidths(hosts, all_series, path):
    """Grouped bars, the MPI's own MPI-IO beside Tamis, at levels 0 to 3; what contiguous access reaches as a line."""
    plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 11, "axes.edgecolor": "#6b7280"})
    figure, grid = plt.subplots(len(hosts), 2, figsize=(12.5, 0.9 + 3.9 * len(hosts)), sharey=True, squeeze=False,
                                layout="constrained")
    lowest, highest = _span(all_series)
    for mpi, row in zip(hosts, grid):
        for direction, axes in zip(("read", "write"), row):
            axes.set_yscale("log")
            axes.set_ylim(lowest, highest)
            _draw_panel(axes, mpi, all_series, direction)
    handles, labels = _legend()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(f"A display wall of {layout.RANKS} ranks: how fast its tiles are read and written", x=0.01,
                    ha="left", fontsize=15, fontweight="bold")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _span(all_series):
    """The powers of ten around every figure, with room for what is written above the bars."""
    rates = [rate for series in all_series.values() for rates in series.rates.values() for rate in rates]
    return 10 ** math.floor(math.log10(min(rates, default=1))), 3 * 10 ** math.ceil(math.log10(max(rates, default=10)))


def _legend():
    return ([plt.Rectangle((0, 0), 1, 1, color=_HOST), plt.Rectangle((0, 0), 1, 1, color=_TAMIS),
             plt.Line2D([], [], color=_LIMIT, linestyle=(0, (4, 3)))],
            ["the MPI's own MPI-IO", "Tamis", "contiguous pread/pwrite"])


def _draw_panel(axes, mpi, all_series, direction):
    host, tamis = all_series[mpi.name, "host"], all_series.get((mpi.name, "tamis"))
    for level in range(4):
        rates = [series.rate(str(level), direction) if series else None for series in (host, tamis)]
        for rate, shift, colour in zip(rates, (-0.2, 0.2), (_HOST, _TAMIS)):
            if rate is not None:
                axes.bar(level + shift, rate, 0.36, color=colour, zorder=2)
                axes.annotate(rate_words(rate), (level + shift, rate), (0, 3), textcoords="offset points", ha="center",
                              fontsize=9.5, color="#374151", bbox={"fc": "white", "ec": "none", "pad": 0.4})
        if rates[0] is None and str(level) in host.troubles:
            axes.annotate(host.troubles[str(level)], (level - 0.2, axes.get_ylim()[0] * 1.3),
                          ha="center", rotation=90, fontsize=9.5)
        if None not in rates:
            axes.annotate(f"{rate_words(rates[1] / rates[0])}×", (level, 0), (0, -46),
                          xycoords=axes.get_xaxis_transform(), textcoords="offset points", ha="center",
                          fontweight="bold", color=_TAMIS if rates[1] >= rates[0] else _LIMIT)
    limit = host.rate("limit", direction)
    if limit is not None:
        axes.axhline(limit, color=_LIMIT, linestyle=(0, (4, 3)), linewidth=1.3, zorder=1)
    _style_panel(axes, mpi, direction)


def _style_panel(axes, mpi, direction):
    axes.set_xlim(-0.6, 3.6)
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.set_ylabel("MB/s, all ranks (log scale)")
    axes.set_xticks(range(4), [f"level {level}\n{words}" for level, words in enumerate(_LEVELS)])
    axes.set_title(f"{mpi.title} ({mpi.io}), {direction}", loc="left", fontsize=12)
    axes.grid(axis="y", color="#e5e7eb", zorder=0)
    axes.tick_params(length=0, labelsize=10)
    axes.spines[["top", "right", "left"]].set_visible(False)
