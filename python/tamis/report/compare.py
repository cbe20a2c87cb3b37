"""Jobs side by side."""

from dataclasses import dataclass

from .figures import quotient

ALIKE = 1.1  # jobs whose bytes wanted differ by more do different work: their sums say nothing about each other


@dataclass(frozen=True)
class Measure:
    """A line of a comparison."""

    name: str
    unit: str  # "ns", "bytes", "count", "ratio": how its values are printed
    of: object  # a function of a FileStudy or JobStudy
    lower_is_better: bool | None = True  # None: neither is
    relative: bool = False  # does not grow with the bytes wanted


MEASURES = (
    Measure("a rank's time in I/O, at most", "ns", lambda s: s.taken_ns),
    Measure("time in I/O, all ranks", "ns", lambda s: s.all.total_ns),
    Measure("calls", "count", lambda s: s.all.calls),
    Measure("bytes wanted", "bytes", lambda s: s.all.bytes_wanted, None),
    Measure("bytes accessed", "bytes", lambda s: s.all.accessed),
    Measure("bytes wasted", "bytes", lambda s: s.all.wasted),
    Measure("bytes between ranks", "bytes", lambda s: s.all.bytes_resent, None),
    Measure("requests to the storage", "count", lambda s: s.all.requests),
    Measure("mean request", "bytes", lambda s: s.all.mean_request, False, True),
    Measure("read-modify-writes", "count", lambda s: s.all.rewrites),
    Measure("locks", "count", lambda s: s.all.locks),
    Measure("time waiting for locks", "ns", lambda s: s.all.ns["lock"]),
    Measure("over the storage's least", "ratio", lambda s: s.distance.ratio or 0, True, True),
)


@dataclass(frozen=True)
class Comparison:
    measure: Measure
    values: tuple
    ratios: tuple  # of each job after the first to the first; None: nothing to divide by
    comparable: bool  # the jobs want about the same bytes

    def verdict(self, ratio):
        """ "better", "worse" or "" for a ratio."""
        if ratio is None or self.measure.lower_is_better is None or 0.95 <= ratio <= 1.05:
            return ""
        if not (self.comparable or self.measure.relative):
            return ""
        return "better" if (ratio < 1) == self.measure.lower_is_better else "worse"


def compare(studies):
    """Job or file studies side by side; lines where all are 0 are left out."""
    wanted = [study.all.bytes_wanted for study in studies]
    comparable = max(wanted) <= ALIKE * min(wanted)
    lines = []
    for measure in MEASURES:
        values = tuple(measure.of(study) for study in studies)
        if any(values):
            ratios = tuple(quotient(value, values[0]) for value in values[1:])
            lines.append(Comparison(measure, values, ratios, comparable))
    return lines


def matched_files(studies):
    """[(name, [a FileStudy of each job])] of files that all jobs have; lone files match whatever their names."""
    if all(len(study.files) == 1 for study in studies):
        names = dict.fromkeys(study.files[0].file.name for study in studies)
        return [(" / ".join(names), [study.files[0] for study in studies])]
    by_name = [{file.file.name: file for file in reversed(study.files)} for study in studies]
    return [
        (name, [files[name] for files in by_name]) for name in by_name[0] if all(name in files for files in by_name)
    ]
