"""Files and jobs with their figures and the advice for them."""

from functools import cached_property

from . import advice
from .figures import Distance, Figures, ideal_ns


class FileStudy:
    """One file of a job."""

    def __init__(self, file, job):
        self.file, self.job = file, job
        self.ways = sorted((way for way in file.ways if way.calls), key=lambda way: -way.ns["total"])
        self.all = Figures(self.ways)

    @staticmethod
    def figures(way):
        return Figures([way])

    def of(self, direction):
        return Figures(way for way in self.ways if way.direction == direction)

    @cached_property
    def hands(self):
        """How many ranks can be busy at once."""
        return max(1, min(self.file.ranks, self.job.cores * self.job.nodes))

    @cached_property
    def taken_ns(self):
        return min(self.all.slowest_ns, round(self.file.seconds * 1e9) or self.all.slowest_ns)

    @cached_property
    def distance(self):
        costs = self.file.costs
        ideal = sum(
            ideal_ns(costs, direction, self.of(direction).bytes_wanted, self.hands)
            for direction in ("read", "write")
        )
        return Distance(ideal, self.taken_ns, costs.source, costs.measured)

    @cached_property
    def advice(self):
        return advice.for_file(self)

    @property
    def stripe_bytes(self):
        told = self.file.hints.get("striping_unit", "0")
        return int(told) if told.isdigit() and int(told) else self.file.stripe_bytes

    def used_directions(self):
        return [direction for direction in ("read", "write") if self.of(direction).calls]

    def changed_hints(self):
        """(hint, value, source) of those that somebody set."""
        return [
            (key, value, self.file.hint_sources.get(key, "default"))
            for key, value in sorted(self.file.hints.items())
            if self.file.hint_sources.get(key, "default") != "default"
        ]


class JobStudy:
    """One job; its files with the longest in I/O first."""

    def __init__(self, job):
        self.job = job
        self.files = sorted((FileStudy(file, job) for file in job.files), key=lambda study: -study.taken_ns)
        self.all = Figures(way for study in self.files for way in study.ways)

    @cached_property
    def taken_ns(self):
        return sum(study.taken_ns for study in self.files)

    @cached_property
    def distance(self):
        sources = sorted({study.distance.source for study in self.files})
        return Distance(
            sum(study.distance.ideal_ns for study in self.files),
            self.taken_ns,
            ", ".join(sources),
            all(study.distance.measured for study in self.files),
        )

    @cached_property
    def advice(self):
        """Of all files, what costs most first."""
        return advice.ordered(one for study in self.files for one in study.advice)

    def bytes(self, direction):
        return sum(study.of(direction).bytes_wanted for study in self.files)
