"""tamis doctor: what works here, what does not, and what to do about it."""

import json
import os
import resource
import struct
from dataclasses import asdict, dataclass
from pathlib import Path

from . import hints, probe, ranks, terminal, units
from .library import MPI_NAMES

STATES = ("ok", "warning", "problem")
LITTLE_SPACE = 2**30
FEW_FILES = 256
OLD_PROFILE_DAYS = 180
LUSTRE_MAGICS = (0x0BD10BD0, 0x0BD30BD0)  # plain layouts; composite ones have no single stripe size


@dataclass(frozen=True)
class Check:
    group: str
    name: str
    state: str
    finding: str
    advice: str = ""


def check_library(library):
    served = library.served_mpis()
    for mpi, name in MPI_NAMES.items():
        if mpi in served:
            yield Check("library", mpi, "ok", f"{library.of_mpi(mpi)} serves {name}")
    if not served or not library.preload.is_file():
        yield Check("library", "built", "problem", f"no library to preload in {library.prefix}/lib",
                    "Run `make build` in the source directory, or `make install`.")
    if os.statvfs(library.prefix).f_flag & os.ST_NOEXEC:
        yield Check("library", "noexec", "problem", f"{library.prefix} lies on a file system mounted noexec",
                    "Nothing there can be preloaded; install the library elsewhere.")


def check_mpis(library, directory, starts_ranks):
    launchers = list(ranks.find_launchers())
    served = library.served_mpis()
    for found in launchers:
        yield check_launcher(found, served)
    for mpi in served:
        first = next((found for found in launchers if found.mpi == mpi), None)
        if first is None:
            yield Check("mpi", f"preload under {mpi}", "ok",
                        f"not tried: no launcher of {MPI_NAMES[mpi]} is on the search path")
        elif starts_ranks:
            yield check_ranks(library, first, directory)
    if not any(found.mpi in served for found in launchers):
        yield Check("mpi", "launchers", "warning", "no launcher of an MPI that is served is on the search path",
                    "Load the module of your MPI, or add its bin directory to PATH.")


def check_launcher(found, served):
    name = f"launcher {found.path}"
    if found.mpi is None:
        return Check("mpi", name, "warning", found.why, "Use another launcher, or tell `tamis run --mpi`.")
    title = f"{MPI_NAMES[found.mpi]} {found.version}"
    if found.mpi in served:
        return Check("mpi", name, "ok", f"{title}, served")
    return Check("mpi", name, "warning", f"{title}, for which no library is built",
                 f"Build again where mpicc.{found.mpi} is installed.")


def check_ranks(library, found, directory):
    name = f"preload under {found.mpi}"
    file = Path(directory) / f".tamis-doctor-{os.getpid()}-{found.mpi}"
    outcome = ranks.try_ranks(library, found, file)
    if outcome.failure:
        return Check("mpi", name, "problem", f"two ranks could not write a file in {directory}: {outcome.failure}",
                     f"Try it by hand: tamis run -- {found.path} -n 2 {library.rank_probe(found.mpi)} {file}")
    if not outcome.served:
        return Check("mpi", name, "problem", f"two ranks ran on the I/O of {outcome.version} itself",
                     "Something takes LD_PRELOAD away or stands before it; see `tamis run`.")
    return Check("mpi", name, "ok", f"two ranks of {outcome.version} wrote and read a file through Tamis")


def check_storage(storage):
    """The file system and what it can do."""
    directory = storage["directory"]
    yield Check("storage", "driver", "ok", f"posix, in {directory} on {storage['mount']} ({storage['filesystem']})")
    for trial in ("create", "write"):
        if storage.get(trial, "ok") != "ok":
            yield Check("storage", trial, "problem", f"cannot {trial} a file in {directory}: {storage[trial]}",
                        "Ask for another place, for the permission, or for room.")
    if storage["create"] == "ok":
        yield check_sizes(storage)
        yield from check_abilities(storage)
    yield from check_space(storage)
    yield check_profile(storage)
    if "noexec" in storage["options"].split(","):
        yield Check("storage", "noexec", "warning", f"{storage['mount']} is mounted noexec",
                    "Programs cannot be started from there; their files are not concerned.")


def stripes_in(layout):
    """(stripe size, stripe count) of Lustre's extended attribute; None for anything else."""
    if len(layout) < 32:
        return None
    magic, stripe_size, stripe_count = struct.unpack_from("<I20xIH", layout)
    return (stripe_size, stripe_count) if magic in LUSTRE_MAGICS else None


def stripes_of(directory):
    try:
        return stripes_in(os.getxattr(directory, "lustre.lov"))
    except OSError:
        return None


def check_sizes(storage):
    text = f"blocks of {units.size(storage['block_bytes'])}"
    stripes = stripes_of(storage["directory"]) if storage["filesystem"] == "lustre" else None
    if stripes is not None:
        text += f", stripes of {units.size(stripes[0])} over {stripes[1]} targets"
    elif storage["stripe_bytes"]:
        text += f", stripes of {units.size(storage['stripe_bytes'])}"
    else:
        text += ", no stripes known"
    return Check("storage", "sizes", "ok", text)


def check_abilities(storage):
    if storage["locks"] == "ok":
        yield Check("storage", "locks", "ok", "byte-range locks of one open keep another one out")
    else:
        yield Check("storage", "locks", "warning", f"byte-range locks do not work: {storage['locks']}",
                    "Scattered writes go out piece by piece and atomic mode fails; mount with locks if you can.")
    if storage["preallocate"] == "ok":
        yield Check("storage", "preallocation", "ok", "the file system reserves space by itself")
    else:
        yield Check("storage", "preallocation", "warning",
                    f"space is not reserved by the file system: {storage['preallocate']}",
                    "MPI_File_preallocate writes zeros instead, which takes time.")
    direct = storage["direct"]
    yield Check("storage", "direct I/O", "ok", "works (the library does not use it)" if direct == "ok"
                else f"not here: {direct} (the library does not use it)")


def check_space(storage):
    space = storage["space"]
    if space is None:
        return
    text = f"{units.size(space['free_bytes'])} of {units.size(space['bytes'])} are free"
    if space["files"] and not space["free_files"]:
        yield Check("storage", "free space", "problem", "no file can be created: no inodes are left",
                    "Remove files, or ask for room.")
    elif space["bytes"] and space["free_bytes"] < LITTLE_SPACE:
        yield Check("storage", "free space", "warning" if space["free_bytes"] else "problem", text,
                    "Remove files, or write elsewhere.")
    else:
        yield Check("storage", "free space", "ok", text)


def check_profile(storage):
    profile = storage["profile"]
    calibrate = f"tamis calibrate {storage['directory']}"
    if profile["defect"]:
        return Check("storage", "profile", "warning", f"{profile['file']} is ignored: {profile['defect']}",
                     f"Make it anew: {calibrate}")
    if "date" not in profile:
        return Check("storage", "profile", "ok", f"none: plans take the built-in costs of {storage['filesystem']} "
                     f"({calibrate} measures them)")
    days = units.age_days(profile["date"])
    finding = f"{profile['file']}, {units.age(profile['date'])}"
    if days is None or not 0 <= days <= OLD_PROFILE_DAYS:
        return Check("storage", "profile", "warning", finding, f"Make it anew: {calibrate}")
    return Check("storage", "profile", "ok", finding)


def check_place(storage):
    if storage["driver"] == "memory":
        yield Check("storage", "driver", "ok", "memory: files inside one process, for MPI_COMM_SELF only")
    elif storage["error"]:
        yield Check("storage", "path", "problem", f"{storage['name']}: {storage['error']}",
                    "Name a file in a directory that is there.")
    else:
        yield from check_storage(storage)


def check_memory(library):
    memory = probe.ask(library, "memory")
    if memory["shared"] != "ok":
        yield Check("memory", "shared memory", "warning",
                    f"processes cannot share memory: {memory['shared']}",
                    "Ranks of a node send messages instead, which is slower; look at the container's "
                    "settings and at `ulimit -f`.")
        return
    yield Check("memory", "shared memory", "ok", "one process opens and changes the memory of another")
    setting = memory["huge_setting"] or "not in this kernel"
    if memory["huge_bytes"]:
        yield Check("memory", "huge pages", "ok", "shared memory lies in huge pages")
    else:
        yield Check("memory", "huge pages", "warning", f"shared memory lies in small pages ({setting})",
                    "First touches cost more; root can write `advise` to "
                    "/sys/kernel/mm/transparent_hugepage/shmem_enabled.")


def check_limits():
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if soft == resource.RLIM_INFINITY:
        yield Check("limits", "file size", "ok", "files may grow without a limit")
    else:
        most = "unlimited is allowed" if hard == resource.RLIM_INFINITY else f"at most {units.size(hard)}"
        yield Check("limits", "file size", "warning", f"no file can grow beyond {units.size(soft)}",
                    f"Writes beyond it fail or end the program; raise it with `ulimit -f` ({most}).")
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < FEW_FILES:
        yield Check("limits", "open files", "warning", f"a process may have {soft} files open",
                    "Each open file and its shared memory take some: raise it with `ulimit -n`.")
    else:
        yield Check("limits", "open files", "ok", f"a process may have {soft} files open")


def check_hints(library, path):
    """For a directory: what holds for every file. TAMIS_HINTS speaks of files by name."""
    is_directory = os.path.isdir(path)
    answer = hints.ask_library(library, None if is_directory else path)
    changed = [hint for hint in answer["hints"] if hint["source"] != "default"]
    for hint in changed:
        yield Check("hints", hint["key"], "ok", f"{hint['value']}, from {hint['source']}")
    if not changed:
        yield Check("hints", "in force", "ok", "all are the defaults")
    if is_directory and os.environ.get("TAMIS_HINTS"):
        yield Check("hints", "TAMIS_HINTS", "ok", "holds for files by name: give a file's name to see what it gets")
    for hint in answer["ignored"]:
        given = f"{hint['key']}={hint['value']}" if hint["value"] else hint["key"]
        yield Check("hints", hint["key"], "warning", f"{given} from {hint['source']} is ignored: {hint['reason']}",
                    "`tamis hints` lists what there is.")


def examine(library, path, starts_ranks):
    storage = probe.ask(library, "storage", path)
    can_write = storage.get("create") == "ok" and storage.get("write") == "ok"
    yield from check_library(library)
    if library.served_mpis() and library.preload.is_file():
        directory = storage["directory"] if can_write else os.environ.get("TMPDIR", "/tmp")
        yield from check_mpis(library, directory, starts_ranks)
    yield from check_place(storage)
    yield from check_memory(library)
    yield from check_limits()
    yield from check_hints(library, path)


def worst(checks):
    return max((check.state for check in checks), key=STATES.index, default="ok")


def exit_code(checks, is_strict):
    """0: nothing is broken; 1: a problem, or a warning where those count, too."""
    state = worst(checks)
    return 1 if state == "problem" or (is_strict and state == "warning") else 0


def print_check(check, last_group):
    if check.group != last_group:
        print(f"{check.group}:")
    advice = f" {check.advice}" if check.advice else ""
    stop = "" if check.finding.endswith(".") or not advice else "."
    terminal.print_state(check.state, f"{check.name}: {check.finding}{stop}{advice}")


def doctor(library, path, as_json, is_strict, starts_ranks):
    """Each check is printed as soon as it is done; the exit code is for scripts."""
    checks, last_group = [], ""
    for check in examine(library, path, starts_ranks):
        checks.append(check)
        if not as_json:
            print_check(check, last_group)
        last_group = check.group
    if as_json:
        print(json.dumps({"state": worst(checks), "checks": [asdict(check) for check in checks]}, indent=1))
    else:
        print({"ok": "All is well.", "warning": "It works; the warnings say what would be better.",
               "problem": "Something does not work: see the problems above."}[worst(checks)])
    return exit_code(checks, is_strict)
