"""Days as whole numbers: the proleptic Gregorian calendar, counted from an epoch.

    0 = 1970-01-01      day_of("2010-12-01") = 14944      date_of(14944) = "2010-12-01"

A year of this count begins in March, so that a leap day is its last: month m = 0 … 11 begins on its day
⌊(153·m + 2) / 5⌋, and 400 years are 146,097 days.

Not here: what time it is (no market knows), or time zones.

Source: Richards 2013, "Calendars", section 15.11 of the Explanatory Supplement to the Astronomical Almanac;
Hinnant 2021, "chrono-Compatible Low-Level Date Algorithms".
"""

from __future__ import annotations

import re

LAST_DAY = 2_932_896
"""9999-12-31, the last that four digits of a year can write."""

_FORM = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_ERA_DAYS = 146_097
_TO_EPOCH = 719_468  # days from 0000-03-01 to 1970-01-01


def day_of(text: str) -> int | None:
    """The day of a date `YYYY-MM-DD`; None where there is no such day."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    year, month, day = (int(part) for part in found.groups())
    shifted, march = (year - 1, month + 9) if month <= 2 else (year, month - 3)
    era, of_era = divmod(shifted, 400)
    of_year = (153 * march + 2) // 5 + day - 1
    number = era * _ERA_DAYS + of_era * 365 + of_era // 4 - of_era // 100 + of_year - _TO_EPOCH
    return number if date_of(number) == text else None


def date_of(day: int) -> str:
    """The date of a day, as `YYYY-MM-DD` in the years 0 to 9999."""
    era, of_era = divmod(day + _TO_EPOCH, _ERA_DAYS)
    year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // (_ERA_DAYS - 1)) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    march = (5 * of_year + 2) // 153
    month = march + 3 if march < 10 else march - 9
    return f"{era * 400 + year + (month <= 2):04}-{month:02}-{of_year - (153 * march + 2) // 5 + 1:02}"
