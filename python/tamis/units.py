"""Sizes and times as people write and read them."""

from datetime import datetime, timezone

from .errors import UserError

SUFFIXES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def parse_size(text):
    """Bytes from "64M", "1G", "1048576"."""
    digits = text.strip().lower().removesuffix("b").removesuffix("i")
    number = digits.rstrip("kmgt")
    try:
        return int(float(number) * SUFFIXES[digits[len(number):]])
    except (KeyError, ValueError, OverflowError):
        raise UserError(f"{text} is no size: say a number, with k, M or G if you like") from None


def size(count):
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if count == int(count) else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def duration_ns(time_ns):
    for unit, factor in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if time_ns < 1000 * factor:
            return f"{time_ns / factor:.3g} {unit}"
    return f"{time_ns / 1e9:.3g} s"


def rate(count, time_ns):
    """Bytes in a time, as bytes per second."""
    return f"{size(count / (time_ns / 1e9))}/s"


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
