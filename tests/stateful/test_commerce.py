"""A market played at random beside a model of it in plain numbers.

The model knows offers, deals, claims and goods as small lists, and no rule by name. It foretells of every act
whether the market takes it, and after every act what each party owns and what stands on the shelves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tollbook.protocol.bodies import Message, WorldRef
from tollbook.protocol.canonical import encode, encode_typed
from tollbook.protocol.engine import Ruling, decide, read_action
from tollbook.protocol.tables import State
from tollbook.protocol.world import made_fields, part_fields, world_of

WORLD = world_of(WorldRef(name="commerce", params={}, version=0))
ROLES = {"b1": "buyer", "b2": "buyer", "m1": "merchant", "m2": "merchant", "op": "operator"}
MERCHANT = {"l1": "m1", "l2": "m2"}
PATIENCE = 2
YES = "whatever came before"

picks = st.integers(0, 9)
prices = st.integers(0, 900)
traders = st.sampled_from(["b1", "b2", "m1", "m2"])
buyers = st.sampled_from(["b1", "b2"])
answers = st.sampled_from(["counter", "accept", "accept", "reject", "withdraw"])
units = st.integers(1, 3)


@dataclass
class Offer:
    key: str
    buyer: str
    listing: str
    units: int
    price: int
    by: str
    until: int
    is_open: bool = True


@dataclass
class Deal:
    key: str
    buyer: str
    listing: str
    units: int
    price: int
    is_open: bool = True


@dataclass
class Order:
    key: str
    buyer: str
    merchant: str
    held: int
    paid: bool
    left: int = 0
    """Units that no return speaks of; none where it wasn't delivered."""


@dataclass
class Claim:
    key: str
    order: Order
    amount: int
    is_open: bool = True


@dataclass
class Goods:
    key: str
    order: Order
    units: int
    state: str = "requested"


class CommerceMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        rows = {
            "policy": {"negotiation": {"deadline_ticks": PATIENCE}},
            "listing": {
                key: {"merchant": merchant, "title": key, "price": 900} for key, merchant in MERCHANT.items()
            },
            "inventory": {"l1": {"available": 6}, "l2": {"available": 2}},
            "order": {
                "o": {
                    "buyer": "b1", "merchant": "m1", "state": "delivered",
                    "lines": [{"listing": "l1", "quantity": 3, "unit_price": 100}],
                }
            },
            "payment": {"p": {"order": "o", "captured": 300}},
        }  # fmt: skip
        made = WORLD.complete(rows)
        typed = (
            (table, key, WORLD.read_row(table, encode(row)))
            for table, found in made.items()
            for key, row in found.items()
        )
        self.state = State(WORLD.facts(typed))
        self.seq = 1
        self.tick = 0
        self.owns = {"b1": -300, "b2": 0, "m1": 300, "m2": 0}
        self.shelf = {"l1": 6, "l2": 2}
        self.aside = {"l1": 0, "l2": 0}
        self.offers: list[Offer] = []
        self.deals: list[Deal] = []
        self.orders = [Order("o", "b1", "m1", held=300, paid=True, left=3)]
        self.claims: list[Claim] = []
        self.goods: list[Goods] = []

    def say(self, able: object, sender: str, kind: str, to: str | None, **fields: Any) -> Ruling:
        """What becomes of an act that the model takes to be allowed (`able`) or not."""
        action = WORLD.kinds[kind]
        given = {"kind": kind, **dict.fromkeys(part_fields(action), "0" * 64)}
        raw = encode_typed(
            msgspec.convert({**given, **{name.rstrip("_"): value for name, value in fields.items()}}, action)
        )
        message = Message(
            action=msgspec.Raw(raw), sender=sender, key=None, n=0, reply_to=None, seen=(0, ""), to=to
        )
        self.seq += 2
        typed = read_action(WORLD, raw)
        ruling = decide(WORLD, self.state, message, typed, self.seq, ROLES, lambda _seq, _party: True)
        assert ("accepted" if able else "refused") == ruling.decision.outcome, ruling.decision
        return ruling

    def made(self, ruling: Ruling, name: str) -> str:
        """The key of the row of this name that an act made."""
        for event in ruling.decision.events:
            if name in made_fields(type(event)):
                return getattr(event, "return_" if name == "return" else name)
        raise AssertionError(name)

    @rule(buyer=buyers, listing=st.sampled_from(["l1", "l2"]), units=units, price=prices)
    def propose(self, buyer: str, listing: str, units: int, price: int) -> None:
        fields = {"listing": listing, "quantity": units, "unit_price": price}
        ruling = self.say(YES, buyer, "negotiation.propose", MERCHANT[listing], **fields)
        key = self.made(ruling, "negotiation")
        self.offers.append(Offer(key, buyer, listing, units, price, buyer, self.tick + PATIENCE))

    @rule(pick=picks, who=traders, price=prices, verb=answers)
    def answer(self, pick: int, who: str, price: int, verb: str) -> None:
        if not self.offers:
            return
        offer = self.offers[pick % len(self.offers)]
        merchant = MERCHANT[offer.listing]
        able = offer.is_open and who in (offer.buyer, merchant) and (who == offer.by) == (verb == "withdraw")
        if verb in ("counter", "accept"):
            able = able and self.tick <= offer.until
        if verb == "accept":
            able = able and self.shelf[offer.listing] >= offer.units
        other = merchant if who != merchant else offer.buyer
        fields = {"unit_price": price} if verb == "counter" else {}
        ruling = self.say(able, who, f"negotiation.{verb}", other, negotiation=offer.key, **fields)
        if not able:
            return
        if verb == "counter":
            offer.price, offer.by = price, who
            return
        offer.is_open = False
        if verb == "accept":
            self.shelf[offer.listing] -= offer.units
            self.aside[offer.listing] += offer.units
            key = self.made(ruling, "agreement")
            self.deals.append(Deal(key, offer.buyer, offer.listing, offer.units, offer.price))

    @rule(pick=picks, who=traders)
    def settle(self, pick: int, who: str) -> None:
        if not self.deals:
            return
        deal = self.deals[pick % len(self.deals)]
        merchant = MERCHANT[deal.listing]
        able = deal.is_open and who == deal.buyer
        to = merchant if who != merchant else deal.buyer
        ruling = self.say(able, who, "agreement.settle", to, agreement=deal.key)
        if able:
            deal.is_open = False
            total = deal.units * deal.price
            self.owns[deal.buyer] -= total
            self.owns[merchant] += total
            self.aside[deal.listing] -= deal.units
            self.orders.append(Order(self.made(ruling, "order"), deal.buyer, merchant, total, total > 0))

    @rule(pick=picks, who=traders, amount=prices)
    def claim(self, pick: int, who: str, amount: int) -> None:
        order = self.orders[pick % len(self.orders)]
        able = who == order.buyer and order.paid and amount > 0
        to = order.merchant if who != order.merchant else order.buyer
        ruling = self.say(able, who, "refund.open", to, order=order.key, amount=amount)
        if able:
            self.claims.append(Claim(self.made(ruling, "refund_case"), order, amount))

    @rule(pick=picks, who=traders, amount=prices, denied=st.booleans())
    def judge(self, pick: int, who: str, amount: int, denied: bool) -> None:  # noqa: FBT001
        if not self.claims:
            return
        claim = self.claims[pick % len(self.claims)]
        order = claim.order
        able = claim.is_open and who == order.merchant
        to = order.buyer if who != order.buyer else order.merchant
        if denied:
            self.say(able, who, "refund.deny", to, refund_case=claim.key)
        else:
            able = able and 0 < amount <= min(claim.amount, order.held)
            self.say(able, who, "refund.approve", to, refund_case=claim.key, amount=amount)
        if able:
            claim.is_open = False
            paid = 0 if denied else amount
            order.held -= paid
            self.owns[order.buyer] += paid
            self.owns[order.merchant] -= paid

    @rule(who=traders, units=units)
    def send_back(self, who: str, units: int) -> None:
        order = self.orders[0]
        state = self.state.get("order", "o").state
        able = who == order.buyer and units <= order.left and state == "delivered"
        to = order.merchant if who != order.merchant else order.buyer
        fields = {"listing": "l1", "quantity": units, "condition": "worn"}
        ruling = self.say(able, who, "return.request", to, order="o", **fields)
        if able:
            order.left -= units
            self.goods.append(Goods(self.made(ruling, "return"), order, units))

    @rule(pick=picks, who=traders, verb=st.sampled_from(["authorize", "deny", "receive"]), units=units)
    def take_back(self, pick: int, who: str, verb: str, units: int) -> None:
        if not self.goods:
            return
        goods = self.goods[pick % len(self.goods)]
        order = goods.order
        able = who == order.merchant and goods.state == ("authorized" if verb == "receive" else "requested")
        able = able and (verb != "receive" or units <= goods.units)
        to = order.buyer if who != order.buyer else order.merchant
        fields = {"condition": "worn", "quantity": units} if verb == "receive" else {}
        self.say(able, who, f"return.{verb}", to, return_=goods.key, **fields)
        if able:
            goods.state = {"authorize": "authorized", "deny": "denied", "receive": "received"}[verb]
            order.left += goods.units if verb == "deny" else 0

    @rule(ticks=st.integers(1, 2))
    def wait(self, ticks: int) -> None:
        self.say(YES, "op", "clock.advance", None, ticks=ticks)
        self.tick += ticks

    @invariant()
    def stock_is_as_told(self) -> None:
        for key in MERCHANT:
            row = self.state.get("inventory", key)
            expected = self.shelf[key] + self.aside[key], self.shelf[key], self.aside[key]
            assert expected == (row.on_hand, row.available, row.reserved)

    @invariant()
    def money_is_as_told(self) -> None:
        for party, expected in self.owns.items():
            shown = self.say(YES, party, "balance.get", None).shown
            assert shown is not None
            accounts = msgspec.json.decode(encode(shown.value))["account"]
            assert expected == sum(account["balances"]["EUR"] for account in accounts)

    @invariant()
    def payments_hold_what_is_left(self) -> None:
        for order in self.orders:
            shown = self.say(YES, order.buyer, "payment.history", None, order=order.key).shown
            assert shown is not None
            payments = msgspec.json.decode(encode(shown.value))["payment"]
            assert order.held == sum(payment["captured"] - payment["refunded"] for payment in payments)


CommerceMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
test_a_market_played_at_random = CommerceMachine.TestCase
