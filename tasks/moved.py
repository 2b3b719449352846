"""What moved since the last receipts, as a command tells it: in words and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .console import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..scorers.receipt import Difference, Stated


def moved_document(difference: Difference) -> dict[str, object]:
    """What moved of one run, as JSON."""
    from ..scorers.score import exact  # noqa: PLC0415 - brings in CEL

    return {
        "run": difference.run,
        "before": exact(difference.before),
        "after": None if difference.after is None else exact(difference.after),
        "same_scorer": difference.same_scorer,
        "moves": [move._asdict() for move in difference.moves],
    }


def print_moved(moved: Sequence[Difference]) -> None:
    """Prints what moved; nothing where nothing did."""
    from ..scorers.report import points  # noqa: PLC0415 - brings in CEL

    if moved:
        click.echo("\nmoved since the last score:")
    for difference in moved:
        after = "no score" if difference.after is None else points(difference.after)
        click.echo(f"  {difference.run[:12]}  {points(difference.before)} → {after}")
        for move in difference.moves:
            records = f" (records {', '.join(map(str, move.seqs))})" if move.seqs else ""
            click.echo(f"    {printable(move.id)}: {_said(move.before)} → {_said(move.after)}{records}")


def _said(value: Stated | None) -> str:
    """A predicate's value in words."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"{value[0]} of {value[1]}"
    return "none" if value is None else value
