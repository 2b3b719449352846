"""Whatever is said in a double auction: the book, the trades and the gains are what the rules allow.

    a market of any size and rules · any acts in any order, most by whoever is asked
    ─► after each act   bid < ask, quotes of those still in it; the rows before it, if it was refused
    ─► at the end       each traded once at most, buyer with seller, at the standing price;
                        gains are the surplus of the pairs that traded
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from trading_floor import Floor

from tollbook.protocol.auction.double import Book, Trade
from tollbook.protocol.auction.equilibrium import equilibrium
from tollbook.protocol.bodies import Decision


class Said(NamedTuple):
    """Something to say: by who is asked or by another, and at a price or not."""

    by: int | None
    kind: str
    amount: int


LIMITS = st.integers(0, 60)
SAID = st.builds(
    Said,
    st.one_of(st.none(), st.none(), st.none(), st.integers(0, 9)),
    st.sampled_from(["own", "own", "own", "own", "quote.buy", "quote.sell", "quote.pass"]),
    st.integers(-2, 70),
)
RULES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 50),
        "steps": st.integers(1, 40),
        "improves": st.booleans(),
        "clears": st.booleans(),
        "at": st.sampled_from(["standing", "middle"]),
        "drawn": st.sampled_from(["trader", "side"]),
        "rounds": st.integers(1, 3),
        "cap": st.just(66),
        "reserve": st.sampled_from([0, 5]),
    }
)


def _say(floor: Floor, said: Said) -> tuple[str, Decision]:
    parties = [party for party in floor.roles if party != "operator"]
    sender = floor.asked if said.by is None else parties[said.by % len(parties)]
    assert sender is not None
    kind = said.kind
    if kind == "own":
        kind = "quote.sell" if floor.roles[sender] == "seller" else "quote.buy"
    return sender, floor.say(sender, kind, **({} if kind == "quote.pass" else {"amount": said.amount}))


def _check_book(floor: Floor) -> None:
    _key, auction = floor.auction
    book = floor.book
    assert book.bid is None or book.ask is None or book.bid < book.ask
    assert all(amount is None or 0 <= amount <= 66 for amount in (book.bid, book.ask))
    for amount, party, role in ((book.bid, book.buyer, "buyer"), (book.ask, book.seller, "seller")):
        assert (amount is None) is (party is None)
        assert party is None or (party in auction.active and floor.roles[party] == role)
    assert book.asked in auction.active


def _check_trade(floor: Floor, before: Book, trade: Trade, amount: int, rules: dict[str, Any]) -> None:
    maker, standing = (before.buyer, before.bid) if trade.taker == "sell" else (before.seller, before.ask)
    assert standing is not None
    assert maker == (trade.buyer if trade.taker == "sell" else trade.seller)
    assert amount <= standing if trade.taker == "sell" else amount >= standing
    assert trade.price == (standing if rules["at"] == "standing" else (amount + standing) // 2)
    assert ("buyer", "seller") == (floor.roles[trade.buyer], floor.roles[trade.seller])


def _check_end(floor: Floor, values: list[int], costs: list[int]) -> None:
    worth = {f"b{place}": value for place, value in enumerate(values)}
    worth.update({f"s{place}": cost for place, cost in enumerate(costs)})
    results, trades = floor.rows("result"), floor.rows("trade")
    for number in {row.round for row in results}:
        pairs = [(trade.buyer, trade.seller) for trade in trades if trade.round == number]
        traded = [party for pair in pairs for party in pair]
        assert len(set(traded)) == len(traded)
        assert set(traded) == {row.bidder for row in results if row.round == number and row.units == 1}
        gained = sum(row.profit for row in results if row.round == number)
        assert sum(worth[buyer] - worth[seller] for buyer, seller in pairs) == gained
        assert gained <= equilibrium(values, costs).surplus


@given(
    st.lists(LIMITS, min_size=1, max_size=4),
    st.lists(LIMITS, min_size=1, max_size=4),
    RULES,
    st.lists(SAID, max_size=60),
)
@settings(max_examples=150, deadline=None)
def test_markets_keep_their_rules(
    values: list[int], costs: list[int], rules: dict[str, Any], acts: list[Said]
) -> None:
    buyers = {f"b{place}": value for place, value in enumerate(values)}
    floor = Floor(buyers, {f"s{place}": cost for place, cost in enumerate(costs)}, **rules)
    for said in acts:
        if floor.asked is None and floor.say("operator", "round.open").outcome == "refused":
            break
        _check_book(floor)
        book, root, trades = floor.book, floor.state.root(), len(floor.rows("trade"))
        sender, decision = _say(floor, said)
        if decision.outcome == "refused":
            assert root == floor.state.root()
            continue
        assert book.asked == sender
        for trade in floor.rows("trade")[trades:]:
            _check_trade(floor, book, trade, said.amount, rules)
    _check_end(floor, values, costs)
