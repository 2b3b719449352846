"""What is forged: one thing of an exported run each, as a change of its documents.

Not here: making the hashes again (`forge`), by whose hand, and what finds it (`forgery_table`).
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from forge import ZERO, Document, Entry, Trace, rule, set_text
from specimens import SHOP

from tollbook.ledger.blobs import facts_blob
from tollbook.ledger.records import OPEN
from tollbook.protocol.canonical import encode
from tollbook.protocol.keys import SigningKey, key_text
from tollbook.protocol.retail.shop import rows_of_shop
from tollbook.protocol.world import world_of

FRESH = SigningKey.from_seed(bytes(range(96, 128)))
"""A key that every forger has made for himself."""

Change = Callable[[Trace], Mapping[int, list[Document]] | None]


class Forgery(NamedTuple):
    """One thing to forge. ``again``: all decisions are made again; ``party``: which one its hand is."""

    group: str
    thing: str
    change: Change
    again: bool = False
    party: str = "assistant"

    @property
    def title(self) -> str:
        return f"{self.group}: {self.thing}"


def _decision(name: str, value: object, *, refused: bool = False) -> Change:
    """Another value in a field of the decision on the cancellation, or on the one that was refused."""

    def change(trace: Trace) -> None:
        _ruled(trace, refused=refused).body[name] = value

    return change


def _ruled(trace: Trace, *, refused: bool) -> Entry:
    if refused:
        return next(entry for entry in trace.all("decision") if entry.body["outcome"] == "refused")
    return next(entry for entry in trace.all("decision") if entry.body["events"])


def _event(trace: Trace) -> Mapping[int, list[Document]]:
    """More money back than the order cost."""
    decision = _ruled(trace, refused=False)
    events = copy.deepcopy(decision.body["events"])
    events[-1]["balance"] = "900.0"
    return {decision.body["message"]: events}


def _granted(trace: Trace) -> Mapping[int, list[Document]]:
    """What the market refused."""
    events = copy.deepcopy(_ruled(trace, refused=False).body["events"][:1])
    events[0]["order"] = "#D1"
    return {_ruled(trace, refused=True).body["message"]: events}


def _start_row(trace: Trace) -> None:
    _user(trace)[2]["payment_methods"][0]["balance"] = "900.0"


def _user(trace: Trace) -> list[Any]:
    return next(row for row in trace.blob("rows")["rows"] if row[0] == "user")


def _final_row(trace: Trace) -> None:
    state = rule(trace, {}).state
    assert state is not None
    row = state.get("user", "zoe")
    state.put("user", "zoe", _with(row, orders=("#P1",)))
    state.commit()
    trace.all("seal")[0].body["root"] = state.root()


def _with(row: Any, **fields: Any) -> Any:
    return type(row)(**{name: getattr(row, name) for name in row.__struct_fields__} | fields)


def _body(kind: str, *path: str | int, value: object) -> Change:
    """Another value at a place in the body of the first record of a kind."""

    def change(trace: Trace) -> None:
        node: Any = trace.all(kind)[0].body
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = value

    return change


def _text(kind: str, name: str, text: str, place: int = 0) -> Change:
    """Another text in the part of a record of a kind that has that part."""

    def change(trace: Trace) -> None:
        held = [entry for entry in trace.all(kind) if any(part["field"] == name for part in entry.parts)]
        set_text(held[place], name, text)

    return change


def _argument(trace: Trace) -> None:
    action = _asked(trace).body["action"]
    other = {"no longer needed": "ordered by mistake", "ordered by mistake": "no longer needed"}
    action["reason"] = other[action["reason"]]


def _asked(trace: Trace) -> Entry:
    return trace.entries[_ruled(trace, refused=False).body["message"]]


def _put_in_mouth(trace: Trace) -> None:
    """The assistant's last words are the user's."""
    spoken = [entry for entry in trace.all("message") if entry.body["from"] == "assistant"][-1]
    spoken.body.update({"from": "user", "to": "assistant", "reply_to": None})
    spoken.signer = trace.entries[0].body["parties"][0]["key"]


def _drop(kind: str) -> Change:
    def change(trace: Trace) -> None:
        trace.entries.remove(trace.all(kind)[0])

    return change


def _drop_refused(trace: Trace) -> None:
    place = trace.entries.index(_ruled(trace, refused=True))
    del trace.entries[place - 1 : place + 1]


def _insert(trace: Trace) -> None:
    """The assistant says once more what it said first, before the user's last words."""
    place = trace.entries.index(trace.all("message")[-1])
    spoken = next(entry for entry in trace.all("message") if entry.body["from"] == "assistant")
    trace.entries[place:place] = copy.deepcopy([spoken, trace.decision(spoken)])


def _swap(trace: Trace) -> None:
    """The refused act comes after the accepted one."""
    place = trace.entries.index(_ruled(trace, refused=True)) - 1
    trace.entries[place : place + 4] = trace.entries[place + 2 : place + 4] + trace.entries[place : place + 2]


def _cut(trace: Trace) -> None:
    """The user's last words and the seal are gone, and the notes with them."""
    del trace.entries[trace.entries.index(trace.all("message")[-1]) :]
    trace.notes.clear()


def _cut_and_seal(trace: Trace) -> None:
    place = trace.entries.index(trace.all("message")[-1])
    del trace.entries[place:-1]


def _cut_early(trace: Trace) -> None:
    """Little more than the briefs is left."""
    place = trace.entries.index(trace.all("message")[1])
    del trace.entries[place:-1]


def _key(trace: Trace) -> None:
    """The key that the assistant adds is the forger's, and so are the signatures under it."""
    change = trace.all("key")[0]
    old, new = change.body["key"], key_text(FRESH.public)
    change.body["key"] = new
    for entry in trace.entries:
        entry.signer = new if entry.signer == old else entry.signer


def _users_key(trace: Trace) -> None:
    """The key that `open` gives the user is the forger's, and so are all signatures under it."""
    party = trace.entries[0].body["parties"][0]
    old, party["key"] = party["key"], key_text(FRESH.public)
    for entry in trace.entries:
        entry.signer = party["key"] if entry.signer == old else entry.signer


def _new_key(trace: Trace) -> None:
    """The user adds a key of the forger's, who then says something under it."""
    first = trace.all("message")[0]
    place = trace.entries.index(first) + 2
    party = trace.entries[0].body["parties"][0]
    body = {"by": "party", "change": "add", "key": key_text(FRESH.public), "n": 1, "party": party["id"]}
    body["seen"] = [0, ZERO]
    said = copy.deepcopy([first, trace.decision(first)])
    added = Entry({**first.record, "kind": "key", "body": body}, signer=party["key"])
    said[0].signer = key_text(FRESH.public)
    trace.entries[place:place] = [added, *said]


def _imported(trace: Trace) -> None:
    """Passed off as recorded elsewhere."""
    source = {"digest": "0" * 64, "form": "results", "index": 0, "name": "results.json"}
    trace.entries[0].body["origin"] = {"custody": "imported", "source": source}
    trace.all("seal")[0].body["outcome"] = "imported"


def _played(trace: Trace) -> None:
    """Passed off as played here."""
    trace.entries[0].body["origin"] = {"custody": "played", "source": None}
    trace.all("seal")[0].body["outcome"] = "completed"


def _strict(trace: Trace) -> None:
    """Another mode of the market, with start rows to fit."""
    world = trace.entries[0].body["world"]
    world["params"]["mode"] = "strict"
    opened = OPEN.decode(encode(trace.entries[0].body))
    facts = world_of(opened.world).facts(rows_of_shop(SHOP, "strict"))
    trace.blobs[0] = json.loads(facts_blob(facts).lines[0])["blob"]


def _reward(trace: Trace) -> None:
    blob = trace.blob("task")
    blob["text"] = encode({**json.loads(blob["text"]), "reward": "0.0"}).decode()


def _answer(trace: Trace) -> None:
    """The brief says what is owed."""
    (part,) = trace.all("brief")[0].parts
    told = json.loads(part["text"])
    set_text(trace.all("brief")[0], "part", encode({**told, "brief": "Pay 55.00."}).decode())


def _hidden_answer(trace: Trace) -> None:
    _answer(trace)
    trace.all("brief")[0].parts.clear()


def _owed(trace: Trace) -> None:
    """Less was paid back before than the task says; its books agree."""
    for row in trace.blob("rows")["rows"]:
        row[2] = json.loads(json.dumps(row[2]).replace("2500", "2400").replace("5500", "5600"))


def _said(trace: Trace, kind: str) -> Entry:
    return next(entry for entry in trace.all("message") if entry.body["action"]["kind"] == kind)


def _field(kind: str, name: str, value: object) -> Change:
    """Another value in a field of the first action of a kind."""

    def change(trace: Trace) -> None:
        _said(trace, kind).body["action"][name] = value

    return change


def _silent(kind: str) -> Change:
    """The first message of a kind and its decision are left out."""

    def change(trace: Trace) -> None:
        place = trace.entries.index(_said(trace, kind))
        del trace.entries[place : place + 2]

    return change


def _twice(kind: str) -> Change:
    """The first message of a kind is said again after its decision."""

    def change(trace: Trace) -> None:
        place = trace.entries.index(_said(trace, kind))
        trace.entries[place + 2 : place + 2] = copy.deepcopy(trace.entries[place : place + 2])

    return change


def _late(trace: Trace) -> None:
    """The buyer claims after the clock has moved on."""
    place = trace.entries.index(_said(trace, "refund.open"))
    trace.entries[place : place + 4] = trace.entries[place + 2 : place + 4] + trace.entries[place : place + 2]
    trace.entries[place + 2].body["reply_to"] = trace.entries[place - 2].record["seq"]


def _unasked(trace: Trace) -> None:
    """The actor's second query, its turn and the tick after it are left out."""
    place = trace.entries.index(_said(trace, "payment.history"))
    del trace.entries[place - 1 : place + 4]
    for entry in trace.entries[place - 1 :]:
        if entry.kind == "turn" and entry.body["n"] is not None:
            entry.body["n"] -= 1
        elif entry.kind == "message" and entry.body["reply_to"] is not None:
            entry.body["reply_to"] -= 5
    claim = trace.entries.index(_said(trace, "refund.open"))
    _said(trace, "refund.approve").body["action"]["refund_case"] = f"c{claim}"


def _weights(trace: Trace) -> None:
    """A task that weighs otherwise, and is played alike: each predicate has the weight of the one before."""
    blob = trace.blob("task")
    weights = re.findall(r"(?<=weight = )[0-9]+", blob["text"])
    moved = iter([weights[-1], *weights[:-1]])
    blob["text"] = re.sub(r"(?<=weight = )[0-9]+", lambda _weight: next(moved), blob["text"])


def _environment(trace: Trace) -> None:
    trace.notes[1] = trace.notes[1].replace("3.11", "3.12")


def _drop_checkpoint(trace: Trace) -> None:
    del trace.notes[0]


PLAYED = (
    Forgery("Decisions", "the outcome", _decision("outcome", "accepted", refused=True)),
    Forgery("Decisions", "the rule", _decision("rule", "order.unknown", refused=True)),
    Forgery("Decisions", "the detail", _decision("detail", {"order": "#D1", "status": "lost"}, refused=True)),
    Forgery("Decisions", "an event (more money back), rows after it to fit", _event, again=True),
    Forgery("Decisions", "a refused act granted, rows after it to fit", _granted, again=True),
    Forgery("Decisions", "the delta", _decision("delta", "0" * 64)),
    Forgery("Decisions", "the result", _decision("result", "0" * 64)),
    Forgery("Decisions", "the reads", _decision("reads", [])),
    Forgery("Rows", "a start row, decisions left", _start_row),
    Forgery("Rows", "a start row, every decision made again", _start_row, again=True),
    Forgery("Rows", "a final row, and the seal's root", _final_row),
    Forgery("Rows", "the seal's count of rows", _body("seal", "rows", value=6)),
    Forgery("Rows", "the seal's outcome", _body("seal", "outcome", value="agent_failed")),
    Forgery("Briefs and turns", "a brief", _text("brief", "part", "Have #D1 cancelled.")),
    Forgery("Briefs and turns", "a brief left out", _drop("brief"), again=True),
    Forgery("Briefs and turns", "what an agent was given", _text("turn", "given", "tools: 2")),
    Forgery("Briefs and turns", "a turn left out", _drop("turn"), again=True),
    Forgery("Messages", "a text", _text("message", "text", "Nothing to do.", 1)),
    Forgery("Messages", "the run's last words", _text("message", "text", "No!", 2), party="user"),
    Forgery("Messages", "an argument, every decision made again", _argument, again=True),
    Forgery("Messages", "words put in another's mouth", _put_in_mouth, again=True),
    Forgery("Messages", "one left out", _drop_refused, again=True),
    Forgery("Messages", "one put in", _insert, again=True),
    Forgery("Messages", "two in the other order", _swap, again=True),
    Forgery("Messages", "the last one cut off, unsealed", _cut),
    Forgery("Messages", "the last one cut off, sealed again", _cut_and_seal, again=True),
    Forgery("Messages", "all but the first cut off, sealed again", _cut_early, again=True),
    Forgery("Keys", "the user's key", _users_key),
    Forgery("Keys", "a key that a party added", _key),
    Forgery("Keys", "a key added to a party, and used", _new_key, again=True),
    Forgery("Open", "the seed", _body("open", "seed", value="0" * 64)),
    Forgery("Open", "the trial", _body("open", "trial", value=1)),
    Forgery("Open", "the nonce", _body("open", "nonce", value="0" * 64)),
    Forgery("Open", "an agent's model", _body("open", "parties", 1, "agent", "model", value="m9")),
    Forgery("Open", "a party's role", _body("open", "parties", 0, "role", value="assistant"), again=True),
    Forgery("Open", "the world's parameters, every decision made again", _strict, again=True),
    Forgery("Open", "the world's version", _body("open", "world", "version", value=1)),
    Forgery("Open", "the ledger's name", _body("open", "ledger", "name", value="market.other")),
    Forgery("Open", "the origin, passed off as imported", _imported),
    Forgery("Notes", "the checkpoint left out", _drop_checkpoint),
    Forgery("Notes", "the environment note", _environment),
)

OF_TASK = (
    Forgery("Briefs and turns", "a brief that holds the answer", _answer),
    Forgery("Briefs and turns", "a brief that holds the answer, its text withheld", _hidden_answer),
    Forgery("Briefs and turns", "a brief left out", _drop("brief"), again=True),
    Forgery("Briefs and turns", "what an agent was given", _text("turn", "given", "{}", 4)),
    Forgery("Rows", "start rows, all decided again", _owed, again=True),
    Forgery("Rows", "the seal's outcome", _body("seal", "outcome", value="turn_limit")),
    Forgery("Scripts", "a claim, all decided again", _field("refund.open", "amount", 5_500), again=True),
    Forgery("Scripts", "the words of a claim", _text("message", "text", "55.00 are due.")),
    Forgery("Scripts", "a claim left out, all decided again", _silent("refund.open"), again=True),
    Forgery("Scripts", "a claim made twice, all decided again", _twice("refund.open"), again=True),
    Forgery("Scripts", "a claim after the clock, all decided again", _late, again=True),
    Forgery("Clock", "a longer tick, all decided again", _field("clock.advance", "ticks", 2), again=True),
    Forgery("Clock", "a tick left out, all decided again", _silent("clock.advance"), again=True),
    Forgery("Actor", "an amount, all decided again", _field("refund.approve", "amount", 5_499), again=True),
    Forgery("Actor", "a query left out, with all that followed from it", _unasked, again=True),
    Forgery("Open", "the seed", _body("open", "seed", value="0" * 64)),
    Forgery("Open", "the trial", _body("open", "trial", value=1)),
    Forgery("Open", "the task's id", _body("open", "task", "id", value="t7.other")),
    Forgery("Open", "the task's case", _body("open", "task", "case", value="fully_refunded")),
    Forgery("Open", "the task's file: what predicates weigh", _weights),
    Forgery("Open", "a party's role", _body("open", "parties", 0, "role", value="merchant"), again=True),
    Forgery("Open", "an agent's name", _body("open", "parties", 1, "agent", "name", value="a9")),
    Forgery("Open", "the origin, passed off as imported", _imported),
    Forgery("Notes", "the environment note", _environment),
)

IMPORTED = (
    Forgery("Decisions", "the result", _decision("result", "0" * 64)),
    Forgery("Decisions", "an event (more money back), rows after it to fit", _event, again=True),
    Forgery("Rows", "a start row, every decision made again", _start_row, again=True),
    Forgery("Rows", "the seal's outcome", _body("seal", "outcome", value="completed")),
    Forgery("Turns", "what the source showed", _text("turn", "given", "what the shop shows")),
    Forgery("Turns", "a turn left out", _drop("turn"), again=True),
    Forgery("Messages", "a text", _text("message", "text", "Keep it.")),
    Forgery("Messages", "an argument, every decision made again", _argument, again=True),
    Forgery("Messages", "the last one cut off, sealed again", _cut_and_seal, again=True),
    Forgery("Open", "the recorded reward", _reward),
    Forgery("Open", "the task's case", _body("open", "task", "case", value="s1")),
    Forgery("Open", "an agent's model", _body("open", "parties", 1, "agent", "model", value="m9")),
    Forgery("Open", "the source's file", _body("open", "origin", "source", "digest", value="0" * 64)),
    Forgery("Open", "the name of the source's file", _body("open", "origin", "source", "name", value="x")),
    Forgery("Open", "the nonce", _body("open", "nonce", value="0" * 64)),
    Forgery("Open", "the run's place in the source", _body("open", "origin", "source", "index", value=1)),
    Forgery("Open", "the origin, passed off as played", _played),
)
