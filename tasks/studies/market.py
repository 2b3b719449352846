"""One market of five merchants and five buyers: ten parties that see nothing of each other's mandates.

    merchants quote ─► each buyer searches, is offered two, and ranks them ─► clearing ─► five sales

    clearing   buyers in the order of their names: each gets the first of its ranking that is still there
    welfare    of a sale: what the unit is worth to its buyer, less what it cost its merchant

The price goes from one to the other and adds nothing to welfare. There is one unit of each listing. Two
buyers want the same one first; the market refuses the later of them (`stock.short`), who takes its second
choice. Clearing is no broker's work here: it is the order in which buyers may buy, and the rule on stock.

The reference works the allocation out from the mandates and the offers alone, without the record. The global
optimum is that of all 25 pairs (`assignment`), which no party could work out: each knows its own figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...protocol.canonical import encode
from ...protocol.commerce.catalog import ListingReprice
from ...protocol.commerce.matching import OfferAcceptRanked
from ...protocol.commerce.records import RecordSubmit
from ...protocol.commerce.search import Filters, ListingSearch
from .assignment import best_assignment, worth_of
from .report import Claim, Report, replay_claims, table_of
from .stage import NAME, accepted, begin, beginning, found, ledger_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ...ledger.audited import Deed
    from ...ledger.voice import Voice
    from ...protocol.tables import State
    from ...protocol.world import StartRows
    from ...scorers.tables import Table
    from .stage import Beginning, Found

BPS: Final = 10_000
_NOTE: Final = (
    "The paper reports 97.8 % of the global optimum, and all welfare of the pairs offered, for a market "
    "whose utilities it doesn't state. The mandates here are ours (`tasks/studies/market.py`), so the two "
    "shares can't be compared. What is lost to the optimum is lost to search: a listing that wasn't offered "
    "can't be bought."
)
_FIRST_PRICE: Final = 20_000  # of every listing, before its merchant quotes


class Seller(NamedTuple):
    """A merchant's mandate: its one listing, what the unit cost, and the margin it quotes."""

    listing: str
    cost: int
    margin_bps: int


class Shopper(NamedTuple):
    """A buyer's mandate: what it looks for, its budget, and what each listing is worth to it."""

    query: str
    budget: int
    worth: Mapping[str, int]


LISTINGS: Final[Mapping[str, tuple[str, str]]] = {
    "g1": ("Hand grinder, steel burrs", "Light, quiet, for travel"),
    "g2": ("Electric grinder, conical burrs", "Quiet, for the kitchen"),
    "g3": ("Electric grinder, flat burrs", "Fast, for espresso, for the kitchen"),
    "g4": ("Hand grinder, ceramic burrs", "Light and cheap"),
    "g5": ("Espresso grinder, flat burrs", "Exact, heavy"),
}
"""Title and description of each listing."""

SELLERS: Final[Mapping[str, Seller]] = {
    "m1": Seller("g1", 5_200, 1_500),
    "m2": Seller("g2", 7_400, 1_500),
    "m3": Seller("g3", 8_100, 1_200),
    "m4": Seller("g4", 3_600, 2_500),
    "m5": Seller("g5", 10_200, 1_000),
}


def _worth(*each: int) -> dict[str, int]:
    return dict(zip(LISTINGS, each, strict=True))


SHOPPERS: Final[Mapping[str, Shopper]] = {
    "b1": Shopper("quiet kitchen grinder", 9_500, _worth(7_000, 11_500, 10_000, 5_000, 9_000)),
    "b2": Shopper("electric kitchen", 10_000, _worth(6_000, 12_000, 11_500, 5_500, 10_500)),
    "b3": Shopper("flat espresso", 12_000, _worth(5_500, 9_500, 13_000, 4_500, 15_500)),
    "b4": Shopper("light hand", 7_000, _worth(9_000, 8_000, 8_500, 7_500, 8_000)),
    "b5": Shopper("exact ceramic", 11_500, _worth(9_600, 8_500, 9_500, 7_800, 11_400)),
}


class Market(NamedTuple):
    """What came of the market: offers and rankings by buyer, what each got, and who was refused first."""

    offers: dict[str, list[dict[str, Any]]]
    rankings: dict[str, list[str]]
    bought: dict[str, str]
    refused: list[str]
    root: str


def study(folder: Path) -> Report:
    """Plays it, in ledgers below the folder."""
    parties = {**dict.fromkeys(SELLERS, "merchant"), **dict.fromkeys(SHOPPERS, "buyer")}
    what = beginning("market", _rows(), parties)
    market = _played(folder / "market.db", what)
    with ledger_at(folder / "market.db") as store:
        run = found(store, 1)
    again = _played(folder / "again.db", what)
    sold = allocation_of(run.state)
    reference = cleared({buyer: _ranked(SHOPPERS[buyer], offers) for buyer, offers in market.offers.items()})
    figures = _welfare(sold, market.offers)
    claims = [
        Claim("each of five buyers was offered two listings", _is_two(market), "5 × 2"),
        Claim(
            "one first choice was contested, and its buyer fell back",
            len(market.refused) == 1,
            ", ".join(market.refused),
        ),
        Claim("five sales, no listing sold twice", len(set(sold.values())) == len(SHOPPERS), str(len(sold))),
        Claim(
            "the allocation is the reference's",
            sold == reference,
            f"{sum(sold[b] == reference[b] for b in sold)} of 5",
        ),
        Claim("no party was shown a row of others", *_isolation(run)),
        *replay_claims([run.played], [again.root]),
    ]
    return Report(
        study="market",
        title="One market: five merchants, five buyers",
        claims=claims,
        runs=[run.played],
        figures={"allocation": sold, "reference": reference, "rankings": market.rankings, **figures},
        tables=[_sales(market, sold), _shares(figures)],
        notes=(_NOTE,),
    )


def cleared(rankings: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """What each buyer gets: in the order of their names, the first of its ranking that is still there."""
    given: dict[str, str] = {}
    for buyer in sorted(rankings):
        left = [listing for listing in rankings[buyer] if listing not in given.values()]
        if left:
            given[buyer] = left[0]
    return given


def allocation_of(state: State) -> dict[str, str]:
    """What each buyer bought, by the orders of a state."""
    return {
        order.buyer: order.lines[0].listing for _key, order in state.rows("order") if order.state == "settled"
    }


def _rows() -> StartRows:
    return {
        "listing": {
            seller.listing: {
                "merchant": merchant,
                "title": LISTINGS[seller.listing][0],
                "description": LISTINGS[seller.listing][1],
                "price": _FIRST_PRICE,
            }
            for merchant, seller in SELLERS.items()
        },
        "inventory": {seller.listing: {"on_hand": 1} for seller in SELLERS.values()},
        "policy": {"ranking": {"max_results": 2}},
    }


def _played(path: Path, what: Beginning) -> Market:
    with ledger_at(path) as store:
        writer = begin(store, what, name=NAME, group=None)
        for party, mandate in {**SELLERS, **SHOPPERS}.items():
            writer.brief(party, encode(mandate._asdict()).decode())
        for merchant, seller in SELLERS.items():
            _quote(writer.voice(merchant), seller)
        voices = {buyer: writer.voice(buyer) for buyer in SHOPPERS}
        offers = {buyer: _look(voices[buyer], shopper) for buyer, shopper in SHOPPERS.items()}
        rankings = {buyer: _rank(voices[buyer], SHOPPERS[buyer], offers[buyer]) for buyer in SHOPPERS}
        bought: dict[str, str] = {}
        refused: list[str] = []
        for buyer in sorted(SHOPPERS):
            by_listing = {offer["listing"]: offer for offer in offers[buyer]}
            for listing in rankings[buyer]:
                offer = by_listing[listing]
                ruling = voices[buyer].say(OfferAcceptRanked(offer["id"]), to=offer["merchant"])
                if ruling.decision.outcome == "accepted":
                    bought[buyer] = listing
                    break
                refused.append(f"{buyer} {listing} {ruling.decision.rule}")
        return Market(offers, rankings, bought, refused, writer.seal("completed"))


def _quote(voice: Voice, seller: Seller) -> None:
    """A merchant's session: it knows its own cost and margin."""
    price = seller.cost + seller.cost * seller.margin_bps // BPS  # floored to a cent
    accepted(voice.say(ListingReprice(seller.listing, price), to=None))


def _look(voice: Voice, shopper: Shopper) -> list[dict[str, Any]]:
    """A buyer's session, first half: what it is offered within its budget."""
    filters = Filters(price_max=shopper.budget, in_stock=True)
    return accepted(voice.say(ListingSearch(shopper.query, filters), to=None))["offer_ranking"]


def _rank(voice: Voice, shopper: Shopper, offers: Sequence[dict[str, Any]]) -> list[str]:
    """A buyer's session, second half: its ranking, put on record before anybody buys."""
    ranking = _ranked(shopper, offers)
    accepted(voice.say(RecordSubmit(ranked=tuple(ranking), chosen=ranking[0]), to=None))
    return ranking


def _ranked(shopper: Shopper, offers: Sequence[dict[str, Any]]) -> list[str]:
    """The listings offered that are worth their price, greatest surplus first, then by key."""
    surplus = {offer["listing"]: shopper.worth[offer["listing"]] - offer["price"] for offer in offers}
    return sorted((key for key in surplus if surplus[key] >= 0), key=lambda key: (-surplus[key], key))


def _is_two(market: Market) -> bool:
    return [len(offers) for offers in market.offers.values()] == [2] * len(SHOPPERS)


def _isolation(run: Found) -> tuple[bool, str]:
    """Whether each private row that a party was shown names it as buyer or merchant; and how many were."""
    shown = [(deed, row) for deed in run.deeds for row in _own_rows(run.state, deed)]
    foreign = [row for deed, row in shown if deed.message.sender not in row]
    return not foreign, f"{len(shown)} private rows shown, {len(foreign)} of them others'"


def _own_rows(state: State, deed: Deed) -> list[tuple[str | None, str | None]]:
    """The buyer and the merchant of each private row that a decision read; a payment's are its order's."""
    read = [(table, key) for table, key in deed.decision.reads if table not in ("listing", "inventory")]
    rows = [state.get(table, key) for table, key in read]
    rows = [row if hasattr(row, "buyer") else state.get("order", row.order) for row in rows]
    return [(row.buyer, getattr(row, "merchant", None)) for row in rows]


def _welfare(sold: Mapping[str, str], offers: Mapping[str, Sequence[dict[str, Any]]]) -> dict[str, Any]:
    """Welfare of what was sold, of the best of all pairs, and of the best of the pairs that were offered."""
    pairs = _pairs()
    listings = list(LISTINGS)
    offered = {buyer: {offer["listing"] for offer in own} for buyer, own in offers.items()}
    exposed = [
        [each if listing in offered[buyer] else 0 for listing, each in zip(listings, row, strict=True)]
        for buyer, row in zip(SHOPPERS, pairs, strict=True)
    ]
    best, best_offered = best_assignment(pairs), best_assignment(exposed)
    return {
        "welfare": worth_of(pairs, [_place(listings, sold.get(buyer)) for buyer in SHOPPERS]),
        "optimum": worth_of(pairs, best),
        "optimum_offered": worth_of(exposed, best_offered),
        "optimal": {buyer: listings[at] for buyer, at in zip(SHOPPERS, best, strict=True) if at is not None},
    }


def _place(listings: Sequence[str], listing: str | None) -> int | None:
    return None if listing is None else listings.index(listing)


def _pairs() -> list[list[int]]:
    """The welfare of each buyer with each listing."""
    cost = {seller.listing: seller.cost for seller in SELLERS.values()}
    return [[shopper.worth[listing] - cost[listing] for listing in LISTINGS] for shopper in SHOPPERS.values()]


def _sales(market: Market, sold: Mapping[str, str]) -> Table:
    refused = {each.split()[0] for each in market.refused}
    return table_of(
        ("buyer", "ranked", "bought", "price", "choice"),
        [
            (
                buyer,
                " > ".join(ranking),
                sold[buyer],
                str(
                    next(offer["price"] for offer in market.offers[buyer] if offer["listing"] == sold[buyer])
                ),
                "second, the first was gone" if buyer in refused else "first",
            )
            for buyer, ranking in market.rankings.items()
        ],
    )


def _shares(figures: Mapping[str, Any]) -> Table:
    welfare: int = figures["welfare"]
    of = {"of all 25 pairs": figures["optimum"], "of the 10 offered": figures["optimum_offered"]}
    return table_of(
        ("welfare, in cents", "reached", "optimum", "share"),
        [(name, str(welfare), str(best), per_cent(welfare, best)) for name, best in of.items()],
    )


def per_cent(part: int, whole: int) -> str:
    """A share in per cent, floored to one decimal."""
    tenths = part * 1_000 // whole
    return f"{tenths // 10}.{tenths % 10} %"
