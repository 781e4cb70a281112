"""nbgrader's own reading of times: due dates from the formgrader or the command line, and its lists of submissions.

nbgrader takes `+0200`, which its formgrader writes behind a due date, for two hundred seconds, and `CEST` for UTC;
and one time stamp that says nothing ends its list of a whole class. Importing this is enough.
"""

from __future__ import annotations

from datetime import datetime

from nbgrader import utils
from nbgrader.apps import api

from grading.moments import is_stamp, read_moment

_theirs = utils.parse_utc


def parse_utc(ts: datetime | str) -> datetime:
    """A due date in UTC and without a zone; what is no ISO date and time goes the way it went.

    Raises:
        ValueError: it names a zone that is unknown, or that several share.
    """
    if isinstance(ts, str) and is_stamp(ts):
        moment = read_moment(ts)
        if moment is None:
            raise ValueError(f"{ts!r} is not sure: write the zone as an offset, such as +02:00")
        return moment
    return _theirs(ts)


utils.parse_utc = parse_utc  # which the gradebook calls
api.parse_utc = read_moment  # which the formgrader's lists call; None is no time
