"""The names of cases: `low`, and in a rendering's words `low@euro`.

A rendering is a case of its own: runs of it are named so, and its trials are counted
for themselves. Trials of one number are played on the same seed, plain or not, so
they can be compared one by one.

Not here: what a rendering changes (`tollbook.tasks.format.rendering`).
"""

from __future__ import annotations

from typing import Final

AT: Final = "@"
PLAIN: Final = ""
"""The rendering of a case that is played plainly."""


def parts_of(case: str) -> tuple[str, str]:
    """The plain case of a case's name, and its rendering."""
    plain, _at, rendering = case.partition(AT)
    return plain, rendering
