"""Which runs short of full credit look like one at full credit to who sees less than all of a run.

    at one place (a trial of a case of a task file), one short and one full, alike in a view ─► a collision

No judge of that view alone can turn down the one and accept the other, whatever it
asks. At one place all were asked the same: another trial may draw other parameters, by
which a judge could tell two runs apart that did the same. So no two collide in the
whole trace, which is what our judge sees. Where no run has full credit nothing is found.

Not here: what the views are (`projection`); how often a judge of one would be wrong.

Source: the paper "Agentic Commerce World", section 5.6, appendix D, tables 5, 9 and 11.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Final, Literal, NamedTuple

from ..compare import place_of
from ..predicates import FULL
from ..projection import Projections
from ..score import Score
from ..tables import Table
from .panel import MOST, counted_share, family_of, panel_of, share_document, split
from .sheet import Heat, Sheet

View = Literal["final", "last", "acts", "trace"]
"""A part of a run, as `Projections` names it."""

VIEWS: Final[tuple[View, ...]] = ("final", "last", "acts", "trace")

_SAID: Final[dict[View, str]] = {
    "final": "final state",
    "last": "last act",
    "acts": "acts in order",
    "trace": "whole trace",
}


class Seen(NamedTuple):
    """A run as its judges see it; it need not be recorded.

    ``place`` is what must be the same of two runs to be compared: what they
    were asked. ``projections`` is None where they weren't asked for.
    """

    name: str
    place: Hashable
    is_full: bool
    projections: Projections | None


class Collisions(NamedTuple):
    """What one view doesn't tell apart.

    ``short`` are the runs short of full credit; of ``missing`` ones the view
    has nothing. ``pairs`` name each that collides, and the first that it
    collides with.
    """

    view: View
    short: int
    missing: int
    pairs: tuple[tuple[str, str], ...]


def collisions(runs: Sequence[Seen]) -> tuple[Collisions, ...]:
    """The collisions of runs, for each view."""
    return tuple(_of_view(view, runs) for view in VIEWS)


def seen_of(score: Score) -> Seen:
    """A scored run as its judges see it."""
    return Seen(score.run, place_of(score), score.value == FULL, score.projections)


def sheet(scores: Sequence[Score]) -> Sheet:
    """The collisions of scored runs, overall and by family."""
    panel = panel_of(scores)
    seen = [seen_of(score) for score in panel.scored]
    found = collisions(seen)
    families = [(name, collisions([seen_of(each) for each in runs])) for name, runs in _short(panel.scored)]
    heat = [(name, [_share(each) for each in of]) for name, of in families]
    columns = tuple(_SAID.values())
    return Sheet(
        name="collisions",
        title="Collisions: runs short of full credit that look like one at full credit",
        tables=(_views(found), *([_families(families)] if families else [])) if panel.agents else (),
        charts=(Heat("Shares of runs that collide, by family", columns, heat),) if heat else (),
        notes=(*panel.notes(), *_notes(seen, found)),
        document={
            "views": [_entry(each) for each in found],
            "families": [_family(name, of) for name, of in families],
            "alone": _alone(seen),
            **panel.document(),
        },
    )


def _of_view(view: View, runs: Iterable[Seen]) -> Collisions:
    full: dict[tuple[Hashable, str], str] = {}
    short: list[tuple[str, tuple[Hashable, str] | None]] = []
    for run in runs:
        digest: str | None = getattr(run.projections, view, None)
        looks = None if digest is None else (run.place, digest)
        if not run.is_full:
            short.append((run.name, looks))
        elif looks is not None:
            full.setdefault(looks, run.name)
    return Collisions(
        view,
        short=len(short),
        missing=sum(looks is None for _, looks in short),
        pairs=tuple((name, full[looks]) for name, looks in short if looks in full),
    )


def _alone(runs: Iterable[Seen]) -> int:
    """How many runs short of full credit were played where no run has it."""
    runs = list(runs)
    full = {run.place for run in runs if run.is_full}
    return sum(not run.is_full and run.place not in full for run in runs)


def _short(scores: Iterable[Score]) -> list[tuple[str, list[Score]]]:
    """The runs of each family that has one short of full credit."""
    families = split(scores, family_of)
    return [(name, runs) for name, runs in families if any(score.value != FULL for score in runs)]


def _share(found: Collisions) -> Fraction | None:
    looked_at = found.short - found.missing
    return Fraction(len(found.pairs), looked_at) if looked_at else None


def _views(found: Sequence[Collisions]) -> Table:
    rows: list[tuple[str, ...]] = []
    for each in found:
        looked_at = each.short - each.missing
        colliding = len(each.pairs)
        counts = (each.short, each.missing, colliding)
        rows.append((_SAID[each.view], *map(str, counts), counted_share(colliding, looked_at)))
    return Table(("view", "short", "missing", "collide", "share"), rows, frozenset({0}))


def _families(families: Sequence[tuple[str, Sequence[Collisions]]]) -> Table:
    rows = [(name, str(of[0].short), *(str(len(each.pairs)) for each in of)) for name, of in families]
    return Table(("family", "short", *_SAID.values()), rows, frozenset({0}), "Collisions by family")


def _notes(seen: Sequence[Seen], found: Sequence[Collisions]) -> list[str]:
    alone = _alone(seen)
    told: list[str] = []
    if alone:
        told.append(f"of {found[0].short} short of full credit {alone} were played where no run has it")
    if any(each.missing for each in found):
        told.append("missing: a part that the view takes is withheld; shares are of the others")
    return told


def _family(name: str, of: Sequence[Collisions]) -> dict[str, Any]:
    colliding = {each.view: len(each.pairs) for each in of}
    return {"family": name, "short": of[0].short, "colliding": colliding}


def _entry(found: Collisions) -> dict[str, Any]:
    return {
        "view": found.view,
        "short": found.short,
        "missing": found.missing,
        "colliding": len(found.pairs),
        **share_document(len(found.pairs), found.short - found.missing),
        "pairs": [{"run": run, "full": full} for run, full in found.pairs[:MOST]],
    }
