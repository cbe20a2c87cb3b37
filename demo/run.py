"""The demo: a display wall reads and writes pictures through each MPI's own MPI-IO and through Tamis, in turns.

Prints a table and leaves wall.png, bandwidths.png and results.json in the output folder. Ends with 1 if a byte was
wrong or Tamis did not finish; the MPI's own failures are shown in the table.
"""
import argparse
import json
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import grade
import mpi_hosts
import photo
import pictures
import wall_layout as layout

DEMO = Path(__file__).resolve().parent
LEVELS = {
    "0": "independent, one per row",
    "1": "collective, one per row",
    "2": "one independent, a view",
    "3": "one collective, a view",
    "limit": "contiguous pread/pwrite",
}
DIRECTIONS = ("read", "write")


@dataclass
class Series:
    """What one MPI-IO implementation did under one MPI, over all repetitions."""
    mpi: mpi_hosts.Mpi
    side: str                                     # "host" or "tamis"
    rates: dict = field(default_factory=dict)     # (level, direction) -> MB/s of each repetition
    troubles: dict = field(default_factory=dict)  # level -> why there is no figure
    broken: list = field(default_factory=list)    # levels whose bytes were wrong

    def rate(self, level, direction):
        rates = self.rates.get((level, direction))
        return statistics.median(rates) if rates else None


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=8, help="frames of the sequence (default 8)")
    parser.add_argument("--rows", type=int, default=12,
                        help="rows timed at level 1, where every row is a call of all ranks together (default 12)")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions, in turns (default 3)")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one start of the six ranks (default 60)")
    parser.add_argument("--mpi", action="append", choices=[mpi.name for mpi in mpi_hosts.HOSTS], help="default: all")
    parser.add_argument("--tamis", type=Path, default=mpi_hosts.ROOT / "build" / "bin" / "tamis",
                        help="the tamis command (default build/bin/tamis)")
    parser.add_argument("--host-only", action="store_true", help="measure the MPIs' own MPI-IO only")
    parser.add_argument("--mpi4py", choices=("3", "4"), default="3",
                        help="the mpi4py of wall.py; 3 by default, since ROMIO of MPICH 4.0 aborts with 4")
    parser.add_argument("--folder", type=Path, help="where the raw files are put (default: below build/)")
    parser.add_argument("--output", type=Path, default=mpi_hosts.ROOT / "demo-out", help="default demo-out/")
    return parser.parse_args()


def make_sequences(folder, frame_count):
    """The source sequence and, from whole frames, the processed one that the six ranks together must arrive at."""
    picture = photo.find(mpi_hosts.ROOT / "build" / "photo")
    source, expected = folder / "source.rgb", folder / "expected.rgb"
    with open(source, "wb") as raw, open(expected, "wb") as processed:
        for frame in photo.frames(picture, frame_count):
            raw.write(frame.tobytes())
            processed.write(grade.process(frame).tobytes())
    return source, expected


def wrong_bytes(result, expected, frame_count):
    """How many bytes of the result differ from what numpy made of whole frames."""
    wanted = np.memmap(expected, np.uint8, "r", shape=(frame_count * layout.FRAME_BYTES,))
    if result.stat().st_size != wanted.size:
        return max(wanted.size, 1)
    return int(np.count_nonzero(np.memmap(result, np.uint8, "r") != wanted))


def timed(level, arguments):
    """Frames of a level, and rows of each that are timed where a row is a call; one frame's rows at level 1."""
    return (1, min(arguments.rows, layout.TILE_HEIGHT)) if level == "1" else (arguments.frames, layout.TILE_HEIGHT)


def play(series, folder, expected, arguments):
    """All levels that have not failed before, in one start of the six ranks; after a failure the rest in another.
    Level 1, the slowest, comes last."""
    levels = [level for level in ("0", "2", "3", "limit", "1") if level not in series.troubles]
    for old in folder.glob("result.rgb.*"):
        old.unlink()
    while levels:
        outcome = start_ranks(series, folder, levels, arguments)
        for answer in json_lines(outcome.output):
            note(series, answer, folder / f"result.rgb.{answer['level']}", expected)
            levels.remove(answer["level"])
        if levels:
            series.troubles[levels.pop(0)] = f"> {arguments.timeout:g} s" if outcome.timed_out else "failed"
            print(outcome.output[-2000:], file=sys.stderr)


def start_ranks(series, folder, levels, arguments):
    """One run of wall.py. With mpi4py 3: MPICH 4.0's ROMIO aborts on the large-count datatypes of mpi4py 4."""
    command = series.mpi.mpiexec(layout.RANKS, [
        series.mpi.python, DEMO / "wall.py", folder / "source.rgb", folder / "result.rgb",
        *(":".join(map(str, (level, *timed(level, arguments)))) for level in levels)])
    if series.side == "tamis":
        command = [arguments.tamis, "run", "--", *command]
    environment = {} if arguments.mpi4py == "4" else {"PYTHONPATH": str(series.mpi.mpi4py_3)}
    return mpi_hosts.run(command, arguments.timeout, **environment)


def json_lines(text):
    for line in text.splitlines():
        if line.startswith('{"level"'):
            yield json.loads(line)


def note(series, answer, result, expected):
    level = answer["level"]
    if level != "limit" and wrong_bytes(result, expected, answer["frames"]):
        series.broken.append(level)
    for direction in DIRECTIONS:
        rate = answer[f"{direction}_bytes"] / 1e6 / answer[f"{direction}_s"]
        series.rates.setdefault((level, direction), []).append(rate)


def figure(series, level, direction):
    if series is None:
        return "–"
    if level in series.broken:
        return "[bold red]WRONG BYTES[/]"
    rate = series.rate(level, direction)
    return pictures.rate_words(rate) if rate is not None else f"[yellow]{series.troubles.get(level, '–')}[/]"


def ratio(host, tamis, level, direction):
    rates = [series.rate(level, direction) if series else None for series in (host, tamis)]
    if None in rates:
        return "–"
    times = rates[1] / rates[0]
    return f"[bold {'green' if times >= 1 else 'red'}]{pictures.rate_words(times)}×[/]"


def table_of(mpi, host, tamis, arguments):
    table = Table(title=f"{mpi.title}: {mpi.io} and Tamis, MB/s of all ranks together, median of {arguments.repeat}",
                  title_justify="left")
    table.add_column("level")
    table.add_column("a rank's requests for a frame")
    table.add_column("timed", justify="right")
    for direction in DIRECTIONS:
        for heading in (f"{direction} {mpi.io}", f"{direction} Tamis", "ratio"):
            table.add_column(heading, justify="right")
    for level, words in LEVELS.items():
        cells = []
        for direction in DIRECTIONS:
            if level == "limit":
                cells += ["", figure(host, level, direction), ""]
            else:
                cells += [figure(host, level, direction), figure(tamis, level, direction),
                          ratio(host, tamis, level, direction)]
        frames, rows = timed(level, arguments)
        table.add_row(level, words, f"{rows} rows" if level == "1" else f"{frames} frames", *cells,
                      style="dim" if level == "limit" else None)
    return table


def save(all_series, arguments):
    rows = [{
        "mpi": series.mpi.name, "side": series.side, "level": level, "direction": direction,
        "mb_per_s": rates, "median": statistics.median(rates),
    } for series in all_series.values() for (level, direction), rates in series.rates.items()]
    (arguments.output / "results.json").write_text(json.dumps(rows, indent=1))


def measure(hosts, sides, folder, expected, arguments, console):
    """Host and Tamis in turns, so that what else the machine does falls on both."""
    all_series = {(mpi.name, side): Series(mpi, side) for mpi in hosts for side in sides}
    for repetition in range(arguments.repeat):
        for mpi in hosts:
            for side in sides:
                console.print(f"  {repetition + 1}/{arguments.repeat}  {mpi.title}, "
                              f"{'Tamis' if side == 'tamis' else mpi.io}", style="dim")
                play(all_series[mpi.name, side], folder, expected, arguments)
        if repetition == 0:
            keep_wall(folder, arguments)
    return all_series


def keep_wall(folder, arguments):
    """The picture of the wall shows what the ranks themselves wrote at level 3."""
    result = folder / "result.rgb.3"
    if result.is_file():
        sequence = np.fromfile(result, np.uint8).reshape(-1, layout.FRAME_HEIGHT, layout.FRAME_WIDTH, 3)
        pictures.draw_wall(sequence, photo.SOURCE, arguments.output / "wall.png")


def report(hosts, all_series, arguments, console):
    """Prints the tables; true if every byte was right and Tamis finished everything."""
    good = True
    for mpi in hosts:
        host, tamis = all_series[mpi.name, "host"], all_series.get((mpi.name, "tamis"))
        console.print()
        console.print(table_of(mpi, host, tamis, arguments))
        for series in filter(None, (host, tamis)):
            good &= not series.broken
            good &= series.side == "host" or not series.troubles
    return good


def main():
    mpi_hosts.end_by_signals()
    arguments = parse_arguments()
    console = Console(width=max(Console().width, 118))
    hosts = mpi_hosts.installed_hosts(arguments.mpi)
    if not hosts:
        sys.exit("demo: no MPI found (mpiexec.mpich, mpiexec.openmpi)")
    if not arguments.host_only and not arguments.tamis.is_file():
        sys.exit(f"demo: {arguments.tamis} is not built; `make build` builds it, --host-only leaves it out")
    arguments.output.mkdir(parents=True, exist_ok=True)
    parent = arguments.folder or mpi_hosts.ROOT / "build"
    folder = Path(tempfile.mkdtemp(prefix="demo-", dir=parent))
    try:
        console.print(f"Photograph: {photo.SOURCE}")
        source, expected = make_sequences(folder, arguments.frames)
        console.print(f"{arguments.frames} frames of {layout.FRAME_WIDTH} × {layout.FRAME_HEIGHT} pixels, "
                      f"{source.stat().st_size / 1e6:.0f} MB, in {folder}; {layout.RANKS} ranks on "
                      f"{mpi_hosts.cores()} cores, files on {mpi_hosts.file_system(folder)}")
        sides = ("host",) if arguments.host_only else ("host", "tamis")
        all_series = measure(hosts, sides, folder, expected, arguments, console)
    except photo.PhotoMissing as error:
        sys.exit(f"demo: {error}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    good = report(hosts, all_series, arguments, console)
    save(all_series, arguments)
    pictures.draw_bandwidths(hosts, all_series, arguments.output / "bandwidths.png")
    verdict = "every byte read and written is right" if good else "[bold red]not everything is right, see above[/]"
    console.print(f"\nChecked against numpy: {verdict}. Pictures: {arguments.output}/wall.png, bandwidths.png")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
