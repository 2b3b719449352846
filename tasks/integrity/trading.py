"""Cases 1, 2, 3, 5 and 6: what is sold is gone, what is asked twice is done once, what is late is not."""

from __future__ import annotations

from pathlib import Path

from ...protocol.tables import NO_CHANGE
from .case import Claims, Shown
from .market import Scratch, agreed, shelf


def over_fill(folder: Path) -> Shown:
    """Case 1."""
    claims = Claims()
    market = Scratch(folder / "1.db", shelf(2, agreement={"deal": agreed(3, "ann", short=3)}))
    before = market.root
    ruling = market.say("ann", "agreement.settle", to="shop", agreement="deal")
    claims.note(seq=ruling.decision.message)
    claims.equal("outcome", "refused", ruling.decision.outcome)
    claims.equal("code", "stock.short", ruling.decision.rule)
    claims.equal("events", [], ruling.decision.events)
    claims.equal("delta", NO_CHANGE, ruling.decision.delta)
    claims.equal("state root", before, market.root)
    part = market.say("ann", "agreement.settle", to="shop", agreement="deal", allow_partial=True)
    claims.equal("asked to take what there is", "accepted", part.decision.outcome)
    line = market.row("order", market.rows("order")[0]).lines[0]
    claims.equal("units sold, units still to come", (2, 1), (line.quantity - line.short, line.short))
    claims.equal("units left", 0, market.row("inventory", "lamp").on_hand)
    market.close()
    did = "of a stock of 2, a purchase of 3 was settled; then again, taking what there is"
    return claims.shown(1, "what isn't there is not sold, and nothing of it stays", did)


def twice(folder: Path) -> Shown:
    """Case 2."""
    claims = Claims()
    market = Scratch(folder / "2.db", {**shelf(2), "agreement": {"deal": agreed(1, "ann")}})
    first = market.say("ann", "agreement.settle", to="shop", key="once", agreement="deal")
    second = market.again()
    claims.note(seqs=(first.decision.message, second.decision.message))
    claims.equal("second outcome", "accepted", second.decision.outcome)
    claims.equal("second rule", "message.retry", second.decision.rule)
    claims.equal("confirmation", first.decision.result, second.decision.result)
    claims.equal("second's events", [], second.decision.events)
    order = market.row("order", market.rows("order")[0])
    claims.equal("orders, confirmations", (1, 1), (len(market.rows("order")), len(order.confirmations)))
    postings = [market.row("posting", key) for key in market.rows("posting")]
    entries = {posting.entry for posting in postings}
    claims.equal("posting sets", 1, len(entries))
    claims.equal("their sum", 0, sum(posting.amount for posting in postings))
    other = market.say("ann", "listing.get", key="once", listing="lamp")
    claims.equal("same key, other act", "refused", other.decision.outcome)
    claims.note(code=other.decision.rule)
    market.close()
    did = "one settlement was sent twice under one idempotency key, then another act under that key"
    return claims.shown(2, "the same settlement twice is one purchase", did)


def reserved(folder: Path) -> Shown:
    """Case 3."""
    claims = Claims()
    rows = shelf(0, agreement={"first": agreed(2, "ann"), "second": agreed(1, "bob", short=1)})
    rows = {**rows, "inventory": {"lamp": {"available": 0, "reserved": 2}}}
    market = Scratch(folder / "3.db", rows)
    before = market.root
    ruling = market.say("bob", "agreement.settle", to="shop", agreement="second")
    claims.note(seq=ruling.decision.message)
    claims.equal("outcome", "refused", ruling.decision.outcome)
    claims.equal("code", "stock.short", ruling.decision.rule)
    claims.equal("state root", before, market.root)
    foreign = market.say("bob", "agreement.settle", to="shop", agreement="first")
    claims.equal("the other's agreement", "agreement.unknown", foreign.decision.rule)
    own = market.say("ann", "agreement.settle", to="shop", agreement="first")
    claims.equal("the first buyer's own", "accepted", own.decision.outcome)
    market.close()
    did = "2 units are set aside for one buyer; another settles for one of them, and in the first one's place"
    return claims.shown(3, "units set aside for one buyer are no other's", did)


_ORDER = {
    "buyer": "ann",
    "merchant": "shop",
    "state": "accepted",
    "lines": [{"listing": "lamp", "quantity": 1, "unit_price": 4_000}],
}
_PAYMENT = {"order": "held", "captured": 0, "authorized": 4_000, "state": "authorized"}
_EVENT = {"effect": "settle", "order": "held", "party": "ann", "operation": "pay-held", "expires": 3}


def _with_event(path: Path, tick: int) -> Scratch:
    rows = {
        **shelf(0, order={"held": _ORDER}, payment={"p": _PAYMENT}, protocol_event={"due": _EVENT}),
        "inventory": {"lamp": {"available": 0, "reserved": 1}},
        "clock": {"now": {"tick": tick}},
    }
    return Scratch(path, rows)


def expired(folder: Path) -> Shown:
    """Case 5."""
    claims = Claims()
    market = _with_event(folder / "5.db", tick=3)
    market.say("operator", "clock.advance")
    before, order = market.root, market.row("order", "held")
    ruling = market.say("ann", "event.process", to="operator", protocol_event="due", reason="")
    claims.note(seq=ruling.decision.message)
    claims.equal("outcome", "refused", ruling.decision.outcome)
    claims.equal("code", "event.expired", ruling.decision.rule)
    claims.equal("state root", before, market.root)
    claims.equal("the order is as it was", order, market.row("order", "held"))
    claims.evidence["the order is as it was"] = market.row("order", "held").state
    market.close()
    did = "an event of the operator that holds until tick 3 was processed at tick 4"
    return claims.shown(5, "an event that has expired changes nothing", did)


def once(folder: Path) -> Shown:
    """Case 6."""
    claims = Claims()
    market = _with_event(folder / "6.db", tick=1)
    first = market.say("ann", "event.process", to="operator", key="pay", protocol_event="due", reason="")
    second = market.again()
    claims.note(seqs=(first.decision.message, second.decision.message))
    claims.equal("first", ("accepted", None), (first.decision.outcome, first.decision.rule))
    claims.equal("second", ("accepted", "message.retry"), (second.decision.outcome, second.decision.rule))
    claims.equal("confirmation", first.decision.result, second.decision.result)
    claims.equal("confirmations of the order", 1, len(market.row("order", "held").confirmations))
    claims.equal("captured", 4_000, market.row("payment", "p").captured)
    third = market.say("ann", "event.process", to="operator", protocol_event="due", reason="")
    claims.equal("again, without a key", "event.state", third.decision.rule)
    market.close()
    did = "an event was processed twice under one idempotency key, then without one"
    return claims.shown(6, "the same event twice is done once", did)
