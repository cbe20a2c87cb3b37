"""What can be measured: workloads with their parameters, the sets of them, and the other programs."""

import json
import math
import subprocess
from dataclasses import dataclass
from typing import Optional

from ..errors import UserError

LEVELS = "0123"
CURVE_LEVELS = "23"  # where a case is about sieving and exchange, not about calls per piece
NO_GAPS, GAPS = "contiguous", "noncontiguous"
# Of noncontig, in memory and in the file; those of figures 2, 3 and 4 of paper 003, the last the workload's default.
FIGURES_OF_003 = ((GAPS, NO_GAPS), (NO_GAPS, GAPS), (GAPS, GAPS))
OTHER_LAYOUTS = ((NO_GAPS, NO_GAPS), (GAPS, NO_GAPS), (NO_GAPS, GAPS))
KINDS = ("rows", "curves")
ELEMENTS_OF_VECTOR = 1024  # veclen times elmtcount, in all figures of 003
GAUGES = ("contig", "nothing", "bigvector", "memory")
GAUGE_RANKS = {"contig": 1, "bigvector": 1, "memory": 4}  # nothing: as many as are asked for


@dataclass(frozen=True)
class Variant:
    """Tamis with hints, beside Tamis without: it takes its turns as well, and is nobody's peer."""

    name: str
    hints: tuple  # of NAME=VALUE
    levels: str = "3"
    ops: tuple = ("write",)


WRITE_BEHIND = Variant("write-behind", ("tamis_write_behind=64M",))
PERSISTENT = ("tamis_realms=persistent",)
ALIGNED = ("romio_cb_fr_alignment=1M",)
# Figure 7 of paper 001 has persistent realms, aligned ones, both, neither.
REALMS = (WRITE_BEHIND, Variant("persistent realms", PERSISTENT), Variant("aligned realms", ALIGNED),
          Variant("persistent, aligned", PERSISTENT + ALIGNED))
# Figure 5 of paper 001: one method throughout.
METHODS = (Variant("always sieving", ("romio_ds_write=enable",)), Variant("never sieving", ("romio_ds_write=disable",)))


@dataclass(frozen=True)
class Case:
    """A program and its size: a row of figures, or a point of a curve."""

    workload: str  # or the name of a gauge
    parameters: tuple = ()  # of (name, value): what differs from the set's size
    levels: str = LEVELS
    curve: str = ""  # the parameter that runs along the curve
    reads_only: bool = False
    once: bool = False  # in the first directory and round only
    variants: tuple = ()
    most_ranks: int = 0  # left out where more are asked for; 0: never

    @property
    def is_gauge(self):
        return self.workload in GAUGES

    @property
    def name(self):
        settings = (f"{name}={value}" if value != "" else name for name, value in self.parameters)
        return " ".join([self.workload, *settings])

    @property
    def ops(self):
        return ("read",) if self.reads_only else ("write", "read")

    def ranks_near(self, ranks):
        """BTIO wants a square number; the gauges have numbers of their own."""
        if self.workload in GAUGE_RANKS:
            return GAUGE_RANKS[self.workload]
        return max(1, round(math.sqrt(ranks))) ** 2 if self.workload == "btio" else ranks


@dataclass(frozen=True)
class Set:
    """How much of everything."""

    ranks: tuple
    many_ranks: tuple  # of the workloads of AT_MANY_RANKS, too, where nobody says otherwise
    rounds: int
    reps: int
    budget: int  # seconds for a level in a job
    timeout: int
    seconds: Optional[int]  # for all; None: as long as it takes
    scale: float
    paper: bool
    region_sizes: tuple
    region_types: tuple
    extents: tuple
    fills: tuple
    layouts: tuple  # of noncontig, beside its default
    element_counts: tuple
    cyclic: int  # pieces of eight bytes of each rank, in turn; 0: none


# One of each kind: arrays, holes in memory, regions, time steps.
AT_MANY_RANKS = ("dist3d", "btio", "hpio", "timesteps", "nothing")
REGION_TYPES = ("succinct", "vector", "enumerated")

SETS = {
    "short": Set(ranks=(4,), many_ranks=(), rounds=3, reps=2, budget=1, timeout=30, seconds=300, scale=0.25,
                 paper=False, region_sizes=(8, 128, 2048), region_types=("succinct",), extents=(16384,),
                 fills=(10, 50, 100), layouts=(), element_counts=(), cyclic=0),
    "standard": Set(ranks=(2, 4, 8), many_ranks=(16,), rounds=3, reps=3, budget=3, timeout=120, seconds=None, scale=1,
                    paper=False,
                    region_sizes=(8, 32, 128, 512, 2048, 4096), region_types=REGION_TYPES,
                    extents=(4096, 16384, 65536), fills=(3, 10, 25, 50, 75, 100), layouts=OTHER_LAYOUTS,
                    element_counts=(1, 8, 32, 128), cyclic=131072),
    "paper": Set(ranks=(4, 8), many_ranks=(16,), rounds=3, reps=3, budget=20, timeout=900, seconds=None, scale=1,
                 paper=True, region_sizes=(8, 32, 128, 512, 2048, 4096), region_types=REGION_TYPES,
                 extents=(1024, 4096, 16384, 65536), fills=(3, 10, 25, 40, 55, 70, 85, 100),
                 layouts=OTHER_LAYOUTS, element_counts=(1, 2, 4, 8, 16, 32, 64, 128), cyclic=1048576),
}


def catalogue(program):
    """The workloads as their program lists them, by name."""
    answer = subprocess.run([str(program), "--list"], stdout=subprocess.PIPE, check=False)
    if answer.returncode != 0:
        raise UserError(f"{program} --list ended with {answer.returncode}")
    return {workload["name"]: workload for workload in json.loads(answer.stdout)}


def layouts(chosen):
    """noncontig without gaps in memory, in the file, in both; the workload alone has them in both."""
    for memory, file in chosen.layouts:
        yield Case("noncontig", (("memory", memory), ("file", file)), CURVE_LEVELS)


def chunk_curves(chosen):
    """Figures 2 to 4 of paper 003: fewer and larger chunks of the same vectors."""
    for memory, file in FIGURES_OF_003:
        for elements in chosen.element_counts:
            chunks = (("elmtcount", elements), ("veclen", ELEMENTS_OF_VECTOR // elements))
            yield Case("noncontig", (("memory", memory), ("file", file), *chunks), CURVE_LEVELS, curve="elmtcount")


def curves(chosen):
    """Figures 4 and 5 of paper 001: region sizes by type; a constant extent filled more and more. And of 003."""
    yield from chunk_curves(chosen)
    for kind in chosen.region_types:
        for size in chosen.region_sizes:
            yield Case("hpio", (("type", kind), ("size", size)), CURVE_LEVELS, curve="size")
    for extent in chosen.extents:
        for fill in chosen.fills:
            yield Case("fill", (("extent", extent), ("fill", fill)), CURVE_LEVELS, curve="fill", variants=METHODS)


def cyclic(chosen):
    """The smallest pieces there are, the ranks' in turn, without gaps; with many ranks peers take minutes."""
    if chosen.cyclic:
        yield Case("hpio", (("size", 8), ("spacing", 0), ("count", chosen.cyclic)), CURVE_LEVELS, most_ranks=4)


def gauges(short):
    """The shortest first: in a run with an end the long series takes what time is left."""
    yield Case("contig", (("blocks", 100 if short else 300),))
    yield Case("nothing", (("budget", 0.5 if short else 1),), once=True)
    yield Case("bigvector", (("blocks", 1_000_000), ("access", 524288)), once=True)
    if not short:
        yield Case("bigvector", (("blocks", 100_000_000),), once=True)
    yield Case("memory", (("sizes", "4,16" if short else "4,16,64"), ("buffers", "1,4,16")), once=True)
    yield Case("memory", (("sizes", "4"), ("buffers", "4"), ("block", 8), ("listed", "")), once=True)


def parse_word(word, known):
    """A workload, with parameters behind colons: hpio:size=64:type=enumerated."""
    name, *settings = word.split(":")
    if name not in known and name not in GAUGES:
        raise UserError(f"there is no workload {name}: it is one of {', '.join([*known, *GAUGES])}")
    pairs = [tuple(setting.partition("=")[::2]) for setting in settings]
    parameters = {parameter["name"] for parameter in known.get(name, {}).get("parameters", ())}
    for key, value in pairs:
        if not value or (name in known and key not in parameters):
            raise UserError(f"{word}: {name} takes {', '.join(sorted(parameters))}, each as NAME=VALUE")
    return name, tuple(pairs)


def cases_of(words, set_name, known, kinds=KINDS):
    """The words' cases, or the whole set where there are none; the points of their curves last, since a run
    whose time is over had better leave out those."""
    chosen = SETS[set_name]
    usual = [*gauges(set_name == "short"), *layouts(chosen), *cyclic(chosen), *curves(chosen)]
    found = []
    for word in words or [*GAUGES, *known]:
        name, parameters = parse_word(word, known)
        same = [case for case in usual if case.workload == name and not parameters]
        if name in known:
            found.append(Case(name, parameters, reads_only=known[name]["reads_only"],
                              variants=REALMS if name == "timesteps" else ()))
        elif not same:
            found.append(Case(name, parameters, once=True))
        found += same
    wanted = [case for case in dict.fromkeys(found) if ("curves" if case.curve else "rows") in kinds]
    return sorted(wanted, key=lambda case: bool(case.curve))


def ranks_of(case, set_name, asked):
    """The numbers of ranks for a case: those asked for, otherwise the set's."""
    chosen = SETS[set_name]
    more = chosen.many_ranks if case.workload in AT_MANY_RANKS and not case.curve else ()
    return tuple(dict.fromkeys(case.ranks_near(number) for number in asked or chosen.ranks + more
                               if number <= case.most_ranks or not case.most_ranks))
