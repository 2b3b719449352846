"""`tollbook show`: what a run is, or one of its records in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click

from ..console import json_option, print_document, printable
from ..session import Session, pass_session

if TYPE_CHECKING:
    from ...ledger.store import Store


@click.command()
@click.argument("run")
@click.option("--seq", type=click.IntRange(min=0), metavar="N", help="One record, with its parts.")
@json_option
@pass_session
def command(session: Session, run: str, seq: int | None, *, as_json: bool) -> None:
    """Print what RUN is: its world, task, parties and their keys, origin, size, outcome and notes."""
    from ..selection import find_run  # noqa: PLC0415 - the help needs none

    with session.store() as store:
        number, run_id = find_run(store, run)
        found = _run(store, number, run_id) if seq is None else _record(store, number, run_id, seq)
    if as_json:
        print_document("show", found)
        return
    for name, value in found.items():
        for line in _lines(name, value):
            click.echo(line)


def _run(store: Store, number: int, run_id: str) -> dict[str, Any]:
    from ..reading import document_of, ends_of  # noqa: PLC0415 - the help needs none

    first, last = ends_of(store, number, run_id)
    opened, ended = document_of(first, run_id), document_of(last, run_id)
    return {
        "run": run_id,
        "world": opened["world"],
        "task": opened["task"],
        "trial": opened["trial"],
        "origin": opened["origin"],
        "ledger": opened["ledger"],
        "parties": opened["parties"],
        "records": last.seq + 1,
        "outcome": ended["outcome"] if last.kind == "seal" else None,
        "notes": store.notes(number),
    }


def _record(store: Store, number: int, run_id: str, seq: int) -> dict[str, Any]:
    from ..reading import document_of, record_of  # noqa: PLC0415 - as above

    stored = record_of(store, number, run_id, seq)
    body = document_of(stored, run_id)
    parts = {part.field: {"salt": part.text.salt, "text": part.text.text} for part in stored.parts}
    return {"run": run_id, "seq": seq, "kind": stored.kind, "body": body, "sig": stored.sig, "parts": parts}


def _lines(name: str, value: object, depth: int = 0) -> list[str]:
    """A value as indented lines, nested ones below their name."""
    indent = "  " * depth
    if isinstance(value, str) and "\n" in value:
        return [f"{indent}{name}:", *(f"{indent}  {printable(line)}" for line in value.splitlines())]
    items = _items(value)
    if items:
        return [f"{indent}{name}:", *(line for key, item in items for line in _lines(key, item, depth + 1))]
    return [f"{indent}{name}: {'-' if items is not None or value is None else printable(str(value))}"]


def _items(value: object) -> list[tuple[str, object]] | None:
    """What an object or a list holds, by key or place; None for anything else."""
    if isinstance(value, dict):
        return [(str(key), item) for key, item in cast("dict[str, object]", value).items()]
    if isinstance(value, list):
        return [(str(place), item) for place, item in enumerate(cast("list[object]", value))]
    return None
