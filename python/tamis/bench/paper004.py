"""Tables 1 to 3 of paper 004 (Ching, Choudhary, Liao, Ross, Gropp: datatype I/O), typed in, and its three
access patterns as arithmetic: which runs of the file a client wants. MB are 2^20 bytes."""

from dataclasses import dataclass
from typing import Optional

QUANTITIES = ("desired", "accessed", "operations", "resent")
METHODS = ("POSIX I/O", "data sieving", "two-phase", "list I/O", "datatype I/O")
BUFFER_BYTES = 4 << 20  # of data sieving and of two-phase, section 4.1
LIST_REGIONS = 64  # of a request of list I/O


@dataclass(frozen=True)
class Table:
    """Per client: what the paper prints, by method, in the order of QUANTITIES; None: a dash."""

    number: int
    workload: str
    clients: int
    direction: str
    printed: dict

    def printed_at(self, method, quantity) -> Optional[str]:
        return self.printed[method][QUANTITIES.index(quantity)]


def table(number, workload, clients, direction, *rows):
    return Table(number, workload, clients, direction, dict(zip(METHODS, rows)))


TABLES = (
    table(1, "tile", 6, "read",
          ("2.25", "2.25", "768", None), ("2.25", "5.56", "2", None), ("2.25", "1.70", "1", "1.50"),
          ("2.25", "2.25", "12", None), ("2.25", "2.25", "1", None)),
    table(2, "block3d", 8, "read",
          ("103", "103", "90,000", None), ("103", "412", "103", None), ("103", "103", "26", "77.2"),
          ("103", "103", "1,408", None), ("103", "103", "1", None)),
    table(2, "block3d", 27, "read",
          ("30.5", "30.5", "40,000", None), ("30.5", "274.7", "69", None), ("30.5", "30.5", "8", "27.1"),
          ("30.5", "30.5", "626", None), ("30.5", "30.5", "1", None)),
    table(2, "block3d", 64, "read",
          ("12.9", "12.9", "22,500", None), ("12.9", "206.0", "52", None), ("12.9", "12.9", "4", "12.1"),
          ("12.9", "12.9", "352", None), ("12.9", "12.9", "1", None)),
    # Resent: 7.5 MB times a factor in n, the number of clients; 3.75 is its value for two.
    table(3, "flash", 2, "write",
          ("7.50", "7.50", "983,040", None), (None, None, None, None), ("7.50", "7.50", "2", "3.75"),
          ("7.50", "7.50", "15,360", None), ("7.50", "7.50", "1", None)),
)
# A frame of the tile reader is one call; the others are one call in all.
ONE_CALL = {"tile": ("--frames", "1")}


def tile_runs(rank, _ranks, sizes):
    """3 x 2 displays: a run for each row of pixels."""
    width, height = sizes["width"], sizes["height"]
    row_bytes = (3 * width - 2 * sizes["overlap_x"]) * sizes["pixel"]
    first_row = rank // 3 * (height - sizes["overlap_y"])
    at = rank % 3 * (width - sizes["overlap_x"]) * sizes["pixel"]
    for row in range(first_row, first_row + height):
        yield row * row_bytes + at, width * sizes["pixel"]


def block3d_runs(rank, ranks, sizes):
    """A cube of clients: a run for each row of a client's block."""
    n, edge = sizes["n"], round(ranks ** (1 / 3))
    block = -(-n // edge)
    first = [place * block for place in (rank // edge ** 2, rank // edge % edge, rank % edge)]
    sides = [max(0, min(block, n - start)) for start in first]
    for plane in range(first[0], first[0] + sides[0]):
        for row in range(first[1], first[1] + sides[1]):
            yield ((plane * n + row) * n + first[2]) * 4, sides[2] * 4


def flash_runs(rank, ranks, sizes):
    """Variable by variable, client by client."""
    run = sizes["blocks"] * sizes["cells"] ** 3 * 8
    for variable in range(sizes["variables"]):
        yield (variable * ranks + rank) * run, run


RUNS = {"tile": tile_runs, "block3d": block3d_runs, "flash": flash_runs}
