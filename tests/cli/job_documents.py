"""Job documents for the tests of `tamis report`: small models of jobs that happen."""

COLUMNS = 64
KIB, MIB = 1 << 10, 1 << 20
MS = 1_000_000
SUMS = (
    "calls",
    "errors",
    "bytes_wanted",
    "bytes_moved",
    "pieces",
    "reads",
    "bytes_read",
    "writes",
    "bytes_written",
    "lists",
    "bytes_resent",
    "bytes_messages",
    "bytes_announced",
    "windows",
    "aggregators",
    "windows_listed",
    "rewrites",
    "bytes_rewritten",
    "gaps",
    "bytes_gaps",
    "locks",
)
PHASES = ("survey", "announce", "pack", "wait", "transfer", "lock", "agree")


def size_class(size):
    return min(17, max(0, size.bit_length() - 1 - 3))


def way(direction, collective=False, route="alone", method="direct", requests=(), ns=None, **counts):
    """`requests`: (verb, number, bytes of each), from which all counters of requests follow."""
    made = {
        "direction": direction,
        "collective": collective,
        "route": route,
        "method": method,
        **dict.fromkeys(SUMS, 0),
        "request_sizes": [0] * 18,
        "read_sizes": [0] * 18,
        "write_sizes": [0] * 18,
        "memory": 0,
    }
    for verb, number, size in requests:
        made["reads" if verb == "read" else "writes"] += number
        made["bytes_read" if verb == "read" else "bytes_written"] += number * size
        made["request_sizes"][size_class(size)] += number
        made["read_sizes" if verb == "read" else "write_sizes"][size_class(size)] += number
    spent = {**dict.fromkeys(PHASES, 0), **(ns or {})}
    made["aggregators"] = 2 if route == "two_phase" else 0
    made["ns"] = {"total": sum(spent.values()), **spent}
    made["slowest_ns"] = made["ns"]["total"]
    made.update(counts)
    made["bytes_moved"] = counts.get("bytes_moved", made["bytes_wanted"])
    return made


def pattern(ranks, column_bytes, read=None, written=None):
    """`read` and `written`: bytes as a function of (rank, column)."""
    rows = min(ranks, 64)

    def table(of):
        return [[of(row, column) if of else 0 for column in range(COLUMNS)] for row in range(rows)]

    return {
        "rows": rows,
        "columns": COLUMNS,
        "column_bytes": column_bytes,
        "read": table(read),
        "written": table(written),
    }


def timeline(column_ns, read=None, written=None):
    return {
        "columns": COLUMNS,
        "column_ns": column_ns,
        "read": [read(c) if read else 0 for c in range(COLUMNS)],
        "written": [written(c) if written else 0 for c in range(COLUMNS)],
    }


def file(name, ways, ranks=8, **more):
    made = {
        "name": name,
        "path": f"/scratch/{name}",
        "driver": "posix",
        "filesystem": "ext4",
        "ranks": ranks,
        "opens": 1,
        "began": 0.01,
        "seconds": 4.0,
        "amode": "RDWR|CREATE",
        "hints": {
            "cb_nodes": "0",
            "cb_buffer_size": "16777216",
            "striping_unit": "0",
            "romio_ds_write": "automatic",
        },
        "hint_sources": {
            "cb_nodes": "default",
            "cb_buffer_size": "default",
            "striping_unit": "default",
            "romio_ds_write": "default",
        },
        "aggregators": [0, 1],
        "window_bytes": MIB,
        "costs": {"read_ns": 400, "write_ns": 700, "byte_ns": 0.15, "lock_ns": 1500, "source": "built-in"},
        "ways": ways,
        "accesses": [],
        "accesses_left_out": 0,
        "pattern": pattern(ranks, MIB),
        "timeline": timeline(62 * MS),
    }
    made.update(more)
    return made


def job(*files, **more):
    made = {
        "format": 1,
        "tamis": "0.1.0",
        "mpi": "mpich",
        "program": "./climate --steps 100",
        "ranks": 8,
        "nodes": 1,
        "cores": 2,
        "host": "node017",
        "began": 1795276800.5,
        "seconds": 5.2,
        "incomplete": False,
        "files_left_out": 0,
        "files": list(files),
    }
    made.update(more)
    return made


def set_hint(made, key, value, source="info"):
    made["hints"][key] = str(value)
    made["hint_sources"][key] = source
    return made


def access(direction, collective, text, **more):
    return {
        "direction": direction,
        "collective": collective,
        "calls": 100,
        "bytes": 64 * KIB,
        "pieces": 128,
        "span": MIB,
        "text": text,
        **more,
    }


def small_writes():
    """40,000 independent writes of 512 B, in rank order within each column of the file."""
    ways = [
        way(
            "write",
            calls=40_000,
            pieces=40_000,
            bytes_wanted=40_000 * 512,
            requests=[("write", 40_000, 512)],
            ns={"transfer": 2900 * MS, "pack": 20 * MS},
            slowest_ns=420 * MS,
        )
    ]
    column = 40_000 * 512 // COLUMNS
    made = file(
        "particles.dat",
        ways,
        accesses=[access("write", False, "direct: one piece in memory and file", bytes=512, pieces=1)],
        pattern=pattern(8, column, written=lambda row, c: column // 8),
        timeline=timeline(60 * MS, written=lambda c: 300 * KIB + (c % 7) * 9 * KIB if c < 60 else 0),
    )
    return job(made)


def good_collective():
    """The same bytes by a collective call: 20 windows of a MiB, no holes."""
    wanted = 40_000 * 512
    ways = [
        way(
            "write",
            True,
            "two_phase",
            "exchange",
            calls=80,
            pieces=40_000,
            bytes_wanted=wanted,
            requests=[("write", 19, MIB), ("write", 1, wanted - 19 * MIB)],
            windows=20,
            bytes_resent=wanted * 3 // 4,
            ns={"survey": MS, "pack": 12 * MS, "wait": 9 * MS, "transfer": 16 * MS, "agree": MS},
            slowest_ns=6 * MS,
            memory=2 * MIB,
        )
    ]
    column = wanted // COLUMNS
    made = file(
        "particles.dat",
        ways,
        seconds=0.3,
        accesses=[access("write", True, "two-phase: small pieces of many ranks make large windows")],
        pattern=pattern(8, column, written=lambda row, c: column // 8),
        timeline=timeline(5 * MS, written=lambda c: MIB if c % 3 == 0 and c < 60 else 0),
    )
    return job(made, seconds=0.4)


def checkpoint_file():
    """An HDF5 file: large collective writes, small independent ones of metadata, a part read back."""
    wanted = 768 * MIB
    ways = [
        way(
            "write",
            True,
            "two_phase",
            "exchange",
            calls=96,
            pieces=98_304,
            bytes_wanted=wanted,
            requests=[("write", 768, MIB)],
            windows=768,
            bytes_resent=wanted // 2,
            ns={
                "survey": 9 * MS,
                "announce": 0,
                "pack": 610 * MS,
                "wait": 700 * MS,
                "transfer": 1900 * MS,
                "agree": 12 * MS,
            },
            slowest_ns=430 * MS,
            memory=2 * MIB,
        ),
        way(
            "write",
            method="direct",
            calls=213,
            pieces=213,
            bytes_wanted=213 * 544,
            requests=[("write", 213, 544)],
            ns={"transfer": 4 * MS},
            slowest_ns=4 * MS,
        ),
        way(
            "read",
            method="direct",
            calls=62,
            pieces=62,
            bytes_wanted=62 * 2048,
            requests=[("read", 62, 2048)],
            ns={"transfer": MS},
            slowest_ns=MS,
        ),
        way(
            "read",
            method="sieve",
            calls=16,
            pieces=32_768,
            bytes_wanted=32_768 * KIB,
            requests=[("read", 72, 4 * MIB)],
            windows=72,
            ns={"pack": 60 * MS, "transfer": 480 * MS},
            slowest_ns=75 * MS,
            memory=4 * MIB,
        ),
    ]
    column = 12 * MIB
    said = (
        "write, collective: two-phase, because small pieces of many ranks make large windows.\n"
        "  aggregators: ranks 0 and 1; each owns half of the region, in windows of 1 MiB\n"
        "  alone: about 81 ms; two-phase: about 19 ms"
    )
    return file(
        "out/checkpoint.h5",
        ways,
        seconds=3.1,
        opens=2,
        accesses=[
            access("write", True, said, bytes=8 * MIB, pieces=1024, span=64 * MIB, calls=96),
            access(
                "read",
                False,
                "read, independent: sieve, because there are many small pieces with small holes",
                bytes=2 * MIB,
                pieces=2048,
                span=18 * MIB,
                calls=16,
            ),
        ],
        pattern=pattern(
            8,
            column,
            written=lambda row, c: column // 8 if (c + row) % 8 else column // 4,
            read=lambda row, c: 256 * KIB if c // 8 == row else 0,
        ),
        timeline=timeline(
            49 * MS,
            written=lambda c: 28 * MIB + 2 * MIB * (c % 5) if c < 40 and c % 10 < 7 else 0,
            read=lambda c: 7 * MIB if 50 <= c < 60 else 0,
        ),
    )


def rewriting_log():
    """Records written independently into a file with holes: every window is read first, under a lock."""
    pieces, piece = 48_000, 96
    ways = [
        way(
            "write",
            method="sieve",
            calls=480,
            pieces=pieces,
            bytes_wanted=pieces * piece,
            requests=[("read", 960, 512 * KIB), ("write", 960, 512 * KIB)],
            windows=960,
            rewrites=960,
            bytes_rewritten=960 * 512 * KIB,
            gaps=480,
            bytes_gaps=480 * 900,
            locks=960,
            ns={"pack": 30 * MS, "transfer": 980 * MS, "lock": 690 * MS},
            slowest_ns=260 * MS,
            memory=512 * KIB,
        )
    ]
    column = 700 * KIB
    return file(
        "tracks.bin",
        ways,
        seconds=2.2,
        began=3.2,
        accesses=[
            access(
                "write",
                False,
                "write, independent: sieve, because there are many small pieces with small holes",
                bytes=9600,
                pieces=100,
                span=96 * KIB,
            )
        ],
        pattern=pattern(8, column, written=lambda row, c: 9 * KIB if c < 56 else 0),
        timeline=timeline(34 * MS, written=lambda c: 14 * MIB + (c * 37 % 11) * MIB),
    )


def mixed_job():
    config = file(
        "run.cfg",
        [
            way(
                "read",
                method="direct",
                calls=8,
                pieces=8,
                bytes_wanted=8 * 3000,
                requests=[("read", 8, 3000)],
                ns={"transfer": MS},
                slowest_ns=MS // 8,
            )
        ],
        seconds=0.002,
        amode="RDONLY",
        pattern=pattern(8, 48, read=lambda row, c: 47 if c < 63 else 39),
        timeline=timeline(50_000, read=lambda c: 375 if c == 1 else 0),
    )
    return job(checkpoint_file(), rewriting_log(), config, program="python3 simulate.py --grid 512")


def incomplete_job():
    made = small_writes()
    made["incomplete"] = True
    return made


def one_file(ways, **more):
    return job(file("data.bin", ways, **more))


def spent(direction, collective=False, method="direct", ns=None, **counts):
    """A way of 2000 calls of a MiB that took a second in transfers, but for what is said otherwise."""
    usual = {"calls": 2000, "pieces": 2000, "bytes_wanted": 2000 * MIB, "requests": [(direction, 2000, MIB)]}
    route = "two_phase" if method == "exchange" else "alone"
    made = way(
        direction, collective, route, method, ns={"transfer": 1000 * MS, **(ns or {})}, **{**usual, **counts}
    )
    made["slowest_ns"] = counts.get("slowest_ns", made["ns"]["total"] // 8)
    return made


def alone_because(text):
    scattered = spent(
        "write", True, "list", pieces=200_000, bytes_wanted=200_000 * 512, requests=[("write", 200_000, 512)]
    )
    return one_file([scattered], accesses=[access("write", True, text)])


def one_writer(row, column):
    return MIB if row == 0 else 0


# For each rule a job that it has something to say of.
TROUBLED = {
    "errors": lambda: one_file([spent("write", True, "exchange", errors=3)]),
    "independent_small": small_writes,
    "independent_strided": lambda: job(rewriting_log()),
    "rewrites": lambda: job(rewriting_log()),
    "read_waste": lambda: job(checkpoint_file()),
    "lock_waiting": lambda: one_file([spent("write", locks=2000, ns={"lock": 400 * MS})]),
    "two_phase_waits": lambda: job(
        file("data.bin", [spent("write", True, "exchange", ns={"wait": 900 * MS})], aggregators=list(range(8))), cores=8
    ),
    "small_windows": lambda: job(
        set_hint(file("data.bin", [spent("write", True, "exchange")], window_bytes=4096), "cb_buffer_size", 8192)
    ),
    "collective_talk": lambda: job(
        file(
            "data.bin",
            [spent("write", True, "exchange", bytes_wanted=2000 * 800, ns={"survey": 500 * MS, "agree": 400 * MS})],
        ),
        cores=8,
    ),
    "collective_alone": lambda: alone_because("alone, because collective buffering is disabled by hint"),
    "unsorted": lambda: alone_because("alone, because a view goes back and forth in the file"),
    "tiny_pieces": lambda: one_file(
        [spent("read", True, "exchange", pieces=10_000_000, bytes_wanted=80_000_000, ns={"pack": 3000 * MS})]
    ),
    "announcing": lambda: one_file(
        [spent("write", True, "exchange", bytes_announced=40 * MIB, ns={"announce": 300 * MS})]
    ),
    "one_rank": lambda: one_file([spent("write")], pattern=pattern(8, MIB, written=one_writer)),
    "uneven_ranks": lambda: one_file([spent("write", slowest_ns=600 * MS)]),
    "many_opens": lambda: one_file([spent("write", True, "exchange")], opens=160),
}
