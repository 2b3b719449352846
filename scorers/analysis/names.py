"""The analyses by name; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..score import Score
    from .sheet import Sheet

NAMES: Final = ("credit", "means", "stages", "weights", "collisions", "flips", "pairs", "renderings")
"""Each analysis, in the order of a report; its module has the same name."""

OF_VIEWS: Final = frozenset({"collisions"})
"""Those that look at the projections of scores."""


def sheet_of(name: str, scores: Sequence[Score]) -> Sheet:
    """What one analysis says of scores."""
    assert name in NAMES, "an analysis"
    found: Sheet = import_module(f".{name}", __package__).sheet(scores)
    return found
