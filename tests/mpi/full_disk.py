#!/usr/bin/env python3
"""Full disks under every kind of write: runs full_disk.c's program where it cannot have the room it wants.

    device   /dev/full
    limit    a file as large as the limit of the process (RLIMIT_FSIZE)
    tmpfs    a tmpfs of a few MiB
    ext4     an ext4 of a few MiB behind a loop device

The latter two are mounted in a mount namespace of its own, so that nothing is left of them; where that is
refused the exit code is 77 and the last line says so. Prints a table; otherwise the exit code is the number
of cases that failed."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import mpi_hosts

INSIDE = "FULL_DISK_INSIDE"  # set in the copy of this script that runs in the namespace
SKIPPED = 77  # CTest's customary exit code
METHODS = ("write", "write_at", "write_all", "write_at_all")
OURS = ("write_all_behind",)  # asked for by a hint that other MPI-IOs do not know
VIEWS = ("blocks", "interleaved")
CALLS = 8
TOTAL = 24 << 20  # of all ranks: more than any of the disks has, whatever the number of ranks
LIMIT = 16 << 20


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("disk", choices=("device", "limit", "tmpfs", "ext4"))
    parser.add_argument("--build", type=Path, required=True, help="with tests/full_disk.<mpi>")
    parser.add_argument("--mpi", action="append", choices=[mpi.name for mpi in mpi_hosts.HOSTS], help="default: all")
    parser.add_argument("--ranks", type=int, action="append", metavar="N", help="default: 4")
    parser.add_argument("--host", action="store_true", help="the host's own MPI-IO, not Tamis")
    parser.add_argument("--timeout", type=int, default=60, help="seconds for one case")
    return parser.parse_args()


def enter_namespace():
    """Goes on in this script's place with a copy of it that may mount; comes back where that is refused."""
    for flags in (["--mount"], ["--user", "--map-root-user", "--mount"]):
        namespace = ["unshare", *flags, "--propagation", "private"]
        probe = 'd=$(mktemp -d) && mount -t tmpfs -o size=1m none "$d" && umount "$d" && rmdir "$d"'
        try:
            refused = subprocess.run([*namespace, "sh", "-c", probe], capture_output=True).returncode
        except FileNotFoundError:
            return
        if not refused:
            os.execvpe("unshare", [*namespace, sys.executable, *sys.argv], {**os.environ, INSIDE: "1"})


def mount(disk, place):
    """True once the disk is mounted at the place; an ext4 needs a loop device."""
    image = f"{place}.image"
    steps = {
        "tmpfs": [["mount", "-t", "tmpfs", "-o", "size=4m", "none", place]],
        "ext4": [["truncate", "-s", "8M", image],
                 ["mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal", image],
                 ["mount", "-o", "loop", image, place]],
    }[disk]
    try:
        return all(subprocess.run(step, capture_output=True).returncode == 0 for step in steps)
    except FileNotFoundError:
        return False


def run_case(options, mpi, method, view, path, ranks):
    library = None if options.host else mpi.tamis_library(options.build / "lib")
    limit = [LIMIT] if options.disk == "limit" else []
    program = options.build / "tests" / f"full_disk.{mpi.name}"
    command = mpi.mpiexec(ranks, [program, method, view, path, TOTAL // ranks, CALLS, *limit], library)
    outcome = mpi_hosts.run(command, options.timeout, OMPI_MCA_mpi_yield_when_idle="1")
    return "HANGS" if outcome.timed_out else "ok" if outcome.code == 0 else "FAILED", outcome.output


def run_disk(options, file_path):
    failures = 0
    for mpi in mpi_hosts.installed_hosts(options.mpi):
        for ranks in options.ranks or [4]:
            # A limit on files is one on shared memory, too, so that nothing can be written behind.
            for method in METHODS if options.host or options.disk == "limit" else METHODS + OURS:
                for view in VIEWS:
                    verdict, output = run_case(options, mpi, method, view, file_path, ranks)
                    print(f"{verdict:6}  {options.disk:6}  {mpi.name:8}  {ranks} ranks  {method:13} {view}", flush=True)
                    if verdict != "ok":
                        failures += 1
                        print("\n".join("        " + line for line in output.splitlines()[:24]))
                    if file_path != "/dev/full":
                        Path(file_path).unlink(missing_ok=True)
    return min(failures, SKIPPED - 1)


def skip(reason):
    print(f"skipped: {reason}")
    return SKIPPED


def run_mounted(options):
    if INSIDE not in os.environ:
        enter_namespace()
        return skip(f"no {options.disk} can be mounted here: no rights, or no unshare")
    with tempfile.TemporaryDirectory() as scratch:
        place = str(Path(scratch) / options.disk)
        Path(place).mkdir()
        if not mount(options.disk, place):
            return skip(f"no {options.disk} can be mounted here: no rights, no loop device, or no mkfs.ext4")
        try:
            return run_disk(options, f"{place}/full_disk.dat")
        finally:
            subprocess.run(["umount", place])


def main():
    mpi_hosts.end_by_signals()
    options = parse()
    options.build = options.build.resolve()
    if options.disk == "device":
        sys.exit(run_disk(options, "/dev/full"))
    if options.disk == "limit":
        with tempfile.TemporaryDirectory(dir=options.build / "tests") as scratch:
            sys.exit(run_disk(options, f"{scratch}/full_disk.dat"))
    sys.exit(run_mounted(options))


if __name__ == "__main__":
    main()
