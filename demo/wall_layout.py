"""The numbers of the wall: 3 × 2 screens of 1024 × 768 pixels whose pictures overlap by 270 and 128 pixels."""
from dataclasses import dataclass

COLUMNS, ROWS = 3, 2
RANKS = COLUMNS * ROWS
TILE_WIDTH, TILE_HEIGHT = 1024, 768
OVERLAP_X, OVERLAP_Y = 270, 128
FRAME_WIDTH = COLUMNS * TILE_WIDTH - (COLUMNS - 1) * OVERLAP_X
FRAME_HEIGHT = ROWS * TILE_HEIGHT - (ROWS - 1) * OVERLAP_Y
FRAME_BYTES = FRAME_WIDTH * FRAME_HEIGHT * 3


@dataclass(frozen=True)
class Part:
    """A rectangle of a frame, in pixels."""
    left: int
    top: int
    width: int
    height: int

    def within(self, other):
        """The same rectangle, seen from another one's corner."""
        return Part(self.left - other.left, self.top - other.top, self.width, self.height)

    def cut(self, picture):
        return picture[self.top:self.top + self.height, self.left:self.left + self.width]


def tile(rank):
    """What a rank's screen shows; neighbours' tiles overlap."""
    row, column = divmod(rank, COLUMNS)
    return Part(column * (TILE_WIDTH - OVERLAP_X), row * (TILE_HEIGHT - OVERLAP_Y), TILE_WIDTH, TILE_HEIGHT)


def owned(rank):
    """What a rank writes: its tile up to the middle of each overlap, so that every pixel has one owner."""
    row, column = divmod(rank, COLUMNS)
    left, right = _span(column, COLUMNS, TILE_WIDTH, OVERLAP_X)
    top, bottom = _span(row, ROWS, TILE_HEIGHT, OVERLAP_Y)
    return Part(left, top, right - left, bottom - top)


def _span(index, count, size, overlap):
    start = index * (size - overlap)
    first = start + overlap // 2 if index > 0 else start
    last = start + size - (overlap - overlap // 2) if index + 1 < count else start + size
    return first, last


def offset_of(frame, row, column):
    """Where a pixel's first byte lies in the raw file of a sequence."""
    return frame * FRAME_BYTES + (row * FRAME_WIDTH + column) * 3
