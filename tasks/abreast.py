"""What differs between two runs, in lines: what is the same once, what differs as `a | b`.

             a     b
    ~        7     3  buyer → merchant  negotiation.propose  quantity=1 unit_price=4900 | 100  accepted
    -  only a has it     +  only b has it     =  both, the same

Where an action is the same, what differs of its decision follows. Ticks of the clock are left out.

Not here: what differs (`parting`), the scores (`tasks.commands.diff`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final

import msgspec

from ..scorers.view import Withheld
from .console import counted
from .parting import Cell, Pair, Parting
from .sides import Row, Side, Spoken, alike

Json = Any

SHOWN: Final = 60
"""The most characters of a value that are shown; of two that differ, from a little before where they do."""
_LEAD: Final = 8
_ABSENT: Final = "–"
_UNPLAIN: Final = frozenset(' |"–')
_HEX: Final = frozenset("0123456789abcdef")


def began_lines(parting: Parting) -> Iterator[str]:
    """How the runs began otherwise."""
    if parting.began:
        yield "began otherwise:"
    for what, one, other in parting.began:
        yield f"  {what}: {against(one, other)}"


def said_lines(parting: Parting, sides: tuple[Side, Side]) -> Iterator[str]:
    """Where they part, what was said from there on, and how they ended otherwise."""
    place = parting.parted
    counts = [len(side.spoken) for side in sides]
    if place is None:
        yield f"the same was said: {counted(counts[0], 'message')}"
    else:
        yield f"they part at message {place} of {counts[0]} | {counts[1]}:"
        for letter, side in zip("ab", sides, strict=True):
            yield f"  {letter}  {_at(side, place)}"
        yield "from there on:"
        yield "        a     b"
        shown = [pair for pair in parting.pairs if not _is_tick(pair, sides)]
        for pair in shown or parting.pairs:
            yield from _pair(pair)
    if parting.outcomes[0] != parting.outcomes[1]:
        one, other = (outcome or "open" for outcome in parting.outcomes)
        yield f"ended: {one} | {other}"


def _at(side: Side, place: int) -> str:
    if place >= len(side.spoken):
        return "nothing more was said"
    spoken = side.spoken[place]
    return f"record {spoken.seq}: {spoken.sender}  {spoken.kind}  {_ruled(spoken)}"


def _is_tick(pair: Pair, sides: tuple[Side, Side]) -> bool:
    both = zip((pair.a, pair.b), sides, strict=True)
    return all(spoken is None or spoken.kind == side.clock for spoken, side in both)


def row_lines(parting: Parting) -> Iterator[str]:
    """The rows that differ at the end, each with its columns that do."""
    if parting.cells:
        yield "rows that differ at the end:"
    for cells in _by_row(parting):
        table, name, (one, other), column, left, right = cells[0]
        title = name if name.startswith(f"{table}#") else f"{table} {name}"
        both = one or _ABSENT if one == other else f"{one or _ABSENT} | {other or _ABSENT}"
        own = "" if name in (one, other) else f" ({both})"
        if column is None:
            row: Row = right if one is None else left
            yield f"  {'+' if one is None else '-'} {title}{own}: {_fields(row, row)}"
        else:
            columns = "  ".join(f"{cell.column}={against(cell.a, cell.b)}" for cell in cells)
            yield f"  ~ {title}{own}: {columns}"


def against(one: Json, other: Json) -> str:
    """Two values that differ, as `a | b`."""
    left, right = _plain(one), _plain(other)
    if max(len(left), len(right)) > SHOWN:
        if _is_hash(left) and _is_hash(right):
            return f"{left[:12]}… | {right[:12]}…"
        apart = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
        start = max(0, apart - _LEAD) if apart + _LEAD > SHOWN else 0
        left, right = (f"{'…' if start else ''}{text[start:]}" for text in (left, right))
    return f"{_cut(left)} | {_cut(right)}"


def _pair(pair: Pair) -> Iterator[str]:
    a, b = pair.a, pair.b
    if a is None or b is None or a.kind != b.kind:
        if a is not None:
            yield _line("-", str(a.seq), "", a, a)
        if b is not None:
            yield _line("+", "", str(b.seq), b, b)
    else:
        yield _line("=" if pair.is_same else "~", str(a.seq), str(b.seq), a, b)


def _line(mark: str, a: str, b: str, one: Spoken, other: Spoken) -> str:
    to = one.to or "-" if one.to == other.to else f"{one.to or '-'} | {other.to or '-'}"
    fields = _fields(one.bare["action"], other.bare["action"])
    parts = [f"{one.sender} → {to}", one.kind, *([fields] if fields else []), _decision(one, other)]
    return f"{mark} {a:>7}{b:>6}  {'  '.join(parts)}"


def _fields(one: Row, other: Row) -> str:
    """The fields of two actions or rows, those that differ as `a | b`."""
    names = [name for name in dict.fromkeys([*one, *other]) if name != "kind"]
    return " ".join(f"{name}={_either(one.get(name), other.get(name))}" for name in names)


def _either(one: Json, other: Json) -> str:
    return _cut(_plain(one)) if alike(one, other) else against(one, other)


def _decision(one: Spoken, other: Spoken) -> str:
    """How both were decided, and, of actions that are the same, what else differs."""
    first, second = _ruled(one), _ruled(other)
    if first != second:
        return f"{first} | {second}"
    if not alike(one.bare["action"], other.bare["action"]):
        return first
    apart = [
        f"{what}={against(one.bare[what], other.bare[what])}"
        for what in ("reply_to", "key", "detail")
        if not alike(one.bare[what], other.bare[what])
    ]
    return "  ".join([first, *apart, *_events(one, other)])


def _events(one: Spoken, other: Spoken) -> Iterator[str]:
    """The first event that differs: others mostly follow from it."""
    for first, second in zip_longest(one.bare["events"], other.bare["events"]):
        if alike(first, second):
            continue
        if first is None or second is None or first["kind"] != second["kind"]:
            yield against(first and first["kind"], second and second["kind"])
        else:
            apart = [name for name in first if not alike(first[name], second.get(name))]
            fields = [f"{name}={against(first[name], second[name])}" for name in apart]
            yield " ".join([first["kind"], *fields])
        return


def _ruled(spoken: Spoken) -> str:
    rule = spoken.decision["rule"]
    return f"{spoken.decision['outcome']}{'' if rule is None else f' {rule}'}"


def _by_row(parting: Parting) -> Iterator[list[Cell]]:
    row: list[Cell] = []
    for cell in parting.cells:
        if row and (cell.table, cell.name) != (row[0].table, row[0].name):
            yield row
            row = []
        row.append(cell)
    if row:
        yield row


def _plain(value: Json) -> str:
    """A value as a word: quoted where it wouldn't be one."""
    if value is None:
        return _ABSENT
    if isinstance(value, Withheld):
        return "withheld"
    if isinstance(value, str) and value.isprintable() and value and not set(value) & _UNPLAIN:
        return value
    return msgspec.json.encode(value).decode()


def _is_hash(text: str) -> bool:
    return len(text) == 64 and set(text) <= _HEX


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
