"""A made-up shop of three products, users and orders, and runs played in it.

The parties `user`, `assistant` and `platform` are played in process; `outsider`
is an assistant too and brings the key `OUTSIDER`, so that a test can say
anything in its name, right or wrong, with `signed` and `signed_key`.
"""

from __future__ import annotations

import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tollbook.ledger.blobs import facts_blob, task_blob
from tollbook.ledger.bundle import export_lines
from tollbook.ledger.plan import Plan, Seat
from tollbook.ledger.run import Run
from tollbook.ledger.store import Store
from tollbook.ledger.writer import GROUP_RECORDS, Writer
from tollbook.protocol.bodies import Agent, KeyChange, Message, Open, Origin, Outcome, TaskRef, WorldRef
from tollbook.protocol.canonical import encode
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.keys import SigningKey, key_text, pae, signature_text
from tollbook.protocol.retail import actions
from tollbook.protocol.retail.shop import rows_of_shop
from tollbook.protocol.tables import Facts
from tollbook.protocol.world import world_of

SECRET = bytes(range(32))
NAME = "tollbook.test"
WORLD = WorldRef(name="retail", params={"mode": "strict"}, version=0)
TASK = "a user wants to cancel an order\n"
AGENT = Agent(model="", name="test", settings={}, version="1")


def key_of(name: str) -> SigningKey:
    """The key that a test knows by this name."""
    return SigningKey.from_seed(sha256(name.encode()).digest())


OUTSIDER = key_of("outsider")

_ADDRESS = {
    "address1": "1 Elm Road",
    "address2": "",
    "city": "Ulm",
    "country": "DE",
    "state": "BW",
    "zip": "11111",
}


def shop() -> dict[str, Any]:
    """The shop as a document, in the form that recorded shops have."""
    prices = {"lamp": 10.1, "chair": 250.55, "bench": 99}
    return {
        "products": {
            name: {
                "name": name.title(),
                "product_id": name,
                "variants": {
                    f"{name}-{size}": {
                        "item_id": f"{name}-{size}",
                        "options": {"size": size},
                        "available": size != "L",
                        "price": price,
                    }
                    for size in "SML"
                },
            }
            for name, price in prices.items()
        },
        "users": {
            user: _user(user, [f"#{user}-{name}" for name in prices]) for user in ("ann", "bob", "zoe")
        },
        "orders": {
            f"#{user}-{name}": _order(user, name, price, "delivered" if name == "bench" else "pending")
            for user in ("ann", "bob", "zoe")
            for name, price in prices.items()
        },
    }


def _user(user: str, orders: list[str]) -> dict[str, Any]:
    return {
        "user_id": user,
        "name": {"first_name": user.title(), "last_name": "Lee"},
        "address": _ADDRESS,
        "email": f"{user}@example.com",
        "payment_methods": {
            f"gift_{user}": {"source": "gift_card", "id": f"gift_{user}", "balance": 500},
            f"pal_{user}": {"source": "paypal", "id": f"pal_{user}"},
        },
        "orders": orders,
    }


def _order(user: str, name: str, price: float, status: str) -> dict[str, Any]:
    item = {
        "name": name.title(),
        "product_id": name,
        "item_id": f"{name}-S",
        "price": price,
        "options": {"size": "S"},
    }
    delivered = [{"tracking_id": [f"7{user}"], "item_ids": [f"{name}-S"]}] if status == "delivered" else []
    return {
        "order_id": f"#{user}-{name}",
        "user_id": user,
        "address": _ADDRESS,
        "items": [item],
        "status": status,
        "fulfillments": delivered,
        "payment_history": [
            {"transaction_type": "payment", "amount": price, "payment_method_id": f"pal_{user}"}
        ],
    }


@cache
def facts() -> Facts:
    """The shop as start rows."""
    return world_of(WORLD).facts(rows_of_shop(shop(), "strict"))


def plan(trial: int = 0) -> Plan:
    """What a run is opened with; each trial gives a run of its own."""
    return Plan(
        world=WORLD,
        seats=[
            Seat("user", "user", AGENT),
            Seat("assistant", "assistant", AGENT),
            Seat("outsider", "assistant", AGENT, OUTSIDER.public),
            Seat("platform", "platform", AGENT),
        ],
        seed="0" * 64,
        origin=Origin(custody="played", source=None),
        task=TaskRef(case="first", digest=task_blob(TASK).digest, id="cancel"),
        trial=trial,
    )


def ledger(path: Path, wait_seconds: float = 30.0) -> Store:
    """The ledger at this path, made if there is none, open for writing."""
    return Store.write(path, NAME, key_text(ledger_key(SECRET).public), wait_seconds)


def begin(store: Store, trial: int = 0, group: int | None = GROUP_RECORDS) -> Writer:
    """A new run."""
    blobs = [facts_blob(facts()), task_blob(TASK)]
    return Writer.begin(store, SECRET, NAME, plan(trial), facts(), blobs, group=group)


@cache
def opened() -> Open:
    """What `begin` opens its first trial with."""
    with tempfile.TemporaryDirectory() as folder, ledger(Path(folder) / "a.db") as store:
        return begin(store).opened


def play(writer: Writer) -> None:
    """Briefs, and messages of each kind: with a part, a query, a change, refusals, a retry, a turn, keys."""
    writer.brief("user", "you want your order cancelled")
    writer.brief("assistant", "help the user\nün")
    user, assistant = writer.voice("user"), writer.voice("assistant")
    user.say(actions.SendMessage("please cancel my order"), to="assistant")
    assistant.say(actions.GetOrderDetails("#ann-lamp"), to="platform")
    writer.turn("assistant", 0, given="the order is pending", gave="look it up")
    assistant.say(actions.CancelPendingOrder("#ann-lamp", "no longer needed"), to="platform", key="once")
    assistant.say(actions.CancelPendingOrder("#ann-lamp", "no longer needed"), to="platform", key="once")
    assistant.say(actions.CancelPendingOrder("#ann-bench", "no longer needed"), to="platform")
    user.say(actions.GetUserDetails("ann"), to="platform")
    writer.admit(*signed(writer.run, "outsider", actions.GetUserDetails("bob"), to="platform"))
    writer.change_key(*signed_key(writer.run, "outsider", "add", key_of("second")))
    writer.revoke_key("outsider", OUTSIDER.public)
    writer.admit(
        *signed(writer.run, "outsider", actions.GetUserDetails("zoe"), signer=key_of("second"), to="platform")
    )
    writer.turn("user", None)


def small_run(store: Store, trial: int = 0, outcome: Outcome = "completed") -> Writer:
    """A whole run of some twenty records, sealed."""
    writer = begin(store, trial)
    play(writer)
    writer.seal(outcome)
    return writer


def signed(
    run: Run, party: str, action: msgspec.Struct, signer: SigningKey | None = None, **fields: Any
) -> tuple[bytes, str]:
    """A party's next message but for the fields that are given, and its signature.

    ``signer`` is `OUTSIDER` unless stated. An action's part fields must hold digests already.
    """
    n = run.members[party].n if party in run.members else 0
    message = Message(
        action=msgspec.Raw(encode(action)),
        sender=party,
        key=None,
        n=n,
        reply_to=None,
        seen=(run.size - 1, run.prev),
        to=None,
    )
    body = msgspec.json.encode(msgspec.structs.replace(message, **fields), order="sorted")
    return body, signature_text((signer or OUTSIDER).sign(pae("message", body)))


def signed_key(
    run: Run, party: str, change: str, key: SigningKey, signer: SigningKey | None = None, **fields: Any
) -> tuple[bytes, str]:
    """The body of a party's next key record but for the fields that are given, and its signature.

    ``text`` stands for the key where it is none.
    """
    values: dict[str, Any] = {
        "by": "party",
        "change": change,
        "key": key_text(key.public),
        "n": run.members[party].n if party in run.members else 0,
        "party": party,
        "seen": (run.size - 1, run.prev),
    }
    if "text" in fields:
        fields["key"] = fields.pop("text")
    body = msgspec.json.encode(KeyChange(**{**values, **fields}), order="sorted")
    return body, signature_text((signer or OUTSIDER).sign(pae("key", body)))


class Exported(NamedTuple):
    """A bundle's lines, each with its LF."""

    lines: list[bytes]

    def write(self, path: Path) -> Path:
        path.write_bytes(b"".join(self.lines))
        return path


def exported(store: Store, *, withhold: bool = False) -> Exported:
    """All runs of a store as a bundle."""
    return Exported(list(export_lines(store, store.runs(), withhold=withhold)))


def opened_of(store: Store, run: int) -> Open:
    """A stored run's ``open``."""
    return msgspec.json.decode(store.body(run, 0), type=Open)
