#!/usr/bin/env python3
"""Full disks under every kind of write: runs full_disk.c's program on a tmpfs and an ext4 of a few MiB that
fill up, mounted in a mount namespace of its own, so that nothing is left of them. Where no file system can
be mounted, on /dev/full alone. Prints a table; the exit code is the number of cases that failed."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

INSIDE = "FULL_DISK_INSIDE"  # set in the copy of this script that runs in the namespace
METHODS = ("write", "write_at", "write_all", "write_at_all")
VIEWS = ("blocks", "interleaved")
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="with tests/full_disk.<mpi>")
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--ranks", default="4")
    parser.add_argument("--host", action="store_true", help="the host's own MPI-IO, not Tamis")
    parser.add_argument("--timeout", type=int, default=60, help="seconds for one case")
    return parser.parse_args()


def enter_namespace():
    """Runs this script again where it may mount; gives its exit code, or None where that is refused."""
    for flags in (["--mount"], ["--user", "--map-root-user", "--mount"]):
        probe = ["unshare", *flags, "--propagation", "private", "sh", "-c",
                 'd=$(mktemp -d) && mount -t tmpfs -o size=1m none "$d" && umount "$d" && rmdir "$d"']
        if subprocess.run(probe, capture_output=True).returncode == 0:
            command = ["unshare", *flags, "--propagation", "private", sys.executable, *sys.argv]
            return subprocess.run(command, env={**os.environ, INSIDE: "1"}).returncode
    return None


def mount_tmpfs(place):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", place]).returncode == 0


def mount_ext4(place, image):
    """A small ext4 behind a loop device, where there are loop devices."""
    steps = [
        ["truncate", "-s", "8M", image],
        ["mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal", image],
        ["mount", "-o", "loop", image, place],
    ]
    return all(subprocess.run(step, capture_output=True).returncode == 0 for step in steps)


def disks(scratch):
    """(name, directory, bytes of each rank): more than fits for 4 ranks."""
    found = []
    for name, mount in (
        ("tmpfs 4 MiB", mount_tmpfs),
        ("ext4 8 MiB", lambda place: mount_ext4(place, str(scratch / "ext4.image"))),
    ):
        place = scratch / name.split()[0]
        place.mkdir()
        if mount(str(place)):
            found.append((name, place))
        else:
            print(f"skipped: no {name.split()[0]} can be mounted here")
    return found


def run_case(options, mpi, method, view, path, ranks):
    launcher = shutil.which(f"mpiexec.{mpi}")
    library = options.build / "lib" / f"libtamis-{mpi}.so"
    preload = [] if options.host else ["env", f"LD_PRELOAD={library}"]
    total = 12 << 20  # fills either disk, whatever the number of ranks
    command = [launcher, "-n", str(ranks), *preload, str(options.build / "tests" / f"full_disk.{mpi}"),
               method, view, path, str(total // ranks)]
    try:
        done = subprocess.run(command, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True,
                              timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return "HANGS", ""
    return ("ok" if done.returncode == 0 else "FAILED"), done.stdout + done.stderr


def run_disk(options, name, file_path):
    failures = 0
    for mpi in options.mpi.split(","):
        for ranks in map(int, options.ranks.split(",")):
            for method in METHODS:
                for view in VIEWS:
                    verdict, output = run_case(options, mpi, method, view, file_path, ranks)
                    print(f"{verdict:6}  {name:11}  {mpi:8}  {ranks} ranks  {method:13} {view}", flush=True)
                    if verdict != "ok":
                        failures += 1
                        print("\n".join("        " + line for line in output.splitlines()[:24]))
                    if file_path != "/dev/full":
                        Path(file_path).unlink(missing_ok=True)
    return failures


def main():
    options = parse()
    options.build = options.build.resolve()
    if INSIDE not in os.environ:
        code = enter_namespace()
        if code is not None:
            sys.exit(code)
        print("skipped: nothing can be mounted here (no unshare, no rights); only /dev/full is tried")
        sys.exit(run_disk(options, "/dev/full", "/dev/full"))
    failures = run_disk(options, "/dev/full", "/dev/full")
    with tempfile.TemporaryDirectory() as scratch:
        mounted = disks(Path(scratch))
        for name, place in mounted:
            failures += run_disk(options, name, str(place / "full_disk.dat"))
        for _, place in mounted:
            subprocess.run(["umount", str(place)])
    sys.exit(min(failures, 99))


if __name__ == "__main__":
    main()
