"""The words of a report: what ways are called, and what each word means."""

from ..units import count, duration, numbered, size
from .figures import OTHER

LONGEST_TITLE = 48
LATE = 0.01  # of the job's time: a file opened before that was opened at the beginning

# What a report speaks of.
GLOSSARY = (
    ("wanted", "bytes the program asked for"),
    ("accessed", "bytes that requests to the storage moved, in either direction"),
    ("wasted", "accessed beyond wanted: holes fetched and thrown away, or read to be written back"),
    ("alone", "every rank moves its own bytes"),
    ("two-phase", "some ranks, the aggregators, move large windows of the file; the others hand them their bytes"),
    ("direct", "one piece, one request, straight from or to the program's memory"),
    ("list", "one request per piece, handed over in batches"),
    ("gather", "packed through a buffer, one request per run of the file"),
    ("sieve", "whole windows of the file, holes included; a write reads the window first"),
    ("exchange", "ranks pack into and out of the aggregators' windows"),
    ("survey", "ranks tell each other what they are about to do, and wait for those that come late"),
    ("announce", "descriptions of views go to aggregators on other nodes"),
    ("pack", "bytes are copied between the program's memory and buffers"),
    ("wait", "for other ranks, while windows are exchanged"),
    ("transfer", "inside requests to the storage"),
    ("lock", "taking byte-range locks, waiting for them included"),
    ("agree", "ranks tell each other how it ended, and wait for those that are not done"),
    (OTHER, "in the calls, but in none of these"),
)


def way_name(way):
    """collective write, two-phase; independent read, sieve."""
    kind = f"{'collective' if way.collective else 'independent'} {way.direction}"
    if way.route == "nothing":
        return f"{kind}, no bytes"
    if way.route == "two_phase":
        return f"{kind}, two-phase"
    return f"{kind}, alone, {way.method}" if way.collective else f"{kind}, {way.method}"


def lead(study):
    """A FileStudy in a sentence: who, how, for how long."""
    file = study.file
    place = f"{file.driver} on {file.filesystem}" if file.filesystem else file.driver
    began = f" from {duration(file.began * 1e9)} on" if file.began > LATE * study.job.seconds else ""
    opens = "" if file.opens == 1 else f", opened {count(file.opens)} times"
    two_phase = any(way.route == "two_phase" for way in study.ways)
    aggregators = f", {numbered(len(file.aggregators), 'aggregator')}" if two_phase else ""
    return (
        f"{numbered(file.ranks, 'rank')}, {file.amode}, {place}, open for {duration(file.seconds * 1e9)}"
        f"{began}{opens}{aggregators}"
    )


def served_by(way):
    return f"{numbered(way.windows, 'window')} of {way_name(way)}: served by {numbered(way.aggregators, 'rank')}"


def bound(study):
    """What stands before figures that follow from taken_ns."""
    return "" if study.is_exact else "at most "


def taken(study):
    """The time in I/O of a FileStudy or JobStudy: a bound, where the document has no more."""
    return bound(study) + duration(study.taken_ns)


def caveats(job):
    """Why the sums of a job are too small, where they are."""
    lines = []
    if job.incomplete:
        lines.append("the counters of some ranks could not be had")
    if job.files_left_out:
        lines.append(f"{numbered(job.files_left_out, 'later open')} of files had no room in the document")
    return lines


def side_lines(study):
    """Who served windows; read-modify-writes, gaps, locks, bytes between ranks: what there was of them."""
    figures = study.all
    lines = [
        (
            figures.windows_listed,
            f"{numbered(figures.windows_listed, 'window')} with holes moved piece by piece by the ranks",
        ),
        (
            figures.rewrites,
            f"{numbered(figures.rewrites, 'read-modify-write')}, {size(figures.bytes_rewritten)} read for them",
        ),
        (
            figures.gaps,
            f"{numbered(figures.gaps, 'gap')} between successive requests of an access, {size(figures.bytes_gaps)}",
        ),
        (figures.locks, f"{numbered(figures.locks, 'lock')}, {duration(figures.ns['lock'])} waiting for them"),
        (figures.bytes_resent, f"{size(figures.bytes_resent)} through other ranks' windows"),
        (figures.memory, f"{size(figures.memory)} of buffers at most on a rank"),
    ]
    return [served_by(way) for way in study.ways if way.aggregators] + [line for amount, line in lines if amount]


def short_program(command):
    """A command line as a title: its program, or an interpreter and its script; short ones as they are."""
    words = command.split()
    if len(command) <= LONGEST_TITLE or not words:
        return command
    names = [word.rsplit("/", 1)[-1] for word in words[:2]]
    is_script = names[0].startswith(("python", "perl", "ruby", "julia", "bash", "sh")) and not words[1:2] == ["-c"]
    return " ".join(names) if is_script else names[0]


def jobs_titles(studies):
    """What the columns of a comparison are called: the documents' names, numbered where they are alike."""
    names = [study.job.source.rsplit("/", 1)[-1] or study.job.program for study in studies]
    return [name if names.count(name) == 1 else f"{name} ({number})" for number, name in enumerate(names, 1)]
