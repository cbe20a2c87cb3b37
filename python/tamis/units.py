"""Figures as people write and read them: three digits, a unit, and the unit is always there."""

from datetime import datetime, timezone

from .errors import UserError

SUFFIXES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
TIME_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))


def parse_size(text):
    """Bytes from "64M", "1G", "1048576"."""
    digits = text.strip().lower().removesuffix("b").removesuffix("i")
    number = digits.rstrip("kmgt")
    try:
        return int(float(number) * SUFFIXES[digits[len(number):]])
    except (KeyError, ValueError, OverflowError):
        raise UserError(f"{text} is no size: say a number, with k, M or G if you like") from None


def three_digits(value):
    """At most three digits that mean something: 1.25, 12.5, 125, 1,250."""
    for limit, decimals in ((9.995, 2), (99.95, 1)):
        if abs(value) < limit:
            return f"{value:.{decimals}f}".rstrip("0").rstrip(".")
    return f"{value:,.0f}"


def size(count):
    """Bytes: 512 B, 1.5 MiB."""
    value, unit = float(count), 0
    while value >= 999.5 and unit + 1 < len(BYTE_UNITS) and (unit > 0 or value >= 1024):
        value /= 1024
        unit += 1
    return f"{value:.0f} B" if unit == 0 else f"{three_digits(value)} {BYTE_UNITS[unit]}"


def duration(ns):
    """A time: 300 ns, 1.25 ms, 12.5 s, 25 min."""
    seconds = ns / 1e9
    if seconds >= 7200:
        return f"{three_digits(seconds / 3600)} h"
    if seconds >= 120:
        return f"{three_digits(seconds / 60)} min"
    for scale, unit in TIME_UNITS:
        if ns >= 0.9995 * scale:
            return f"{three_digits(ns / scale)} {unit}"
    return "0 s" if ns == 0 else f"{three_digits(ns)} ns"


def count(number):
    """40,000; from ten millions on 12.5 million."""
    if number >= 1e9:
        return f"{three_digits(number / 1e9)} billion"
    return f"{three_digits(number / 1e6)} million" if number >= 1e7 else f"{number:,.0f}"


def short_count(number):
    """For a bar in a picture: 950, 40 k, 1.2 M."""
    for scale, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= scale:
            return f"{three_digits(number / scale)} {unit}"
    return f"{number:.0f}"


def share(part, whole):
    """A percentage of something; nothing of nothing is 0 %."""
    percent = 100 * part / whole if whole else 0
    return "<1 %" if 0 < percent < 1 else f"{percent:.0f} %"


def times(ratio):
    """12×, 0.08×, 1/2,000; unknown where there is nothing to divide by."""
    if ratio is None:
        return "–"
    if 0 < ratio < 0.01:
        return f"1/{three_digits(1 / ratio)}"
    return f"{ratio:.2g}×" if 0 < ratio < 0.1 else f"{three_digits(ratio)}×"


def numbered(number, noun):
    """1 call, 2 calls, 3 accesses."""
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{count(number)} {noun if number == 1 else plural}"


def moment(seconds):
    """A Unix time: 21 November 2026, 16:00 UTC."""
    try:
        then = datetime.fromtimestamp(seconds, timezone.utc)
    except (OverflowError, OSError, ValueError):
        return "at an unknown time"
    return then.strftime("%d %B %Y, %H:%M UTC").lstrip("0")


def rate(count_bytes, ns):
    """Bytes in a time: 1.5 GiB/s."""
    return f"{size(count_bytes * 1e9 / ns)}/s"


def age_days(date):
    """Days since a profile's date; None where it is no date."""
    try:
        then = datetime.strptime(date, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    return (datetime.now(timezone.utc) - then).total_seconds() / 86400


def age(date):
    days = age_days(date)
    if days is None:
        return "of unknown age"
    if days < 0:
        return "from the future"
    return "made today" if days < 1 else f"{days:.0f} day{'s' if days >= 2 else ''} old"
