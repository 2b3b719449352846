"""`tollbook log`: a run's records, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..console import json_option, print_document, printable
from ..session import Session, pass_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...ledger.records import Stored

_SHOWN = 100


@click.command()
@click.argument("run")
@json_option
@pass_session
def command(session: Session, run: str, *, as_json: bool) -> None:
    """Print the records of RUN: who said what to whom, and what the market decided."""
    from ..reading import ends_of  # noqa: PLC0415 - the help needs none
    from ..selection import find_run  # noqa: PLC0415 - as above

    with session.store() as store:
        number, run_id = find_run(store, run)
        ends_of(store, number, run_id)  # says so where there is nothing to show
        entries = [_entry(stored, run_id) for stored in store.records(number)]
    if as_json:
        print_document("log", {"run": run_id, "records": entries})
        return
    for entry in entries:
        click.echo(printable(_line(entry)))


def _entry(stored: Stored, run_id: str) -> dict[str, Any]:
    from ..reading import document_of, texts_of  # noqa: PLC0415 - as above

    body = document_of(stored, run_id)
    return {"seq": stored.seq, "kind": stored.kind, "body": body, "parts": texts_of(stored)}


def _line(entry: dict[str, Any]) -> str:
    summary = _SUMMARY[entry["kind"]](entry["body"], entry["parts"])
    return f"{entry['seq']:>5}  {entry['kind']:<8}  {summary}".rstrip()


def _open(body: dict[str, Any], _parts: dict[str, str]) -> str:
    task = body["task"]
    asked = "" if task is None else f" task {task['id']} case {task['case']}"
    return f"{body['world']['name']}/{body['world']['version']}{asked} trial {body['trial']}"


def _message(body: dict[str, Any], parts: dict[str, str]) -> str:
    action = body["action"]
    fields = {name: parts.get(name, value) for name, value in action.items() if name != "kind"}
    shown = " ".join(f"{name}={_short(value)}" for name, value in fields.items())
    return f"{body['from']} → {body['to'] or '-'}  {action['kind']}  {shown}"


def _decision(body: dict[str, Any], _parts: dict[str, str]) -> str:
    events = ", ".join(event["kind"] for event in body["events"])
    rule = "" if body["rule"] is None else f" {body['rule']} {_short(body['detail'])}"
    return f"{body['outcome']}{rule}{' → ' + events if events else ''}"


def _short(value: object) -> str:
    import msgspec  # noqa: PLC0415 - the help needs none

    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


_SUMMARY: dict[str, Callable[[dict[str, Any], dict[str, str]], str]] = {
    "open": _open,
    "brief": lambda body, parts: f"{body['party']}  {_short(parts.get('part', 'withheld'))}",
    "message": _message,
    "decision": _decision,
    "turn": lambda body, parts: f"{body['party']}  given {_short(parts.get('given', '-'))}",
    "key": lambda body, _parts: f"{body['party']}  {body['change']} {body['key']} by {body['by']}",
    "seal": lambda body, _parts: f"{body['outcome']}  {body['rows']} rows  state root {body['root']}",
}
