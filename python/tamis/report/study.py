"""Files and jobs with their figures and the advice for them."""

from functools import cached_property

from . import advice
from .figures import Distance, Figures, ideal_ns, work_ns


DIRECTIONS = ("read", "write")


def at_most(ns, seconds):
    """No rank spends longer in calls than the file, or the job, lasts; 0 seconds: not known."""
    return min(ns, round(seconds * 1e9) or ns)


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
        """Time in I/O of the slowest rank; at most, unless is_exact."""
        return at_most(self.all.slowest_ns, self.file.seconds)

    @property
    def is_exact(self):
        """Whether one rank is known to have spent all of taken_ns: a way of one open has a slowest rank."""
        return len(self.ways) <= 1 and self.file.opens <= 1 and self.taken_ns == self.all.slowest_ns

    @cached_property
    def work_ns(self):
        """What the storage needs at least where nothing goes on side by side."""
        return sum(
            work_ns(self.file.costs, direction, self.of(direction).bytes_wanted) for direction in DIRECTIONS
        )

    @cached_property
    def distance(self):
        costs = self.file.costs
        ideal = sum(
            ideal_ns(costs, direction, self.of(direction).bytes_wanted, self.hands) for direction in DIRECTIONS
        )
        return Distance(ideal, self.taken_ns, costs.source, costs.measured)

    @cached_property
    def advice(self):
        return advice.for_file(self)

    def used_directions(self):
        return [direction for direction in DIRECTIONS if self.of(direction).calls]

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
        """Time in I/O of the slowest rank; at most, unless is_exact: files may have been different ranks'."""
        return at_most(sum(study.taken_ns for study in self.files), self.job.seconds)

    @property
    def is_exact(self):
        used = [study for study in self.files if study.taken_ns]
        return all(study.is_exact for study in used) and len(used) <= 1 and self.taken_ns == self.all.slowest_ns

    @cached_property
    def ideal_ns(self):
        """The least for all files: they go on side by side, as far as there are ranks and cores."""
        hands = max(1, min(self.job.ranks, self.job.cores * self.job.nodes))
        longest = max((study.distance.ideal_ns for study in self.files), default=0)
        return max(longest, sum(study.work_ns for study in self.files) / hands)

    @cached_property
    def distance(self):
        sources = sorted({study.distance.source for study in self.files})
        return Distance(
            self.ideal_ns,
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
