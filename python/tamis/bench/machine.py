"""The machine in words: what a figure is worth depends on it."""

import os
import platform
import subprocess
import time
from pathlib import Path

SOURCE_TREE = Path(__file__).resolve().parents[3]


def line_of(path, label):
    """What stands behind "label:" in a file of /proc."""
    try:
        for line in Path(path).read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == label:
                return value.strip()
    except OSError:
        pass
    return ""


def output_of(*command):
    try:
        answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    except OSError:
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


def file_system_of(directory):
    return (output_of("findmnt", "-n", "-o", "FSTYPE", "-T", str(directory)).split() or ["unknown"])[-1]


def commit():
    """Of the source tree this module lies in; "" where it lies in none."""
    if not (SOURCE_TREE / ".git").exists():
        return ""
    head = output_of("git", "-C", str(SOURCE_TREE), "rev-parse", "--short=12", "HEAD")
    changed = output_of("git", "-C", str(SOURCE_TREE), "status", "--porcelain", "--untracked-files=no")
    return f"{head} with changes" if head and changed else head


def tamis_version(library):
    return output_of(str(library.hints_helper), "--version") or "unknown"


def describe(library, mpis, directories):
    memory_kib = line_of("/proc/meminfo", "MemTotal").split()[:1]
    return {
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "cores": os.cpu_count(),
        "cpu": line_of("/proc/cpuinfo", "model name") or platform.machine(),
        "memory_bytes": int(memory_kib[0]) * 1024 if memory_kib else 0,
        "kernel": f"{platform.system()} {platform.release()}",
        "file_systems": {name: file_system_of(path) for name, path in directories.items()},
        "mpis": {mpi.name: mpi.version for mpi in mpis},
        "tamis": tamis_version(library),
        "commit": commit(),
    }


def load():
    """Of the last minute: how busy the machine is with other things, once nothing of ours has run."""
    return round(os.getloadavg()[0], 2)
