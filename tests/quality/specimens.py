"""Three small runs, exported: what forgeries and single-byte changes are tried on.

    played      two briefs, a key added, a refusal, a write under an idempotency key and its retry,
                a turn, two texts, a seal; notes: a checkpoint and an environment note
    task        a case of a built-in task: a brief, turns, queries, a scripted claim, a clock
    imported    a recorded run of the played one's shop, one output of which differs

Keys come from a known secret, so the bytes are the same each time.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from forge import checkpoint_of
from played_run import SECRET, Told, play

from tollbook.ledger.blobs import facts_blob
from tollbook.ledger.bundle import export_lines
from tollbook.ledger.notes import sign_note
from tollbook.ledger.plan import Plan, Seat
from tollbook.ledger.records import leaf_of_record
from tollbook.ledger.store import Store
from tollbook.ledger.writer import Voice, Writer
from tollbook.protocol.bodies import Agent, KeyChange, Origin, WorldRef
from tollbook.protocol.canonical import encode, encode_typed
from tollbook.protocol.derive import ledger_key, party_seed
from tollbook.protocol.draws import seed_of
from tollbook.protocol.keys import SigningKey, key_text, pae, signature_text
from tollbook.protocol.retail.actions import CancelPendingOrder, GetUserDetails, SendMessage
from tollbook.protocol.retail.shop import rows_of_shop
from tollbook.protocol.world import world_of
from tollbook.tasks.tau2.importer import import_runs, read_shop
from tollbook.tasks.tau2.source import read_source

LEDGER = "market.example"
SECOND = bytes(range(32, 64))
"""The seed of the key that the assistant adds in mid-run."""
OUTSIDE = bytes(range(64, 96))
"""The seed of the user's own key, in the run that somebody outside plays in."""

_ADDRESS = {"address1": "1 Elm", "address2": "", "city": "Ulm", "country": "DE", "state": "", "zip": "11111"}
_LINE = {"item_id": "L1", "name": "Lamp", "options": {"size": "S"}, "price": 10, "product_id": "lamp"}
SHOP: dict[str, Any] = {
    "products": {
        "lamp": {
            "name": "Lamp",
            "product_id": "lamp",
            "variants": {"L1": {"available": True, "item_id": "L1", "options": {"size": "S"}, "price": 10}},
        }
    },
    "users": {
        "zoe": {
            "address": _ADDRESS,
            "email": "zoe@example.com",
            "name": {"first_name": "Zoë", "last_name": "Brown"},
            "orders": ["#P1", "#D1"],
            "payment_methods": {"gift": {"balance": 30, "id": "gift", "source": "gift_card"}},
            "user_id": "zoe",
        }
    },
    "orders": {
        order: {
            "address": _ADDRESS,
            "fulfillments": [],
            "items": [_LINE],
            "order_id": order,
            "payment_history": [
                {"amount": 10, "payment_method_id": "gift", "transaction_type": "payment"}
            ],
            "status": status,
            "user_id": "zoe",
        }
        for order, status in (("#P1", "pending"), ("#D1", "delivered"))
    },
}
"""A shop of one product, one customer and two orders."""

_CALLS = (
    ("get_order_details", {"order_id": "#P1"}),
    ("cancel_pending_order", {"order_id": "#P1", "reason": "ordered by mistake"}),
)


class Specimen(NamedTuple):
    """An exported run, and what was kept of it elsewhere: checkpoints of its first half and of all of it."""

    name: str
    outside: bool
    bundle: bytes
    half: str
    whole: str


@cache
def played(*, outside: bool = False) -> Specimen:
    """The played run. ``outside`` gives the user a key that the ledger's secret doesn't give."""
    with _store() as store:
        writer = _begin(store, outside=outside)
        _play(writer, Voice(writer, "user", OUTSIDE) if outside else writer.voice("user"))
        writer.seal("completed")
        root = writer.run.root().hex()
        environment = f"tollbook.environment/1\n{encode({'python': '3.11', 'root': root}).decode()}\n"
        writer.flush([sign_note(environment, LEDGER, ledger_key(SECRET))])
        return _exported("played", store, outside=outside)


@cache
def of_task() -> Specimen:
    """The run of a task, its actor's turns recorded as a program's are."""
    with _store() as store:
        play(store, "t7.merchant_refund", "part_refunded", told=Told)
        return _exported("task", store)


@cache
def imported() -> Specimen:
    """The imported run."""
    with tempfile.TemporaryDirectory() as folder, _store() as store:
        source, db = write_source(Path(folder))
        import_runs(store, SECRET, LEDGER, read_source(source), read_shop(db, "compat"))
        return _exported("imported", store)


def write_source(folder: Path) -> tuple[Path, Path]:
    """The recorded run's results file and the shop's database file, written into a folder."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Cancel #P1, please."}]
    for place, (tool, arguments) in enumerate(_CALLS):
        call = {"id": f"c{place}", "name": tool, "arguments": arguments}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "id": f"c{place}", "content": f"not what the shop shows, {place}"},
        ]
    messages += [{"role": "assistant", "content": "It is cancelled."}, {"role": "user", "content": "Thanks!"}]
    actions = [{"action_id": "a0", "name": tool, "arguments": arguments} for tool, arguments in _CALLS]
    graded = {"reward": 1.0, "action_checks": [{"action": action} for action in actions]}
    run = {"id": "s0", "task_id": "7", "trial": 0, "messages": messages, "reward_info": graded}
    run["termination_reason"] = "user_stop"
    info = {"agent_info": {"llm": "a-model"}}
    source, db = folder / "results.json", folder / "shop.json"
    source.write_text(json.dumps({"info": info, "simulations": [run]}))
    db.write_text(json.dumps(SHOP))
    return source, db


def signing_keys(specimen: Specimen) -> dict[str, SigningKey]:
    """Every key of a specimen that its ledger's secret gives, and the assistant's second, by its text."""
    lines = [json.loads(line) for line in specimen.bundle.splitlines()]
    opened = next(line["record"]["body"] for line in lines if "record" in line)
    seeds = [party_seed(SECRET, opened["nonce"], party["id"]) for party in opened["parties"]]
    keys = [ledger_key(SECRET), *map(SigningKey.from_seed, [*seeds, SECOND])]
    return {key_text(key.public): key for key in keys}


def _begin(store: Store, *, outside: bool) -> Writer:
    world = WorldRef(name="retail", params={"mode": "compat"}, version=0)
    facts = world_of(world).facts(rows_of_shop(SHOP, "compat"))
    own = SigningKey.from_seed(OUTSIDE).public if outside else None
    plan = Plan(
        world=world,
        seats=[
            Seat("user", "user", Agent("m1", "script", {}, "1"), own),
            Seat("assistant", "assistant", Agent("m2", "model", {"temperature": "0"}, "1")),
            Seat("platform", "platform", Agent("", "market", {}, "0")),
        ],
        seed=seed_of("shop/cancel", "0", 0),
        origin=Origin(custody="played", source=None),
    )
    return Writer.begin(store, SECRET, LEDGER, plan, facts, [facts_blob(facts)], group=None)


def _play(writer: Writer, user: Voice) -> None:
    writer.brief("user", "You are Zoë. Have #P1 cancelled.")
    writer.brief("assistant", "Help the customer; refunds of 10 at most.")
    assistant = writer.voice("assistant")
    user.say(SendMessage("Cancel my order, please."), to="assistant")
    assistant.say(GetUserDetails("zoe"), to="platform")
    _add_key(writer, "assistant", SECOND)
    assistant.say(CancelPendingOrder("#D1", "no longer needed"), to="platform")
    for _ in range(2):  # the second is a retry
        assistant.say(CancelPendingOrder("#P1", "no longer needed"), to="platform", key="k1")
    writer.turn("assistant", 4, given="tools: 16", gave="Done!")
    told = SendMessage("Done: 10.00 refunded.")
    Voice(writer, "assistant", SECOND).say(told, to="user", reply_to=3)
    user.say(SendMessage("Thank you."), to="assistant")


def _add_key(writer: Writer, party: str, seed: bytes) -> None:
    run = writer.run
    n = run.members[party].n
    own = SigningKey.from_seed(party_seed(SECRET, writer.opened.nonce, party))
    key = key_text(SigningKey.from_seed(seed).public)
    change = KeyChange(by="party", change="add", key=key, n=n, party=party, seen=(run.size - 1, run.prev))
    body = encode_typed(change)
    sig = signature_text(own.sign(pae("key", body)))
    objection = run.key(change, body, sig)
    assert objection is None, objection
    writer._keep("key", body, sig, ())  # noqa: SLF001 - the writer has no act for it yet


@contextmanager
def _store() -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "market.db"
        with Store.write(path, LEDGER, key_text(ledger_key(SECRET).public)) as store:
            yield store


def _exported(name: str, store: Store, *, outside: bool = False) -> Specimen:
    lines = list(export_lines(store, store.runs()))
    records = [line.removeprefix(b'{"record":')[:-2] for line in lines if line.startswith(b'{"record":')]
    leaves = [leaf_of_record(record) for record in records]
    run, key = leaves[0].hex(), ledger_key(SECRET)
    half = checkpoint_of(LEDGER, run, leaves[: len(leaves) // 2], key)
    return Specimen(name, outside, b"".join(lines), half, checkpoint_of(LEDGER, run, leaves, key))
