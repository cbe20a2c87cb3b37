"""Sums over ways, and the least the storage would need for the same bytes."""

import math
from dataclasses import dataclass

from ..units import duration
from .document import COUNTERS, PHASES, REQUEST_SIZES, SIZES

LARGE_REQUEST = 1 << 20  # the ideal's requests; from there on the fixed cost of one hardly counts
OTHER = "other"  # time in calls that is in no phase


def quotient(part, whole):
    return part / whole if whole else None


class Figures:
    """Sums over some ways. Every name of COUNTERS and SIZES is an attribute."""

    def __init__(self, ways):
        self.ways = tuple(ways)
        for name in COUNTERS:
            setattr(self, name, sum(getattr(way, name) for way in self.ways))
        self.ns = {phase: sum(way.ns[phase] for way in self.ways) for phase in PHASES}
        self.total_ns = sum(way.ns["total"] for way in self.ways)
        self.memory = max((way.memory for way in self.ways), default=0)
        self.aggregators = max((way.aggregators for way in self.ways), default=0)
        for name in SIZES:
            setattr(self, name, [sum(getattr(way, name)[k] for way in self.ways) for k in range(REQUEST_SIZES)])

    @property
    def requests(self):
        return self.reads + self.writes

    @property
    def accessed(self):
        return self.bytes_read + self.bytes_written

    @property
    def wasted(self):
        """Bytes that crossed to or from the storage without being wanted; ways do not make up for each other."""
        return sum(max(0, way.bytes_read + way.bytes_written - way.bytes_wanted) for way in self.ways)

    @property
    def mean_request(self):
        return quotient(self.accessed, self.requests) or 0

    @property
    def mean_call(self):
        return quotient(self.bytes_wanted, self.calls) or 0

    @property
    def mean_piece(self):
        return quotient(self.bytes_wanted, self.pieces) or 0

    @property
    def pieces_per_call(self):
        return quotient(self.pieces, self.calls) or 0

    @property
    def slowest_ns(self):
        """The slowest rank's time, added up over ways: an upper bound where ranks differ from way to way."""
        return sum(way.slowest_ns for way in self.ways)

    def spent_on_slowest(self, opens):
        """In words: a bound where sums over ways or opens may be of several ranks."""
        bound = "" if len(self.ways) == 1 and opens == 1 else "at most "
        return f"{bound}{duration(self.slowest_ns)} on the slowest rank"

    def shares(self):
        """(phase, ns) in the order of PHASES; what no phase accounts for is OTHER."""
        other = max(0, self.total_ns - sum(self.ns.values()))
        return [*self.ns.items(), (OTHER, other)]


@dataclass(frozen=True)
class Distance:
    """Time taken beside the least the storage would need for the bytes wanted, by the cost model."""

    ideal_ns: float
    taken_ns: float
    source: str
    measured: bool

    @property
    def ratio(self):
        return quotient(self.taken_ns, self.ideal_ns)

    @property
    def basis(self):
        if self.measured:
            return f"The storage's figures were measured ({self.source}); the rest is the model's arithmetic."
        return (
            "An estimate: the storage's figures are built-in ones, not measured here; "
            "tamis calibrate PATH measures them."
        )


def work_ns(costs, direction, wanted):
    """`wanted` bytes in requests of LARGE_REQUEST, one after the other."""
    fixed = costs.write_ns if direction == "write" else costs.read_ns
    return math.ceil(wanted / LARGE_REQUEST) * fixed + wanted * costs.byte_ns


def ideal_ns(costs, direction, wanted, hands):
    """The least for one file: writes to it take turns, reads go on side by side."""
    work = work_ns(costs, direction, wanted)
    return work if direction == "write" else work / hands
