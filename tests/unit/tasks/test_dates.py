"""The calendar, held against Python's own."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from tollbook.tasks.dates import LAST_DAY, date_of, day_of

EPOCH = date(1970, 1, 1)


@pytest.mark.parametrize(
    ("day", "text"),
    [
        (0, "1970-01-01"),
        (-1, "1969-12-31"),
        (58, "1970-02-28"),
        (59, "1970-03-01"),
        (10_957 + 59, "2000-02-29"),
        (14_944, "2010-12-01"),
        (LAST_DAY, "9999-12-31"),
        (-719_528, "0000-01-01"),
    ],
)
def test_known_days(day: int, text: str) -> None:
    assert (day, text) == (day_of(text), date_of(day))


def test_every_99th_day_is_that_of_the_library() -> None:
    for day in range((date.min - EPOCH).days, LAST_DAY + 1, 99):
        text = (EPOCH + timedelta(days=day)).isoformat()
        assert (day, text) == (day_of(text), date_of(day))


@pytest.mark.parametrize(
    "text",
    ["", "2011-02-29", "1900-02-29", "2011-13-01", "2011-00-10", "2011-04-31", "2011-1-1", "2011-01-01 "],
)
def test_no_such_day(text: str) -> None:
    assert day_of(text) is None
