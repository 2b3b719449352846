"""`tollbook diff`: two runs side by side: how they began, where they part, what came of it.

    A, B ─► verified and replayed ─► sides ─► parting ─► text, or one document
                                  └► judged ─► scores, predicate by predicate

Nothing is kept. Where the runs are those of two agents on one case, the differences are theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from ...protocol.errors import TollbookError
from ..console import Exit, counted, json_option, print_document, printable
from ..session import Session, pass_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...ledger.audit import Audit
    from ...scorers.receipt import Receipt, Stated
    from ..judging import Judge
    from ..parting import Parting
    from ..sides import Side, Spoken

Json = Any

_FINDINGS: Final = 3
"""The most findings of a run that are shown: it is `tollbook verify` that is for finding."""


class _Compared(NamedTuple):
    """Two runs, compared: what each was worth, or why it has no score."""

    audits: tuple[Audit, Audit]
    sides: tuple[Side, Side]
    parting: Parting
    worth: tuple[Receipt | str, Receipt | str]

    @property
    def is_good(self) -> bool:
        """Whether both runs say the same, and nothing was found in either."""
        return self.parting.is_same and not any(audit.findings for audit in self.audits)


@click.command()
@click.argument("a")
@click.argument("b")
@json_option
@pass_session
def command(session: Session, a: str, b: str, *, as_json: bool) -> Exit:
    """Compare two runs: how they began, the message at which they part, all after it, their ends and scores.

    Messages are set against each other by the acts of the party that is evaluated. Numbers of records and
    salts, which differ in any two runs, are no difference: rows that a run made are named by table and order.
    The exit code is 0 where both say the same to the same end, whatever they began with, and 3 where they
    don't, or where a run doesn't verify.
    """
    compared = _compare(session, a, b)
    if as_json:
        print_document("diff", _document(compared))
    else:
        for line in _text(compared):
            click.echo(printable(line))
    return Exit.GOOD if compared.is_good else Exit.FOUND_FALSE


def _compare(session: Session, *words: str) -> _Compared:
    from ...ledger.verify import audit_run, shelf_of  # noqa: PLC0415 - brings in the market
    from ..judging import Judge  # noqa: PLC0415 - brings in CEL
    from ..parting import part  # noqa: PLC0415 - as above
    from ..play.conduct import with_conduct  # noqa: PLC0415 - as above
    from ..selection import find_run  # noqa: PLC0415 - as above
    from ..sides import sides_of  # noqa: PLC0415 - as above

    with session.store() as store:
        shelf = shelf_of(store)
        runs = [find_run(store, word) for word in words]
        one, other = (with_conduct(audit_run(store, *run, shelf, keep=True)) for run in runs)
    sides = sides_of(one, other)
    judge = Judge()
    return _Compared((one, other), sides, part(*sides), (_judged(judge, one), _judged(judge, other)))


def _judged(judge: Judge, audit: Audit) -> Receipt | str:
    from ...scorers.receipt import receipt_of  # noqa: PLC0415 - brings in CEL

    try:
        score = judge.score(audit)
        return receipt_of(score) if score.value is not None else score.reason or score.outcome
    except TollbookError as error:
        return error.text


def _document(compared: _Compared) -> dict[str, Json]:
    parting = compared.parting
    parted = parting.parted
    return {
        "same": parting.is_same,
        "runs": [_run(compared, place) for place in (0, 1)],
        "began": [_shown(value._asdict()) for value in parting.began],
        "parted": None if parted is None else {"place": parted, **_at(compared, parted)},
        "said": [
            {"same": pair.is_same, "a": _message(pair.a), "b": _message(pair.b)} for pair in parting.pairs
        ],
        "rows": [_shown({**cell._asdict(), "keys": list(cell.keys)}) for cell in parting.cells],
        "predicates": [
            {"id": name, "a": one, "b": other} for name, one, other in _verdicts(compared)
        ],
    }


def _run(compared: _Compared, place: int) -> dict[str, Json]:
    from ...scorers.score import exact  # noqa: PLC0415 - brings in CEL

    audit, side, worth = compared.audits[place], compared.sides[place], compared.worth[place]
    unscored = isinstance(worth, str)
    return {
        "run": audit.run,
        "actor": side.actor,
        "records": audit.records,
        "messages": len(side.spoken),
        "outcome": side.outcome,
        "score": None if unscored else exact(worth.value),
        "reason": worth if unscored else None,
        "findings": audit.findings,
    }


def _at(compared: _Compared, place: int) -> dict[str, Json]:
    found = [side.spoken[place] if place < len(side.spoken) else None for side in compared.sides]
    return {"a": _message(found[0]), "b": _message(found[1])}


def _message(spoken: Spoken | None) -> dict[str, Json] | None:
    if spoken is None:
        return None
    decision = spoken.decision
    return {
        "seq": spoken.seq,
        "from": spoken.sender,
        "to": spoken.to,
        "reply_to": spoken.reply_to,
        "action": _shown(spoken.action),
        **{name: decision[name] for name in ("outcome", "rule", "detail", "events")},
    }


def _shown(value: Json) -> Json:
    """A value as JSON; what is withheld is null."""
    from ...scorers.view import Withheld  # noqa: PLC0415 - brings in CEL
    from ..sides import mapped  # noqa: PLC0415 - as above

    return None if isinstance(value, Withheld) else mapped(value, _shown)


def _verdicts(compared: _Compared) -> Iterator[tuple[str, Stated | None, Stated | None]]:
    """The predicates and caps of both by id, and what each says of its run."""
    said: list[dict[str, Stated]] = []
    for worth in compared.worth:
        entries = () if isinstance(worth, str) else (*worth.predicates, *worth.caps)
        said.append({entry.id: entry.value for entry in entries})
    one, other = said
    for name in dict.fromkeys([*one, *other]):
        yield name, one.get(name), other.get(name)


def _text(compared: _Compared) -> Iterator[str]:
    from ..abreast import began_lines, row_lines, said_lines  # noqa: PLC0415 - brings in CEL

    parting = compared.parting
    for letter, audit, side in zip("ab", compared.audits, compared.sides, strict=True):
        yield f"{letter}  {_title(audit, side)}"
        yield from _finding_lines(audit)
    yield from began_lines(parting)
    yield from said_lines(parting, compared.sides)
    yield from row_lines(parting)
    yield from _worth_lines(compared)


def _title(audit: Audit, side: Side) -> str:
    task, case = side.began["task.id"], side.began["task.case"]
    asked = "no task" if task is None else f"{task} {case}"
    size = f"{counted(audit.records, 'record')}, {counted(len(side.spoken), 'message')}"
    return f"{audit.run[:12]}  {asked} trial {side.began['trial']}: {side.outcome or 'open'}, {size}"


def _finding_lines(audit: Audit) -> Iterator[str]:
    for found in audit.findings[:_FINDINGS]:
        place = "" if found.seq is None else f" at record {found.seq}"
        yield f"   {found.code}{place}: {found.text}"
    if len(audit.findings) > _FINDINGS:
        yield f"   … and {len(audit.findings) - _FINDINGS} more: see `tollbook verify`"


def _worth_lines(compared: _Compared) -> Iterator[str]:
    from ...scorers.report import points  # noqa: PLC0415 - brings in CEL

    one, other = ("none" if isinstance(worth, str) else points(worth.value) for worth in compared.worth)
    yield f"score: {one}" if one == other else f"score: {one} | {other}"
    for letter, worth in zip("ab", compared.worth, strict=True):
        if isinstance(worth, str):
            yield f"  {letter} has none: {worth}"
    for name, first, second in _verdicts(compared):
        if first != second:
            yield f"  {name}: {_said(first)} | {_said(second)}"


def _said(value: Stated | None) -> str:
    """A predicate's value in words."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"{value[0]} of {value[1]}"
    return "none" if value is None else value
