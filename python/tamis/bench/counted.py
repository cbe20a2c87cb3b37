"""The same quantities as the library counts them: each method forced by hints, real ranks, TAMIS_REPORT."""

import tempfile
from pathlib import Path

from ..report.merge import load_job
from . import jobs
from .implementations import TAMIS
from .paper004 import BUFFER_BYTES, METHODS, ONE_CALL

ALL_CALLS = 2**31 - 1  # no rehearsal, no call left out
MOST_SECONDS = 3600
FILE_NAME = "tamis-tables.dat"


def level_and_hints(method, direction, ranks):
    """How the method is had of the library; None: no file system here takes a datatype."""
    way = direction[:1].replace("r", "rd").replace("w", "wr")
    buffer = f"ind_{way}_buffer_size={BUFFER_BYTES}"
    return {
        "POSIX I/O": ("0", ()),
        "data sieving": ("2", (f"romio_ds_{direction}=enable", buffer)),
        "two-phase": ("3", (f"romio_cb_{direction}=enable", f"cb_nodes={ranks}", f"cb_config_list=*:{ranks}",
                            f"cb_buffer_size={BUFFER_BYTES}")),
        "list I/O": ("2", (f"romio_ds_{direction}=disable", buffer)),
    }.get(method)


def arguments(table, method, sizes, path):
    level, hints = level_and_hints(method, table.direction, table.clients)
    words = ["--workload", table.workload, *sizes, "--levels", level, "--ops", table.direction, "--reps", 1,
             "--calls", ALL_CALLS, "--budget", MOST_SECONDS, "--path", path]
    for hint in hints:
        words += ["--hint", hint]
    return words


def sizes_of(table, scale):
    return ["--paper", *ONE_CALL.get(table.workload, ()), *(["--scale", f"{scale:g}"] if scale != 1 else [])]


def sums_of(job, ranks):
    """Per client; and by what routes and methods. Messages between nodes are among the bytes resent."""
    ways = [way for file in job.files for way in file.ways]

    def sum_of(*names):
        return sum(getattr(way, name) for way in ways for name in names) / ranks

    methods = sorted({way.method for way in ways if way.bytes_moved})
    system_calls = sum_of("reads", "writes")
    return {"desired": sum_of("bytes_wanted"), "accessed": sum_of("bytes_read", "bytes_written"),
            "operations": sum_of("lists") if methods == ["list"] else system_calls, "system_calls": system_calls,
            "resent": sum_of("bytes_resent"), "requests": sum_of("calls"),
            "windows": sum_of("windows"),
            "window_bytes": max((file.window_bytes for file in job.files), default=0),
            "methods": methods}


def count(mpi, table, method, scale, directory, limit_s):
    """The counters of one run, or a fault."""
    tamis = next(one for one in mpi.implementations if one.name == TAMIS)
    with tempfile.TemporaryDirectory(prefix="tamis-tables-", dir=directory) as place:
        report = Path(place) / "job.json"
        command = jobs.command_of(mpi, tamis, table.clients, mpi.program("workloads"),
                                  arguments(table, method, sizes_of(table, scale), Path(place) / FILE_NAME),
                                  {"TAMIS_REPORT": report})
        outcome = jobs.run(command, {}, limit_s)
        if outcome.word != jobs.OK:
            return {"fault": outcome.word, "detail": outcome.detail}
        if not report.is_file():
            return {"fault": "no report", "detail": "the library wrote no TAMIS_REPORT"}
        return sums_of(load_job(report), table.clients)


def methods_counted(direction, ranks):
    return [method for method in METHODS if level_and_hints(method, direction, ranks) is not None]
