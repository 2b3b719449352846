"""Tables of refusals: one row per refusal in order of checks, per action of the commerce market.

    (refused by or None, kind, "from > to", "field=value field=value …")

A test file beside `test_refusals` has its own `TABLE` of such rows, written as literals, so that all of
them together can be held against the market's rules.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from tollbook.protocol.bodies import Decision
from tollbook.protocol.tables import NO_CHANGE

Row = tuple[str | None, str, str, str]

NUMBERS = {"MUCH": 10**12, "HALF": 10**12 // 2, "LAST": 2**31 - 6, "OVER": 2**31 - 5}
UNSAID: dict[str, dict[str, Any]] = {
    "negotiation.propose": {"quantity": 2},
    "return.request": {"condition": "worn"},
    "return.receive": {"condition": "worn"},
}
"""What a row leaves unsaid, by kind."""


def said(market: Any, kind: str, way: str, words: str, **more: Any) -> Decision:
    """What becomes of an act; ``words`` are `field=value`, and what a row leaves unsaid is some value."""
    fields: dict[str, Any] = {**UNSAID.get(kind, {}), **more}
    for name, _, value in (word.partition("=") for word in words.split()):
        fields[name] = int(value) if value.isdigit() else NUMBERS.get(value, value)
    sender, _, to = way.partition(" > ")
    return market.say(sender, kind, to or None, **fields)


def check_refusal(market: Any, rule: str | None, kind: str, way: str, words: str, **more: Any) -> None:
    """A row of a table holds, and a refusal changes nothing."""
    before = market.state.root()
    decision = said(market, kind, way, words, **more)
    assert rule == decision.rule
    if rule is not None:
        assert ("refused", NO_CHANGE, before) == (decision.outcome, decision.delta, market.state.root())


def table_of(path: Path) -> list[Row]:
    """The rows of a test file's `TABLE`; none where it has no such table of refusals."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        target = node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(target, ast.Name) and target.id == "TABLE" and node.value is not None:
            try:
                rows = ast.literal_eval(node.value)
            except ValueError:
                return []
            return [row for row in rows if len(row) == 4]
    return []
