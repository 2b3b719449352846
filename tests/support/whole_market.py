"""A market with start rows in every table, and acts in it drawn as choices.

    Choice (the third negotiation there is, the other party of its row)  ─►  an act that fits the rows

So many acts go through whatever the acts before them made, and those that go astray do so by one thing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

from tollbook.protocol.bodies import Message, WorldRef
from tollbook.protocol.canonical import encode, encode_typed
from tollbook.protocol.commerce.carts import Quote
from tollbook.protocol.commerce.quoting import quotes_by, terms_of
from tollbook.protocol.commerce.terms import MAX_MONEY
from tollbook.protocol.engine import Ruling, decide, read_action
from tollbook.protocol.tables import Facts, State
from tollbook.protocol.world import StartRows, part_fields, row_fields, world_of

COMMERCE = WorldRef(name="commerce", params={}, version=0)
WORLD = world_of(COMMERCE)
ROLES = {"b1": "buyer", "b2": "buyer", "m1": "merchant", "m2": "merchant", "op": "operator"}
ROLES |= {"ju": "adjudicator"}
LINES = [
    {"listing": "l1", "quantity": 2, "unit_price": 500},
    {"listing": "l2", "quantity": 1, "unit_price": 7},
]
LAMPS = LINES[:1]
PART = "0" * 64

ROWS: StartRows = {
    "policy": {
        "returns": {"accepted_conditions": ["unused"], "restocked_conditions": ["unused"]},
        "negotiation": {"max_rounds": 4, "deadline_ticks": 3},
        "settlement": {"deadline_ticks": 4},
        "supply": {"max_backorder": 2},
        "disputes": {"adjudicator": "ju", "deadline_ticks": 1},
        "fulfilment": {
            "deadline_ticks": 2,
            "remedies": {"delayed": ["wait", "replace"], "lost": ["replace", "refund"]},
        },
    },
    "listing": {
        "l1": {"merchant": "m1", "title": "lamp", "price": 1000},
        "l2": {"merchant": "m2", "title": "cup", "price": 10, "currency": "SEK"},
        "l3": {"merchant": "m2", "title": "rug", "price": 70, "state": "withdrawn"},
        "l4": {"merchant": "m1", "title": "red lamp", "price": 1100},
    },
    "inventory": {"l1": {"available": 4}, "l2": {"available": 2}, "l4": {"available": 9}},
    "supply_state": {"l1": {"incoming": 3, "eta": 2}},
    "supply_authority": {"sa": {"listing": "l1", "holder": "op"}},
    "order": {
        "o1": {"buyer": "b1", "merchant": "m1", "state": "delivered", "lines": LINES},
        "o2": {"buyer": "b2", "merchant": "m1", "state": "settled", "lines": LAMPS},
        "oa": {"buyer": "b1", "merchant": "m1", "state": "accepted", "lines": LAMPS},
        "ob": {"buyer": "b2", "merchant": "m1", "state": "backordered", "lines": LAMPS},
        "oc": {"buyer": "b2", "merchant": "m1", "state": "delivered", "lines": LAMPS},
        "od": {"buyer": "b1", "merchant": "m1", "state": "dispatched", "lines": LAMPS},
        "ol": {"buyer": "b2", "merchant": "m1", "state": "dispatched", "lines": LAMPS},
        "op": {"buyer": "b2", "merchant": "m1", "state": "proposed", "lines": LAMPS},
        "or": {"buyer": "b1", "merchant": "m2", "state": "returned", "total": 30},
        "og": {"buyer": "b1", "merchant": "m2", "state": "settled", "order_group": "gr", "total": 5},
    },
    "order_group": {"gr": {}},
    "negotiation": {
        "na": {"listing": "l1", "buyer": "b1", "quantity": 1, "unit_price": 900, "offered_by": "m1"},
        "nb": {"listing": "l2", "buyer": "b2", "quantity": 2, "unit_price": 9},
    },
    "agreement": {
        "aa": {"listing": "l1", "buyer": "b2", "quantity": 1, "unit_price": 900},
        "ab": {"listing": "l4", "buyer": "b1", "quantity": 1, "unit_price": 900, "expires": 3},
    },
    "payment": {
        "p1": {"order": "o1", "captured": 1007},
        "p2": {"order": "o2", "captured": 900, "refunded": 1},
        "p3": {"order": "oc", "captured": 1000},
        "pa": {"order": "oa", "authorized": 1000},
        "pb": {"order": "ob", "authorized": 1000},
        "pd": {"order": "od", "captured": 1000},
        "pl": {"order": "ol", "captured": 1000},
        "pr": {"order": "or", "captured": 30},
    },
    "packing": {"ka": {"order": "o2"}},
    "shipment": {"sd": {"order": "od", "state": "delayed"}, "sl": {"order": "ol", "state": "lost"}},
    "confirmation": {"co": {"order": "o1", "act": "agreement.settle", "amount": 1007}},
    "reconciliation": {"re": {"order": "o1", "total": 1007, "paid": 1007, "paid_back": 0, "approved": 0}},
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
    "refund_case": {"c1": {"order": "o2", "amount": 900}, "cr": {"order": "or", "amount": 30}},
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
        key: {"buyer": buyer, "lines": [{"listing": listing, "quantity": 1}], "merchant": merchant, **more}
        for key, buyer, listing, merchant, more in [
            ("va", "b1", "l1", None, {}),
            ("vb", "b2", "l2", "m2", {}),
            ("vc", "b1", "l4", "m1", {"state": "requested"}),
        ]
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
            ("gd", "competition", {}),
        )
    },
    "remediation_plan": {
        "pa": {"merchant": "m1", "issuer": "op", "steps": [{"step": "lamp"}]},
        "pb": {"merchant": "m1", "issuer": "op", "steps": [{"step": "lamp"}], "state": "accepted"},
    },
    "protocol_event": {
        key: {"order": order, "party": "m1", "issuer": "op", "operation": key, **columns}
        for key, order, columns in (
            ("xa", "o1", {"effect": "refund", "amount": 9}),
            ("xb", "o2", {"effect": "refund", "amount": 1}),
            ("xc", "o2", {"effect": "dispatch"}),
            ("xd", "oa", {"effect": "settle", "party": "b1"}),
        )
    },
}
"""Tables that aren't here are made of these rows: the clock, accounts, postings, files and indexes."""

STRICT = {
    "settlement": {"holds": True, "deadline_ticks": 1},
    "supply": {"max_backorder": 2},
    "matching": {"acceptance": "certificate", "deadline_ticks": 1},
    "cart": {"deadline_ticks": 1},
    "returns": {"accepted_conditions": []},
    "sponsorship": {"requires_disclosure": True},
}
"""Policies under which money is held at first, offers are certified, and little time is left."""


def facts_of_rows(rows: StartRows) -> Facts:
    """Start rows, made whole."""
    return WORLD.facts(
        (table, key, WORLD.read_row(table, encode(row)))
        for table, found in WORLD.complete(rows).items()
        for key, row in found.items()
    )


FACTS = facts_of_rows(ROWS)
STRICT_FACTS = facts_of_rows({**ROWS, "policy": STRICT})
SIDES = ("buyer", "merchant", "asker", "asked", "proposer", "party", "issuer", "adjudicator")
WRITES = [kind for kind in WORLD.kinds if kind not in WORLD.queries and kind != "agent.unparsed"]
QUERIES = sorted(WORLD.queries)


WRONG_SENDER, WRONG_PARTY, WRONG_FIELD = 1, 2, 3


class Choice(NamedTuple):
    """An act before it is known what there is to name.

    ``pick`` counts through the rows; ``strays`` says what is wrong with it on purpose, 0 for nothing.
    """

    kind: str
    sender: int
    pick: int
    number: int
    strays: int
    key: str | None


CHOICES = st.builds(
    Choice,
    kind=st.sampled_from(WRITES) | st.sampled_from(WRITES) | st.sampled_from(QUERIES),
    sender=st.integers(0, 3),
    pick=st.integers(0, 30),
    number=st.sampled_from([1, 1, 2, 3, 7, 500, 900, 0, 10**12]),
    strays=st.sampled_from([0] * 8 + [WRONG_SENDER, WRONG_PARTY, WRONG_FIELD]),
    key=st.sampled_from([None] * 6 + ["k1", "k2"]),
)


def named(state: State, table: str, pick: int) -> tuple[str, Any]:
    """The pick-th row of a table with its key, counting round; no row where there is none."""
    rows = list(state.rows(table))
    return rows[pick % len(rows)] if rows else ("none", None)


def some(state: State, kind: Any, choice: Choice, table: str | None = None) -> Any:
    """A value of a field that nothing more is known of."""
    while isinstance(kind, (inspect.Metadata, inspect.UnionType)):
        if isinstance(kind, inspect.UnionType):
            kind = kind.types[0]
        else:
            kind, table = kind.type, (kind.extra or {}).get("row", table)
    if isinstance(kind, inspect.IntType):
        least, most = kind.ge or 0, kind.le if kind.le is not None else 2**31 - 1
        return min(max(choice.number, least), most)
    if isinstance(kind, inspect.StrType):
        return "lamp" if table is None else named(state, table, choice.pick)[0]
    if isinstance(kind, inspect.LiteralType):
        return kind.values[choice.pick % len(kind.values)]
    if isinstance(kind, (inspect.VarTupleType, inspect.ListType)):
        return [some(state, kind.item_type, choice, table)]
    if isinstance(kind, inspect.StructType):
        return {field.encode_name: some(state, field.type, choice) for field in kind.fields if field.required}
    if isinstance(kind, inspect.DictType):
        return {"size": some(state, kind.value_type, choice)}
    return True


def _quoted(state: State, fields: dict[str, Any], _choice: Choice) -> dict[str, Any]:
    quote: Quote | None = state.get("cart_quote", fields["cart_quote"])
    if quote is None:
        return {}
    listings = {line.listing: state.get("listing", line.listing) for line in quote.lines}
    part = quotes_by(lambda merchant: terms_of(state, merchant), quote.lines, listings)[0]
    return {
        "lines": msgspec.to_builtins(part.lines),
        "subtotal": min(part.subtotal, MAX_MONEY),
        "charges": msgspec.to_builtins(part.charges),
        "grand_total": min(part.total, MAX_MONEY),
    }


def _allocated(state: State, _fields: dict[str, Any], choice: Choice) -> dict[str, Any]:
    waiting = [key for key, row in state.rows("order") if any(line.short for line in row.lines)]
    if not waiting:
        return {}
    order = waiting[choice.pick % len(waiting)]
    return {"orders": [order], "listing": state.get("order", order).lines[0].listing}


def _ruled(state: State, fields: dict[str, Any], _choice: Choice) -> dict[str, Any]:
    dispute = state.get("dispute", fields["dispute"])
    amount = 0 if dispute is None else dispute.amount
    return {"award": {"upheld": amount, "denied": 0, "split": amount // 2}[fields["outcome"]]}


def _issued(_state: State, fields: dict[str, Any], choice: Choice) -> dict[str, Any]:
    is_refund = fields["effect"] == "refund"
    return {"operation": f"t{choice.number}", "amount": max(1, choice.number) if is_refund else 0}


def _stated(state: State, _fields: dict[str, Any], choice: Choice) -> dict[str, Any]:
    table = ("listing", "order", "return")[choice.pick % 3]
    readers = (None, ["m1"], ["b1", "b2"])[choice.number % 3]
    return {"subject": named(state, table, choice.pick)[0], "readers": readers}


def _step_of(state: State, fields: dict[str, Any], _choice: Choice) -> dict[str, Any]:
    plan = state.get("remediation_plan", fields["remediation_plan"])
    return {} if plan is None else {"step": plan.steps[0].step, "evidence": "ea"}


def _asked(state: State, fields: dict[str, Any], choice: Choice) -> dict[str, Any]:
    merchant = getattr(state.get("listing", fields["lines"][0]["listing"]), "merchant", None)
    return {"quoted_by": "merchant", "to": merchant} if choice.pick % 2 else {"to": None}


def _bought(state: State, fields: dict[str, Any], _choice: Choice) -> dict[str, Any]:
    quote: Quote | None = state.get("cart_quote", fields["cart_quote"])
    return {} if quote is None else {"to": quote.merchant}


def _on_subject(state: State, _fields: dict[str, Any], choice: Choice) -> dict[str, Any]:
    return {"subject": named(state, ("listing", "order")[choice.pick % 2], choice.pick)[0]}


def _of_party(_state: State, _fields: dict[str, Any], choice: Choice) -> dict[str, Any]:
    return {"party": ("m1", "m2", "b1")[choice.pick % 3]}


FITTING: dict[str, Callable[[State, dict[str, Any], Choice], dict[str, Any]]] = {
    "cart.quote": _quoted,
    "fulfilment.allocate": _allocated,
    "dispute.rule": _ruled,
    "event.issue": _issued,
    "evidence.publish": _stated,
    "evidence.list": _on_subject,
    "governance.list": _of_party,
    "remediation.complete_step": _step_of,
    "remediation.audit": _step_of,
    "remediation.issue": lambda _state, _fields, choice: {"steps": [{"step": f"s{choice.pick}"}]},
    "claim.publish": lambda _state, _fields, _choice: {"evidence": ["ea"]},
    "record.submit": lambda _state, _fields, choice: {"chosen": "lamp"} if choice.pick % 4 else {},
    "inquiry.respond": lambda _state, fields, choice: (
        {"accepted": [fields["inquiry"]]} if choice.pick % 2 else {}
    ),
    "exchange.request": lambda _state, _fields, choice: {"listing": ("l1", "l4")[choice.pick % 2]},
    "shipment.replace": lambda _state, _fields, choice: {"listing": ("l1", "l4")[choice.pick % 2]},
    "agreement.settle": lambda _state, _fields, choice: {"allow_partial": choice.pick % 2 == 0},
    "cart.request_quote": _asked,
    "governance.report": lambda _state, _fields, _choice: {"to": "op"},
    "governance.resolve": lambda state, fields, _choice: {
        "to": getattr(state.get("governance_case", fields["governance_case"]), "party", None)
    },
    "return.receive": lambda state, fields, _choice: {
        "quantity": getattr(state.get("return", fields["return"]), "quantity", 1)
    },
    "cart.checkout": _bought,
}
"""What some kinds say, and to whom, beside what all do, so that it goes through."""


def formed(state: State, choice: Choice) -> Message:
    """The act that a choice comes to in this state; mostly sent by and to the parties of the row it names."""
    kind = WORLD.kinds[choice.kind]
    fields = _fields(state, kind, choice)
    more = FITTING.get(choice.kind, _nothing)(state, fields, choice)
    fields.update({name: value for name, value in more.items() if name in kind.__struct_encode_fields__})
    sender, to = _parties(state, kind, fields, choice)
    if "to" in more and choice.strays not in (WRONG_SENDER, WRONG_PARTY):
        to = more["to"] if more["to"] != sender else None
    if choice.strays == WRONG_FIELD:
        _spoil(fields, kind, choice)
    raw = msgspec.Raw(encode_typed(msgspec.convert(fields, kind)))
    return Message(action=raw, sender=sender, key=choice.key, n=0, reply_to=None, seen=(0, ""), to=to)


def _nothing(_state: State, _fields: dict[str, Any], _choice: Choice) -> dict[str, Any]:
    return {}


def _spoil(fields: dict[str, Any], kind: type[msgspec.Struct], choice: Choice) -> None:
    """Says something else in one field: a row that isn't there, another's record, twice the same."""
    made = [field for field in msgspec.structs.fields(kind) if field.encode_name not in part_fields(kind)]
    if not made:
        return
    field = made[choice.pick % len(made)]
    said = field.encode_name
    value = fields.get(said, field.default)
    if said in row_fields(kind):
        fields[said] = ("none", "eb", "l3")[choice.number % 3]
    elif isinstance(value, (list, tuple)):
        fields[said] = [*value, *value] if value and choice.number % 2 else []
        if "evidence" in said or said == "attachments":
            fields[said] = [("none", "eb", "ea")[choice.number % 3]]
    elif isinstance(value, bool):
        fields[said] = not value
    elif isinstance(value, int):
        fields[said] = value + 1 if choice.number % 2 else 10**6
    try:
        msgspec.convert(fields, kind)
    except msgspec.ValidationError:
        fields[said] = value


def _names(kind: type[msgspec.Struct], choice: Choice) -> dict[str, str]:
    """The fields by which the act names a row, each with its table; an optional one every third time."""
    required = {field.encode_name for field in msgspec.structs.fields(kind) if field.required}
    return {
        name: table for name, table in row_fields(kind).items() if name in required or not choice.pick % 3
    }


def _fields(state: State, kind: type[msgspec.Struct], choice: Choice) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": choice.kind, **dict.fromkeys(part_fields(kind), PART)}
    for column, table in _names(kind, choice).items():
        fields[column], _row = named(state, table, choice.pick)
    numbers = {"quantity": max(1, choice.number % 4), "unit_price": choice.number, "amount": choice.number}
    values = {**numbers, "condition": ["unused", "worn"][choice.pick % 2]}
    fields.update({name: value for name, value in values.items() if name in kind.__struct_encode_fields__})
    for field in msgspec.structs.fields(kind):
        if field.required and field.encode_name not in fields:
            fields[field.encode_name] = some(state, inspect.type_info(field.type), choice)
    return fields


def _parties(
    state: State, kind: type[msgspec.Struct], fields: dict[str, Any], choice: Choice
) -> tuple[str, str | None]:
    """Who says it and to whom."""
    parties = ["b1", "b2", "m1", "m2"]
    tables = _names(kind, choice)
    for column in sorted(tables, key=lambda name: tables[name] != "listing"):
        row = state.get(tables[column], fields[column])
        if tables[column] == "listing" and row is not None:
            parties = [["b1", "b2"][choice.sender % 2], row.merchant]
        elif tables[column] != "policy":
            parties = [getattr(row, side) for side in SIDES if getattr(row, side, None) in ROLES] or parties
    allowed = WORLD.senders.get(kind) or frozenset(("buyer", "merchant"))
    able = [party for party in parties if ROLES[party] in allowed]
    able = able or [party for party in ("op", "ju") if ROLES[party] in allowed] or ["op"]
    sender = able[choice.sender % len(able)]
    to = next((party for party in parties if party != sender), None)
    if choice.strays == WRONG_SENDER:
        sender, to = ["b2", "m2", "op"][choice.pick % 3], "b1"
    elif choice.strays == WRONG_PARTY:
        to = [None, "m2", "b2"][choice.pick % 3]
    return sender, None if to == sender or not WORLD.is_addressed(choice.kind) else to


def ruled(state: State, message: Message, seq: int) -> Ruling:
    """What becomes of a message that whoever it answers has heard."""
    action = read_action(WORLD, bytes(message.action))
    return decide(WORLD, state, message, action, seq, ROLES, lambda _seq, _party: True)


def rows_of(state: State) -> dict[str, dict[str, Any]]:
    """Every row there is, by table and key."""
    return {table: dict(state.rows(table)) for table in WORLD.tables}
