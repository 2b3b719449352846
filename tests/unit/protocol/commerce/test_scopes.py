"""Every query by every party on every row: what is shown is the party's to read, and else it isn't there."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from market_readers import may_read
from whole_market import FACTS, PART, QUERIES, ROLES, STRICT_FACTS, WORLD, rows_of, ruled

from tollbook.protocol.bodies import Message
from tollbook.protocol.canonical import encode, encode_typed
from tollbook.protocol.engine import Ruling
from tollbook.protocol.tables import NO_CHANGE, State
from tollbook.protocol.world import row_fields

STATE = State(FACTS)
ROWS = rows_of(STATE)
FREE = {"subject": ("evidence_file",), "party": ("governance_file",)}
"""Fields of queries that name what rows are on, and no row."""


def asked(sender: str, kind: str, /, **fields: Any) -> Ruling:
    raw = encode_typed(msgspec.convert({"kind": kind, **fields}, WORLD.kinds[kind]))
    message = Message(
        action=msgspec.Raw(raw), sender=sender, key=None, n=0, reply_to=None, seen=(0, PART), to=None
    )
    return ruled(STATE, message, 1)


def names(kind: str) -> list[dict[str, str]]:
    """What a query can be about: every row of its table, or nothing but its sender."""
    action = WORLD.kinds[kind]
    fields = dict(row_fields(action)) or {
        field: table for field in FREE for table in FREE[field] if field in action.__struct_encode_fields__
    }
    assert len(fields) <= 1, kind
    return [{field: key} for field, table in fields.items() for key in ROWS[table]] or [{}]


@pytest.mark.parametrize("kind", QUERIES)
def test_a_query_shows_rows_of_the_asker_alone_and_changes_nothing(kind: str) -> None:
    root = STATE.root()
    shown = 0
    for fields in names(kind):
        for party in ROLES:
            ruling = asked(party, kind, **fields)
            assert ([], NO_CHANGE) == (ruling.decision.events, ruling.decision.delta)
            value = {} if ruling.shown is None else msgspec.json.decode(encode(ruling.shown.value))
            found = [(table, row["id"]) for table, listed in value.items() for row in listed]
            for table, key in found:
                assert may_read(ROWS, table, key, party), (party, fields, table, key)
            assert sorted(ruling.decision.reads) == ([] if kind == "evidence.list" else sorted(found))
            shown += len(found)
    assert shown
    assert root == STATE.root()


@pytest.mark.parametrize("kind", [kind for kind in QUERIES if row_fields(WORLD.kinds[kind])])
def test_a_row_that_a_party_may_not_read_is_refused_as_one_that_is_not_there(kind: str) -> None:
    ((field, table),) = row_fields(WORLD.kinds[kind]).items()
    for party, role in ROLES.items():
        if role not in WORLD.roles.get(kind, ROLES.values()):
            continue
        unknown = asked(party, kind, **{field: "none"}).decision
        assert str(unknown.rule).endswith(".unknown")
        for key in ROWS[table]:
            if not may_read(ROWS, table, key, party):
                foreign = asked(party, kind, **{field: key}).decision
                assert (unknown.rule, dict.fromkeys(unknown.detail, key)) == (foreign.rule, foreign.detail)


def test_every_table_that_an_author_can_fill_has_rows() -> None:
    made_by_acts = {"operation"}
    assert made_by_acts == {table for table, found in ROWS.items() if not found}
    assert ROWS.keys() == rows_of(State(STRICT_FACTS)).keys()
