"""tamis calibrate: measures the storage behind a path and stores a profile that plans read."""

import json
import os
import signal
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

from . import probe, terminal, units
from .errors import UserError

LEAST_SIZE, MOST_SIZE = 2**20, 2**50
LEAST_SECONDS, MOST_SECONDS = 0.1, 3600
FAILED = 1
# Medians of a quiet machine lie well within this factor between the tenth and the ninetieth percent.
WIDE_SPREAD = 4
MODEL_FIGURES = ("small_write", "small_read", "large_write", "large_read")
TITLES = {
    "small_write": "small writes into a new file",
    "small_rewrite": "small writes over old bytes",
    "small_read": "small reads",
    "large_write": "large writes into a new file",
    "large_rewrite": "large writes over old bytes",
    "large_read": "large reads",
    "lock": "lock and unlock",
    "durable_write": "large writes until they are on the device",
    "uncached_read": "large reads that the cache does not hold",
    "direct_write": "large writes past the cache (O_DIRECT)",
    "direct_read": "large reads past the cache (O_DIRECT)",
}


@contextmanager
def ended_by_signals():
    """Signals that end the command end it through its clean-up."""
    def end(number, _frame):
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end)
              for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def prepare(library, path):
    """The storage behind the path, where it can be measured and its profile be stored."""
    storage = probe.ask(library, "storage", path)
    if storage["driver"] == "memory":
        raise UserError(f"{path} is a name for memory: there is nothing to measure", FAILED)
    if storage["error"]:
        raise UserError(f"{path}: {storage['error']}", FAILED)
    for trial in ("create", "write"):
        if storage[trial] != "ok":
            raise UserError(f"cannot {trial} a file in {storage['directory']}: {storage[trial]}", FAILED)
    target = storage["profile"]["file"]
    if not target:
        raise UserError("there is no place for a profile: say one in TAMIS_PROFILES "
                        "(XDG_CONFIG_HOME and HOME are not set)", FAILED)
    check_place(Path(target).parent)
    return storage


def check_place(directory):
    """Before the time is spent: can something be stored there?"""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise UserError(f"cannot store profiles in {directory}: {error.strerror}; "
                        "say another place in TAMIS_PROFILES", FAILED) from error


def measure(library, directory, seconds, most_bytes):
    """The measurement's last line: figures and the profile."""
    with ended_by_signals(), terminal.progress() as show:
        process = probe.follow(library, "costs", directory, seconds, most_bytes)
        answer = {}
        try:
            for line in process.stdout:
                answer = json.loads(line.decode(errors="replace"))
                if "doing" in answer:
                    show(answer["share"], answer["doing"])
        finally:
            process.kill()
            process.stdout.close()
            process.wait()
    if "error" in answer:
        raise UserError(f"measuring in {directory} failed: {answer['error']}", FAILED)
    if "text" not in answer:
        raise UserError(f"measuring in {directory} ended early", FAILED)
    return answer


def store(target, text):
    """Either the whole file appears, or what was there stays."""
    new = None
    try:
        with tempfile.NamedTemporaryFile("w", dir=target.parent, prefix=".new-", delete=False) as file:
            new = file.name
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), 0o644)
        os.replace(new, target)
    except OSError as error:
        raise UserError(f"cannot store {target}: {error.strerror}", FAILED) from error
    finally:
        if new is not None:
            with suppress(FileNotFoundError):
                os.unlink(new)


def figure_line(figure):
    low, high = (units.duration(figure[key]) for key in ("low_ns", "high_ns"))
    size = f"{units.size(figure['bytes'])} " if figure["bytes"] else ""
    speed = ""
    if figure["bytes"] >= 2**16:
        speed = f", {units.rate(figure['bytes'], figure['median_ns'])}"
    title = f"{TITLES[figure['name']]}:"
    return (f"  {title:<44} {size}{units.duration(figure['median_ns'])}"
            f" ({low} to {high}; {figure['samples']} samples{speed})")


def remarks(figures):
    """What is to be said of the figures that plans read."""
    wide = [TITLES[figure["name"]] for figure in figures if figure["name"] in MODEL_FIGURES
            and figure["high_ns"] > WIDE_SPREAD * figure["low_ns"]]
    if wide:
        yield f"The figures vary widely ({', '.join(wide)}): calibrate again when the machine is quiet."
    few = min(figure["samples"] for figure in figures if figure["name"] in MODEL_FIGURES)
    if few < 5:
        yield "There are few samples: allow more time (--seconds) or more bytes (--size)."


def calibrate(library, path, seconds, size_text, write):
    most_bytes = units.parse_size(size_text)
    if not LEAST_SIZE <= most_bytes <= MOST_SIZE:
        raise UserError(f"--size wants {units.size(LEAST_SIZE)} to {units.size(MOST_SIZE)}")
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise UserError(f"--seconds wants {LEAST_SECONDS} to {MOST_SECONDS}")
    storage = prepare(library, path)
    answer = measure(library, storage["directory"], seconds, most_bytes)
    target = Path(answer["file"])
    store(target, answer["text"])
    write(f"{storage['directory']} lies on {answer['mount']} ({answer['filesystem']}):")
    for figure in answer["figures"]:
        write(figure_line(figure))
    for remark in remarks(answer["figures"]):
        write(remark)
    write(f"Stored in {target}; files opened from now on are planned with it.")
    return 0


def stored_profiles(library, directory):
    return [probe.ask(library, "profile", file) for file in sorted(Path(directory).glob("*.profile"))]


def directory_of_profiles(library):
    directory = probe.ask(library, "profiles")["directory"]
    return Path(directory) if directory else None


def list_profiles(library, write):
    """Exit code 1: one of them is broken, and is ignored."""
    directory = directory_of_profiles(library)
    profiles = stored_profiles(library, directory) if directory else []
    if not profiles:
        write(f"no profiles in {directory}" if directory else "no place for profiles: HOME is not set")
    for profile in profiles:
        if profile["defect"]:
            write(f"{profile['file']}: ignored: {profile['defect']}")
            continue
        write(f"{profile['mount']} ({profile['filesystem']}), {units.age(profile['date'])}: "
              f"read {units.duration(profile['read_ns'])} + {1 / profile['read_byte_ns']:.2g} GB/s, "
              f"write {units.duration(profile['write_ns'])} + {1 / profile['write_byte_ns']:.2g} GB/s, "
              f"lock {units.duration(profile['lock_ns'])}")
    return FAILED if any(profile["defect"] for profile in profiles) else 0


def profile_to_remove(library, path):
    """By its mount point first: what is mounted there may be gone."""
    directory = directory_of_profiles(library)
    named = os.path.realpath(path)
    for profile in stored_profiles(library, directory) if directory else []:
        if profile["defect"] is None and profile["mount"] == named:
            return profile["file"]
    storage = probe.ask(library, "storage", path)
    return storage["profile"]["file"] if not storage.get("error") and "profile" in storage else ""


def remove(library, path, write):
    file = profile_to_remove(library, path)
    try:
        if not file:
            raise FileNotFoundError
        os.unlink(file)
    except FileNotFoundError:
        raise UserError(f"there is no profile for {path}", FAILED) from None
    except OSError as error:
        raise UserError(f"cannot remove {file}: {error.strerror}", FAILED) from error
    write(f"removed {file}")
    return 0
