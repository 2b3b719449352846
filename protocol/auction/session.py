"""A session: its parameters, and the rounds and groups in which it is played.

    session ─► round 1 ─► round 2 ─► …              the operator opens each (`round.open`)
               auction a1_1, a1_2, …                one for each group of a round

    matching   single     groups as listed, values that nobody is told the outcome of: each round stands alone
               fixed      the same groups in every round
               rematched  groups drawn anew for each round

Values are stated in `induced`, or drawn when a round opens, from `session.seed`;
what was drawn is in the event `round.opened`, so a reader needs no generator.

Not here: how an auction is played (a family each), what it comes to (`results`).

Source: "Measuring AI agents in simulated auctions" (run setup, the loop); the auctions page of the design.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Literal

import msgspec

from ..draws import Draws
from ..joined import Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal
from . import valuations
from .terms import OPERATOR, Amount, AuctionAction, AuctionEvent, AuctionRow, Count, Party, Round
from .valuations import Valuation

SESSION = "s"
"""The key of the only row of `session`."""

Format = Literal[
    "first_price",
    "second_price",
    "all_pay",
    "uniform_price",
    "discriminatory",
    "posted_price",
    "english_open",
    "english_closed",
    "dutch",
    "proxy",
    "double",
]


ASCENDING = frozenset({"english_open", "english_closed"})
DRAWN_ORDER = frozenset({"dutch", "posted_price"})
"""Formats in which bidders are asked in an order that is drawn for each round."""
MULTI_UNIT = frozenset({"uniform_price", "discriminatory", "posted_price"})


class Session(AuctionRow, frozen=True):
    """The only row of `session`: the rules of every round.

    ``values`` says where values come from: `stated` in rows of `induced`;
    `private`, each drawn from `low` to `high`; `common`, one drawn from `low` to
    `high` for all of a group, each of whom sees a signal within `error` of it.
    A bid or quote is a multiple of `unit` from `reserve` to `cap`; an ascending
    clock begins at the reserve. ``feedback`` says what bidders are shown of the
    round before. Bidders of a double auction buy, except `sellers`.
    """

    format: Format
    bidders: Annotated[tuple[Party, ...], msgspec.Meta(min_length=1, max_length=100)]
    rounds: Round = 1
    group: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0  # bidders of an auction; 0: all of them
    matching: Literal["single", "fixed", "rematched"] = "single"
    feedback: Literal["none", "own", "price", "bids"] = "own"
    values: Literal["stated", "private", "common"] = "private"
    low: Amount = 0
    high: Amount = 10_000
    error: Amount = 0
    units: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1
    reserve: Amount = 0
    cap: Amount = 1_000_000
    unit: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 1
    price: Amount = 0  # posted; where a clock begins
    increment: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 100  # of a clock; over the second maximum
    periods: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 5  # of a proxy auction
    close: Literal["hard", "soft"] = "hard"
    extension: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1  # periods that a late bid adds, at a soft close
    extensions: Annotated[int, msgspec.Meta(ge=0, le=100)] = 10  # how often it does
    sellers: tuple[Party, ...] = ()  # of a double auction
    steps: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 2_000  # of a round of a double auction
    drawn: Literal["trader", "side"] = "trader"  # whose step it is, or of which side first
    improves: bool = True  # a quote must be better than the standing one
    clears: bool = True  # both sides of the book are empty after a trade
    at: Literal["standing", "middle"] = "standing"  # the price of a trade
    news: tuple[str, ...] = ()  # one for each round, "" for none
    seed: Count = 0


class Auction(AuctionRow, frozen=True):
    """A row of `auction`: one group's auction in one round.

    ``bidders`` are in the order in which they are asked, ``active`` those of
    them still in it, and ``turn`` the place among these of who is next; ``price`` is the clock's.
    """

    round: Round
    bidders: tuple[Party, ...]
    state: Literal["open", "closed"] = "open"
    turn: Count = 0
    price: Amount = 0
    active: tuple[Party, ...] = ()


class Played(AuctionRow, frozen=True):
    """The only row of `played`: how many rounds were opened, and the keys of the auctions of the last."""

    rounds: Count
    auctions: tuple[str, ...]


class RoundOpen(AuctionAction, frozen=True, tag="round.open"):
    """Opens the next round: groups, values, and a clock where it begins."""


class RoundOpened(AuctionEvent, frozen=True, tag="round.opened"):
    """A round was opened: who bids in which auction, values, and the signals that differ from them."""

    round: Round
    groups: tuple[tuple[Party, ...], ...]
    values: dict[Party, int]
    signals: dict[Party, int]


def session_of(state: State) -> Session:
    """The session's parameters."""
    found: Session = state.get("session", SESSION)
    return found


def played(state: State) -> Played:
    """How far the session is."""
    found: Played | None = state.get("played", SESSION)
    return _NOT_BEGUN if found is None else found


def first_open(state: State) -> tuple[str, Auction] | None:
    """The first auction of the round that is open."""
    for key in played(state).auctions:
        row: Auction = state.get("auction", key)
        if row.state == "open":
            return key, row
    return None


def worth_of(state: State, party: str) -> Valuation | None:
    """What a party was given in the round that was opened last."""
    found: Played | None = state.get("played", SESSION)
    return None if found is None else state.get("valuation", valuations.key(found.rounds, party))


def auction_of(state: State, party: str) -> tuple[str, Auction] | None:
    """The open auction in which a party bids."""
    worth = worth_of(state, party)
    if worth is None:
        return None
    row: Auction = state.get("auction", worth.auction)
    return (worth.auction, row) if row.state == "open" else None


Turn = tuple[Session, str, Auction]
"""The session's parameters, and an auction with its key; a plain tuple, since each move makes one."""


def turn_of(
    state: State, party: str, formats: Collection[str], noun: str, gone: str = "twice"
) -> Turn | Refusal:
    """The auction in which it is a party's turn, or why it isn't.

    Refusals in order: `format`, `closed`, ``gone`` (the party is active no more), `twice`, `turn`.
    """
    session = session_of(state)
    if session.format not in formats:
        return Refusal(f"{noun}.format", {"format": session.format})
    found = auction_of(state, party)
    if found is None:
        return Refusal(f"{noun}.closed", {})
    key, auction = found
    active, turn = auction.active, auction.turn
    if turn < len(active) and active[turn] == party:
        return session, key, auction
    rule = gone if party not in active else "twice" if party in active[:turn] else "turn"
    return Refusal(f"{noun}.{rule}", {"auction": key})


def lots(session: Session, key: str, bidders: Iterable[Party]) -> list[Party]:
    """The bidders of an auction in the order by which ties go: drawn, the same whatever the format."""
    return Draws(valuations.seed_text(session.seed), f"tie/{key}").shuffle(sorted(bidders))


def first_of(session: Session, key: str, auction: Auction, tied: Collection[Party]) -> Party:
    """The one to whom a tie goes."""
    return next(party for party in lots(session, key, auction.bidders) if party in tied)


def groups_of(session: Session, number: int) -> tuple[tuple[Party, ...], ...]:
    """Who bids with whom in a round, in the order in which they are asked."""
    size, seed = session.group or len(session.bidders), valuations.seed_text(session.seed)
    order: Sequence[Party] = session.bidders
    if session.matching == "rematched":
        order = Draws(seed, f"group/{number}").shuffle(session.bidders)
    groups = [tuple(order[at : at + size]) for at in range(0, len(order), size)]
    if session.format not in DRAWN_ORDER:
        return tuple(groups)
    return tuple(
        tuple(Draws(seed, f"order/{number}/{place}").shuffle(group)) for place, group in enumerate(groups, 1)
    )


def problem(session: Session) -> str | None:
    """What the parameters say against each other, or None."""
    size = session.group or len(session.bidders)
    kind = session.format
    for text, is_wrong in (
        ("a bidder twice", len(set(session.bidders)) < len(session.bidders)),
        ("bidders that fill no whole groups", len(session.bidders) % size != 0),
        ("values of which the lowest is above the highest", session.low > session.high),
        ("a reserve over the cap", session.reserve > session.cap),
        ("an error where values aren't common", session.error > 0 and session.values != "common"),
        ("more than one unit where one is sold", session.units > 1 and kind not in MULTI_UNIT),
        ("as many units as bidders, or more", session.units > 1 and session.units >= size),
        ("a price over the cap", session.price > session.cap),
        ("a reserve where the clock doesn't begin", kind in ASCENDING and session.reserve != session.price),
        ("a price below the reserve", kind in ("dutch", "posted_price") and session.price < session.reserve),
        ("a seller twice", len(set(session.sellers)) < len(session.sellers)),
        ("sellers who don't bid", not set(session.sellers) <= set(session.bidders)),
        ("sellers where nobody but the house sells", kind != "double" and session.sellers != ()),
        ("a double auction of one side", kind == "double" and not _is_two_sided(session)),
        ("a double auction in groups", kind == "double" and size != len(session.bidders)),
    ):
        if is_wrong:
            return text
    return None


def _is_two_sided(session: Session) -> bool:
    return 0 < len(session.sellers) < len(session.bidders)


_NOT_BEGUN = Played(rounds=0, auctions=())


def _opening(state: State, act: Act) -> Verdict:
    """Whether the next round may be opened; its values are those stated, or drawn now."""
    session, before = session_of(state), played(state)
    if first_open(state) is not None:
        return Refusal("round.running", {"round": before.rounds})
    if before.rounds == session.rounds:
        return Refusal("round.last", {"round": before.rounds})
    del act
    number = before.rounds + 1
    groups = groups_of(session, number)
    given = [valuations.given(state, session, number, place, group) for place, group in enumerate(groups, 1)]
    values = {party: each.value for found in given for party, each in found.items()}
    signals = {
        party: each.signal for found in given for party, each in found.items() if each.signal != each.value
    }
    return Accepted([RoundOpened(round=number, groups=groups, values=values, signals=signals)])


def _opened(state: State, event: RoundOpened) -> None:
    session = session_of(state)
    keys = tuple(f"a{event.round}_{place}" for place in range(1, len(event.groups) + 1))
    for key, group in zip(keys, event.groups, strict=True):
        state.put("auction", key, Auction(event.round, group, price=session.price, active=group))
        for party in group:
            value = event.values[party]
            row = Valuation(event.round, key, party, value, event.signals.get(party, value))
            state.put("valuation", valuations.key(event.round, party), row)
    state.put("played", SESSION, Played(rounds=event.round, auctions=keys))


SUBJECT = Subject(
    rows={"session": Session, "auction": Auction, "played": Played},
    rules=(
        Rule(
            RoundOpen,
            _opening,
            checks=("round.running", "round.last"),
            roles=OPERATOR,
            is_unaddressed=True,
        ),
    ),
    events={RoundOpened: _opened},
    refusals={
        "round.running": "an auction of the round before is still open",
        "round.last": "there is no further round",
    },
)
