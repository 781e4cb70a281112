"""Time stamps as text: read by rule, or not at all.

nbgrader writes them with the zone's short name (`%Z`) and reads a name that it does not know as UTC: `CEST` then
moves a submission by two hours, `-03` by three seconds. Here a short name counts where every zone of the world that
calls itself so at that hour agrees on the offset, or where the course's own zone does.
"""

from __future__ import annotations

import re
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta, timezone
from functools import cache, lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

_STAMP = re.compile(
    r"(\d{4}-\d\d?-\d\d?)[ T](\d\d?:\d\d(?::\d\d)?)(?:[.,](\d{1,6})\d*)?\s*(\S*)", re.ASCII | re.IGNORECASE
)
_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d\d?)(?::?(\d\d))?", re.ASCII)
_FORMATS = {1: "%Y-%m-%d %H:%M", 2: "%Y-%m-%d %H:%M:%S"}
_LONGEST = 100  # characters of a stamp; what is longer is none


def read_moment(text: str, home: str | None = None) -> datetime | None:
    """The moment that a time stamp names, in UTC and without a zone, as nbgrader keeps it; None where it is not sure.

    A stamp is an ISO date and time and then nothing or `UTC` (both are UTC), an offset (`+02:00`, `-03`), the
    name of a zone (`Europe/Berlin`) or its short name at that hour (`CEST`).

    Args:
        home: the course's own time zone, `c.Exchange.timezone`; it decides what a short name that several
            zones share means there (`IST`, `CST`).
    """
    found = _STAMP.fullmatch(text.strip())
    if found is None or not is_stamp(text):
        return None
    day, clock, fraction, zone = found.groups()
    try:
        local = datetime.strptime(f"{day} {clock}", _FORMATS[clock.count(":")])
        local += timedelta(microseconds=int((fraction or "0").ljust(6, "0")))
        # At either end of the calendar other time zones have no name for it, and nbgrader's pages fail on it.
        if not MINYEAR < local.year < MAXYEAR:
            return None
        offset = _offset(local, zone, home)
        return None if offset is None else local - offset
    except (ValueError, OverflowError):  # a thirteenth month, a second 60
        return None


def is_stamp(text: str) -> bool:
    """Whether a text is a date, a time and perhaps a zone, be it one that nobody can read for sure."""
    return len(text) < _LONGEST and _STAMP.fullmatch(text.strip()) is not None


def write_moment(moment: datetime) -> str:
    """A moment in UTC as nbgrader's `timestamp.txt` has it."""
    return f"{moment:%Y-%m-%d %H:%M:%S.%f} UTC"


def moment_of(seconds: float) -> datetime | None:
    """The time of a file; None where it is beyond the calendar: some file systems take any number."""
    try:
        return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        return None


def _offset(local: datetime, zone: str, home: str | None) -> timedelta | None:
    """From UTC to that zone at that local time; None where it is unknown, or not the same for all it may mean."""
    name = zone.upper()
    if name in ("", "Z", "UTC", "GMT"):
        return timedelta(0)
    if found := _OFFSET.fullmatch(name):
        sign = -1 if found[1] == "-" else 1
        size = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
        timezone(size)  # a day or more is no offset
        return sign * size
    if "/" in zone:
        return _agreed(local, [zone])
    own = {home} if home else set()
    for zones in (sorted(own & _zones()), sorted(_zones())):
        offset = _agreed(local, zones, name)
        if offset is not None:
            return offset
    return None


def _agreed(local: datetime, zones: list[str], name: str | None = None) -> timedelta | None:
    """The one offset of these zones at a local time, of those that call themselves `name` then, where one is given.

    An hour that a clock shows twice in autumn, or never in spring, has two.
    """
    found = set()
    for key in zones:
        zone = _zone(key)
        for fold in (0, 1):
            moment = local.replace(tzinfo=zone, fold=fold)
            if zone and (name is None or (moment.tzname() or "").upper() == name):
                found.add(moment.utcoffset())
    return found.pop() if len(found) == 1 else None


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


@lru_cache(maxsize=1024)
def _zone(key: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(key)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
