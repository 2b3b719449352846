"""What holds of the commerce market whatever is said in it, by whomever.

Acts are drawn as choices (the third negotiation there is, the other party of its row), so that many go
through whatever the acts before them made. What start rows must agree on, the rows of every run do.
"""

from __future__ import annotations

import copy
from collections.abc import Collection
from typing import Any, NamedTuple

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from tollbook.protocol.bodies import Decision, Message, WorldRef
from tollbook.protocol.canonical import encode, encode_typed
from tollbook.protocol.commerce import coherence
from tollbook.protocol.commerce.world import MACHINES, REFUSALS
from tollbook.protocol.engine import Ruling, decide, read_action
from tollbook.protocol.errors import WorldError
from tollbook.protocol.tables import NO_CHANGE, Facts, State
from tollbook.protocol.world import StartRows, part_fields, row_fields, world_of

WORLD = world_of(WorldRef(name="commerce", params={}, version=0))
ROLES = {"b1": "buyer", "b2": "buyer", "m1": "merchant", "m2": "merchant", "op": "operator"}
ROLES |= {"ju": "adjudicator"}
LINES = [
    {"listing": "l1", "quantity": 2, "unit_price": 500},
    {"listing": "l2", "quantity": 1, "unit_price": 7},
]
RECEIVED = {"state": "received", "received_condition": "unused"}
ANSWERED = {"state": "under_review", "position": "accept"}

ROWS: StartRows = {
    "policy": {
        "returns": {"accepted_conditions": ["unused"], "restocked_conditions": ["unused"]},
        "negotiation": {"max_rounds": 4, "deadline_ticks": 3},
        "disputes": {"adjudicator": "ju", "deadline_ticks": 1},
    },
    "listing": {
        "l1": {"merchant": "m1", "title": "lamp", "price": 1000},
        "l2": {"merchant": "m2", "title": "cup", "price": 10, "currency": "SEK"},
        "l3": {"merchant": "m2", "title": "rug", "price": 70, "state": "withdrawn"},
    },
    "inventory": {"l1": {"available": 4}, "l2": {"available": 2}},
    "order": {
        "o1": {"buyer": "b1", "merchant": "m1", "state": "delivered", "lines": LINES},
        "o2": {"buyer": "b2", "merchant": "m1", "state": "settled", "lines": LINES[:1]},
        "oc": {"buyer": "b2", "merchant": "m1", "state": "delivered", "lines": LINES[:1]},
    },
    "negotiation": {
        "na": {"listing": "l1", "buyer": "b1", "quantity": 1, "unit_price": 900, "offered_by": "m1"},
        "nb": {"listing": "l2", "buyer": "b2", "quantity": 2, "unit_price": 9},
    },
    "agreement": {"aa": {"listing": "l1", "buyer": "b2", "quantity": 1, "unit_price": 900}},
    "payment": {
        "p1": {"order": "o1", "captured": 1007},
        "p2": {"order": "o2", "captured": 900, "refunded": 1},
        "p3": {"order": "oc", "captured": 1000},
    },
    "return": {
        "ra": {"order": "o1", "listing": "l1", "condition": "unused", "state": "authorized"},
        "rb": {"order": "o1", "listing": "l2", "condition": "unused"},
        "rc": {
            "order": "oc",
            "listing": "l1",
            "condition": "unused",
            "state": "received",
            "received_quantity": 1,
        },
    },
    "exchange": {
        "ec": {"order": "oc", "returned": "rc", "listing": "l1", "state": "authorized"},
        "ed": {"order": "o1", "returned": "ra", "listing": "l1"},
    },
    "dispute": {
        "do": {
            "order": "o1",
            "amount": 500,
            "adjudicator": "ju",
            "state": "under_review",
            "position": "accept",
        },
        "dr": {"order": "o2", "amount": 800, "adjudicator": "ju", "deadline": 0},
        "dc": {"order": "oc", "amount": 300, "position": "contest"},
    },
    "ruling": {"jc": {"dispute": "dc", "outcome": "split", "award": 7, "adjudicator": "ju"}},
    "refund_case": {"c1": {"order": "o2", "amount": 900}},
    "search_session": {"s1": {"buyer": "b1"}},
    "offer_ranking": {
        "f1": {"search_session": "s1", "listing": "l2"},
        "f2": {"search_session": "s1", "listing": "l1", "expires": 1},
    },
    "match_certificate": {"mc": {"buyer": "b2", "listing": "l1"}},
    "review": {"v1": {"reviewer": "b1", "listing": "l1", "rating": 4, "order": "o1", "verified": True}},
    "reputation": {"m1": {"fulfilled": 2, "history": [{"what": "late"}]}},
    "friendship": {"fr": {"party": "b1", "friend": "b2"}},
    "mandate_authority": {"ma": {"party": "b1", "source": "principal"}},
    "mandate_revision": {
        "m1": {"mandate_authority": "ma", "revision": 1, "changes": {"price": 3}},
        "m2": {"party": "b1", "source": "mailer", "revision": 2, "previous": "m1"},
    },
    "evidence_record": {
        "ea": {"kind": "lab", "issuer": "lab", "subject": "l1", "facts": {"weight_g": 900}},
        "eb": {"kind": "note", "issuer": "b1", "subject": "o1", "facts": {"seen": True}, "readers": ["m1"]},
    },
    "listing_claim": {
        key: {
            "listing": "l1",
            "content": {"metric": "weight_g", "operator": "equals", "value": 900},
            **columns,
        }
        for key, columns in {"ka": {}, "kb": {"state": "published"}}.items()
    },
    "pricing": {
        "m1": {
            "tiers": [{"listings": ["l1"], "steps": [{"quantity": 2, "unit_price": 900}]}],
            "bundles": [{"parts": [{"listing": "l1", "quantity": 1}], "discount": 30}],
            "charges": [{"kind": "tax", "subtotal_rate_bps": 333}],
        }
    },
    "cart_quote": {
        key: {"buyer": buyer, "lines": [{"listing": listing, "quantity": 1}], "merchant": merchant}
        for key, buyer, listing, merchant in [("va", "b1", "l1", None), ("vb", "b2", "l2", "m2")]
    },
    "inquiry": {"qa": {"asker": "b1", "asked": "m1", "listing": "l1", "attachments": ["eb"]}},
    "campaign": {"ca": {"merchant": "m1"}, "cb": {"merchant": "m1", "state": "published"}},
    "placement": {f"p{name}": {"campaign": name, "listing": "l1", "fee": 5} for name in ("ca", "cb")},
    "governance_case": {
        key: {"matter": matter, "proposer": "m2", "party": "m1", "terms": {"pay": 1}, **columns}
        for key, matter, columns in (
            ("ga", "reviews", {}),
            ("gb", "competition", {"state": "reported"}),
            ("gc", "reviews", {"state": "upheld", "respondents": ["m2"]}),
        )
    },
    "remediation_plan": {
        "pa": {"merchant": "m1", "issuer": "op", "steps": [{"step": "lamp"}]},
        "pb": {"merchant": "m1", "issuer": "op", "steps": [{"step": "lamp"}], "state": "accepted"},
    },
    "protocol_event": {
        key: {"order": order, "party": "m1", "issuer": "op", "operation": "a", **columns}
        for key, order, columns in (
            ("xa", "o1", {"effect": "refund", "amount": 9}),
            ("xb", "o2", {"effect": "refund", "amount": 1}),
            ("xc", "o2", {"effect": "dispatch"}),
        )
    },
}


def _facts() -> Facts:
    made = WORLD.complete(ROWS)
    return WORLD.facts(
        (table, key, WORLD.read_row(table, encode(row)))
        for table, found in made.items()
        for key, row in found.items()
    )


FACTS = _facts()
SIDES = ("buyer", "merchant", "asker", "asked", "proposer", "party", "issuer", "adjudicator")
WRITES = [kind for kind in WORLD.kinds if kind not in WORLD.queries and kind != "agent.unparsed"]


class Choice(NamedTuple):
    """An act before it is known what there is to name.

    ``pick`` counts through the rows; ``strays`` above 0 says it in the wrong name, or to the wrong party.
    """

    kind: str
    sender: int
    pick: int
    number: int
    strays: int
    key: str | None


CHOICES = st.builds(
    Choice,
    kind=st.sampled_from(WRITES) | st.sampled_from(WRITES) | st.sampled_from(sorted(WORLD.queries)),
    sender=st.integers(0, 3),
    pick=st.integers(0, 30),
    number=st.sampled_from([1, 1, 2, 3, 7, 500, 900, 0, 10**12]),
    strays=st.sampled_from([0] * 8 + [1, 2]),
    key=st.sampled_from([None] * 6 + ["k1", "k2"]),
)
RUNS = st.lists(CHOICES, min_size=4, max_size=25)


def named(state: State, table: str, pick: int) -> tuple[str, Any]:
    rows = list(state.rows(table))
    return rows[pick % len(rows)] if rows else ("none", None)


def some(state: State, kind: Any, choice: Choice, table: str | None = None) -> Any:
    """A value of a field that nothing more is known of."""
    while isinstance(kind, (msgspec.inspect.Metadata, msgspec.inspect.UnionType)):
        if isinstance(kind, msgspec.inspect.UnionType):
            kind = kind.types[0]
        else:
            kind, table = kind.type, (kind.extra or {}).get("row", table)
    if isinstance(kind, msgspec.inspect.IntType):
        least, most = kind.ge or 0, kind.le if kind.le is not None else 2**31 - 1
        return min(max(choice.number, least), most)
    if isinstance(kind, msgspec.inspect.StrType):
        return "lamp" if table is None else named(state, table, choice.pick)[0]
    if isinstance(kind, msgspec.inspect.LiteralType):
        return kind.values[choice.pick % len(kind.values)]
    if isinstance(kind, (msgspec.inspect.VarTupleType, msgspec.inspect.ListType)):
        return [some(state, kind.item_type, choice, table)]
    if isinstance(kind, msgspec.inspect.StructType):
        return {field.encode_name: some(state, field.type, choice) for field in kind.fields if field.required}
    if isinstance(kind, msgspec.inspect.DictType):
        return {"size": some(state, kind.value_type, choice)}
    return True


def formed(state: State, choice: Choice) -> Message:
    """The act that a choice comes to in this state; mostly sent by and to the parties of the row it names."""
    kind = WORLD.kinds[choice.kind]
    fields: dict[str, Any] = {"kind": choice.kind, **dict.fromkeys(part_fields(kind), "0" * 64)}
    parties = ["b1", "b2", "m1", "m2"]
    required = {field.encode_name for field in msgspec.structs.fields(kind) if field.required}
    names = {
        name: table for name, table in row_fields(kind).items() if name in required or choice.pick % 3 == 0
    }
    for column, table in names.items():
        fields[column], row = named(state, table, choice.pick)
        if table == "listing" and row is not None:
            parties = [["b1", "b2"][choice.sender % 2], row.merchant]
    for column, table in names.items():
        if table not in ("listing", "policy"):
            row = state.get(table, fields[column])
            parties = [getattr(row, side) for side in SIDES if getattr(row, side, None) in ROLES] or parties
    numbers = {"quantity": max(1, choice.number % 4), "unit_price": choice.number, "amount": choice.number}
    values = {**numbers, "condition": ["unused", "worn"][choice.pick % 2]}
    fields.update({name: value for name, value in values.items() if name in kind.__struct_encode_fields__})
    for field in msgspec.structs.fields(kind):
        if field.required and field.encode_name not in fields:
            fields[field.encode_name] = some(state, msgspec.inspect.type_info(field.type), choice)
    allowed = WORLD.senders.get(kind) or frozenset(("buyer", "merchant"))
    able = [party for party in parties if ROLES[party] in allowed] or ["op"]
    sender = able[choice.sender % len(able)]
    to = next((party for party in parties if party != sender), None)
    if choice.strays == 1:
        sender, to = ["b2", "m2", "op"][choice.pick % 3], "b1"
    elif choice.strays == 2:
        to = [None, "m2", "b2"][choice.pick % 3]
    if to == sender or not WORLD.is_addressed(choice.kind):
        to = None
    raw = msgspec.Raw(encode_typed(msgspec.convert(fields, kind)))
    return Message(action=raw, sender=sender, key=choice.key, n=0, reply_to=None, seen=(0, ""), to=to)


def ruled(state: State, message: Message, seq: int) -> Ruling:
    action = read_action(WORLD, bytes(message.action))
    return decide(WORLD, state, message, action, seq, ROLES, lambda _seq, _party: True)


def rows_of(state: State) -> dict[str, dict[str, Any]]:
    return {table: dict(state.rows(table)) for table in WORLD.tables}


def said(state: State, choice: Choice, seq: int) -> tuple[Message, Ruling]:
    message = formed(state, choice)
    return message, ruled(state, message, seq)


def totals(accounts: Collection[Any]) -> dict[str, int]:
    return {money: sum(row.balances.get(money, 0) for row in accounts) for money in ("EUR", "SEK")}


def follows_its_machines(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> bool:
    for table, machine in MACHINES.items():
        for key, row in after[table].items():
            old = before[table].get(key)
            if old is None and row.state not in machine.first:
                return False
            if old is not None and row.state not in {old.state, *machine.steps.get(old.state, ())}:
                return False
    return True


@given(RUNS)
@settings(max_examples=60, deadline=None)
def test_rows_agree_after_every_act_and_refusals_change_nothing(choices: list[Choice]) -> None:
    state = State(FACTS)
    for place, choice in enumerate(choices):
        before, root = rows_of(state), state.root()
        message, ruling = said(state, choice, 2 * place + 1)
        decision = ruling.decision
        after = rows_of(state)
        if decision.outcome == "refused":
            assert decision.rule in REFUSALS or decision.rule in {"party.role", "message.key"}
            assert (NO_CHANGE, root) == (decision.delta, state.root())
        coherence.check(after)
        assert follows_its_machines(before, after)
        assert before["posting"].items() <= after["posting"].items()
        assert {"EUR": 0, "SEK": 0} == totals(after["account"].values())
        if choice.kind in WORLD.queries:
            assert before == after
        for table, key in decision.reads:
            row = after[table][key]
            allowed = message.sender in [
                getattr(row, side, None) for side in ("buyer", "merchant", "adjudicator")
            ]
            assert not hasattr(row, "buyer") or allowed


@given(RUNS)
@settings(max_examples=60, deadline=None)
def test_a_replay_gives_the_same_bytes_and_the_same_rows(choices: list[Choice]) -> None:
    first, second = State(FACTS), State(FACTS)
    for place, choice in enumerate(choices):
        message, ruling = said(first, choice, 2 * place + 1)
        assert ruling.body == ruled(second, message, 2 * place + 1).body
        if ruling.shown is not None:
            assert encode(ruling.shown.value)
    assert first.root() == second.root()
    for table, _key, row in first.changed():
        if table in WORLD.tables:
            assert row == WORLD.read_row(table, encode_typed(row))


@given(RUNS)
@settings(max_examples=40, deadline=None)
def test_events_carry_all_that_their_change_needs(choices: list[Choice]) -> None:
    state, told = State(FACTS), State(FACTS)
    for place, choice in enumerate(choices):
        _message, ruling = said(state, choice, 2 * place + 1)
        for event in ruling.decision.events:
            kind: Any = type(event)
            WORLD.evolve(told, msgspec.json.decode(encode_typed(event), type=kind))
        told.commit()
    assert rows_of(state) == rows_of(told)


@given(RUNS, CHOICES)
@settings(max_examples=40, deadline=None)
def test_a_retry_gives_the_first_result_and_changes_nothing(choices: list[Choice], last: Choice) -> None:
    state = State(FACTS)
    for place, choice in enumerate(choices):
        said(state, choice._replace(key=None), 2 * place + 1)
    message, first = said(state, last._replace(key="once"), 101)
    if first.decision.outcome == "accepted":
        root = state.root()
        again: Decision = ruled(state, message, 103).decision
        assert ("message.retry", first.decision.result, []) == (again.rule, again.result, again.events)
        assert root == state.root()


TEXTS = st.sampled_from(["b1", "l1", "o1", "p1", ""])
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS
NESTED = st.dictionaries(st.sampled_from(["quantity", "listing"]), SCALARS)
PLACES = [
    (table, key, column)
    for table, found in ROWS.items()
    for key in found
    for column in WORLD.tables[table].__struct_fields__
]
CHANGES = st.tuples(st.sampled_from(PLACES), SCALARS | st.lists(SCALARS | NESTED, max_size=2) | NESTED)


@given(st.lists(CHANGES, min_size=1, max_size=3))
@settings(max_examples=100, deadline=None)
def test_start_rows_are_made_whole_or_refused(changes: list[tuple[tuple[str, str, str], Any]]) -> None:
    rows = copy.deepcopy(ROWS)
    for (table, key, column), value in changes:
        rows[table][key][column] = value
    try:
        made = WORLD.complete(rows)
    except WorldError as refused:
        error = refused
    else:
        assert made == WORLD.complete(made)
        return
    assert ("facts.row", True) == (error.code, error.text.startswith("row `"))
