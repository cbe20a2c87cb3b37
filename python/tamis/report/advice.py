"""Advice for a file: what the rules find, weighed by the time it is about."""

from dataclasses import dataclass

from ..units import numbered, share, size, times
from .figures import OTHER
from .finding import Action, turns
from .rules import RULES
from .words import bound

# (from this share of the job's time in I/O on, severity)
SEVERITIES = ((0.20, "costly"), (0.05, "worth a look"), (0.0, "minor"))
IDLE = 0.01  # of the job's whole time: with less in I/O, all of it is minor
FAR = 5.0  # times the least that the storage needs: too far to say that all is well
GOOD = "good"
UNCLEAR = "unclear"  # slow, and no rule knows why
WAITING = ("survey", "wait", "agree")  # phases that last until the slowest rank is there, and more
ORDER = ("broken", "costly", "worth a look", "minor", UNCLEAR, GOOD)


@dataclass(frozen=True)
class Advice:
    """REQUIRES: severity is one of ORDER."""

    rule: str
    severity: str
    share: float  # of the job's time in I/O: how much it is about
    file: str
    headline: str
    evidence: str
    actions: tuple[Action, ...] = ()


def severity_of(finding, part, job_part):
    """`part` of the job's time in I/O is what the finding is about; `job_part` of its whole time is I/O."""
    if finding.broken:
        return "broken"
    if job_part < IDLE:
        return "minor"
    return next(severity for least, severity in SEVERITIES if part >= least)


def spent(study):
    """What most of a file's time went to, where no rule says more."""
    figures = study.all
    waiting = sum(figures.ns[phase] for phase in WAITING)
    if 2 * waiting < figures.total_ns:
        phase, ns = max(figures.shares(), key=lambda entry: entry[1])
        where = "the calls, but in no phase that is counted" if phase == OTHER else phase
        return [f"most of the time in {where}: {share(ns, figures.total_ns)}"]
    found = [
        f"{share(waiting, figures.total_ns)} of the time waiting for other ranks or telling them what comes "
        f"({', '.join(WAITING)})"
    ]
    return found + turns(study.job)


def nothing_wrong(study):
    """Said out loud where no rule finds anything, so that silence is not taken for ignorance."""
    figures, ratio = study.all, study.distance.ratio
    if not figures.calls:
        return Advice("nothing", GOOD, 0, study.file.name, "opened, but neither read nor written", "no calls")
    severity, headline = GOOD, "nothing to mend"
    evidence = [
        f"{numbered(figures.requests, 'request')} of {size(figures.mean_request)} on average",
        f"{size(figures.wasted)} wasted" if figures.wasted else "no bytes wasted",
    ]
    if ratio and ratio < 1.05:
        evidence.append("as fast as the cost model holds possible")
    elif ratio:
        evidence.append(f"{bound(study)}{times(ratio)} the time that the storage needs at least, by the cost model")
    if ratio and ratio >= FAR:
        severity, headline = UNCLEAR, "nothing that a rule knows to mend"
        evidence += spent(study)
    return Advice("nothing", severity, 0, study.file.name, headline, ", ".join(evidence))


def for_file(study):
    """Advice for a FileStudy, the most important first; never empty."""
    job_ns = sum(way.ns["total"] for file in study.job.files for way in file.ways)
    whole_ns = study.job.seconds * 1e9 * study.job.ranks
    job_part = job_ns / whole_ns if whole_ns else 1
    found = []
    for rule in RULES:
        for finding in rule.find(study):
            part = finding.ns / job_ns if job_ns else 0
            found.append(
                Advice(
                    rule.name,
                    severity_of(finding, part, job_part),
                    part,
                    study.file.name,
                    finding.headline,
                    finding.evidence,
                    finding.actions,
                )
            )
    return ordered(found) or [nothing_wrong(study)]


def ordered(advice):
    return sorted(advice, key=lambda one: (ORDER.index(one.severity), -one.share))
