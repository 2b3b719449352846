"""A sparse market, played: many buyers and merchants, five candidates a buyer, one trade each.

    register   start rows completed, typed and hashed; the run opened with all its parties and their keys
    query      each buyer's search, by the rules alone: index, candidates, rows, what is shown; nothing kept
    settle     each buyer searches and takes its cheapest offer, on record; then the state root and the seal
    replay     every decision made again and compared, with chain, roots and seal

Each buyer looks for a word of its own, which stands in five listings drawn at random; there is stock enough
that nobody is turned away. A run lists its parties in one record of at most 1 MiB, so beyond `MOST` buyers
the market is played in several runs over the same start rows, each with the merchants that its buyers buy
from.

Runs stay in memory. Without signatures, voices sign with zeros and a replay asks for none: nothing that was
written so is a run for anybody else. Seconds are this process's CPU time.
"""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

from ...ledger.audit import Auditor
from ...ledger.blobs import Shelf, facts_blob
from ...ledger.records import MESSAGE, Stored
from ...ledger.voice import Voice
from ...protocol.commerce.matching import OfferAcceptRanked
from ...protocol.commerce.search import ListingSearch
from ...protocol.derive import party_seed
from ...protocol.draws import Draws
from ...protocol.keys import SIGNATURE_BYTES, SigningKey, pae, signature_bytes, signature_text, verify
from ...protocol.tables import State
from ...protocol.world import Accepted, Act, latest, world_of
from ..play.recorder import Copy
from .stage import NAME, SECRET, Beginning, accepted, begin, start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ...ledger.audited import Audit
    from ...ledger.store import Draft
    from ...ledger.writer import Writer
    from ...protocol.tables import Facts
    from ...protocol.world import StartRows, World

T = TypeVar("T")

CANDIDATES: Final = 5
MOST: Final = 2_500
"""How many buyers one run takes: with as many merchants, its first record is three quarters full."""

_STOCK: Final = 1_000_000
_PRICES: Final = (500, 5_000)
_ZEROS: Final = signature_text(bytes(SIGNATURE_BYTES))


class Choice(NamedTuple):
    """The offer that a buyer takes, and how many it had."""

    listing: str
    merchant: str
    offers: int


class Market(NamedTuple):
    """Start rows, each buyer's choice, and the runs to be played."""

    facts: Facts
    choices: Mapping[str, Choice]
    beginnings: Sequence[Beginning]


class Written(NamedTuple):
    """A run as it was written: its records and notes, its nonce, and its root."""

    copy: Copy
    nonce: str
    root: str


class Watch:
    """Measures phases, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def time(self, phase: str, work: Callable[[], T]) -> T:
        """What the work gives; its CPU seconds are added to the phase's."""
        gc.collect()
        begun = time.process_time()
        result = work()
        self.seconds[phase] = self.seconds.get(phase, 0.0) + time.process_time() - begun
        return result


class Nowhere:
    """A keeper that keeps nothing: the runs stay in memory, and no disk is measured."""

    def add_run(
        self,
        run_id: str,
        records: Sequence[Draft],
        blobs: Iterable[tuple[str, Sequence[bytes]]],
        notes: Sequence[str] = (),
    ) -> int:
        """As `Keeper.add_run`."""
        del run_id, records, blobs, notes
        return 1

    def append(self, run: int, seq: int, records: Sequence[Draft], notes: Sequence[str] = ()) -> None:
        """As `Keeper.append`."""

    def refuse_known(self, run_id: str) -> None:
        """As `Keeper.refuse_known`."""

    def signed(self, run: int, seq: int) -> tuple[bytes, str | None]:
        """As `Keeper.signed`; nothing is asked for twice here."""
        raise AssertionError((run, seq))


class Unsigned(Voice):
    """A voice whose signatures mean nothing."""

    def _signature(self, body: bytes) -> str:
        del body
        return _ZEROS


def market_rows(size: int, seed: str) -> StartRows:
    """A listing and its stock for each merchant; the word of each buyer stands in five of them."""
    draws = Draws(seed, "listings")
    words: list[list[str]] = [[] for _ in range(size)]
    for buyer in range(size):
        named: dict[int, None] = {}
        while len(named) < min(CANDIDATES, size):
            named[draws.integer(0, size - 1)] = None
        for listing in named:
            words[listing].append(_word(buyer))
    prices = Draws(seed, "prices")
    return {
        "listing": {
            f"l{at:05}": {
                "merchant": f"m{at:05}",
                "title": f"Article {at}",
                "description": " ".join(words[at]),
                "price": prices.integer(*_PRICES),
            }
            for at in range(size)
        },
        "inventory": {f"l{at:05}": {"on_hand": _STOCK} for at in range(size)},
    }


def registered(size: int, seed: str, rows: StartRows, watch: Watch) -> Market:
    """The market, its runs yet to be played; register and query are measured."""
    world = world_of(latest("commerce"))
    facts = watch.time("register", lambda: start(world, rows))
    blob = watch.time("register", lambda: facts_blob(facts))
    choices = watch.time("query", lambda: _choices(world, facts, size))
    beginnings = [Beginning(latest("commerce"), facts, blob, each, seed) for each in _parties(choices, size)]
    return Market(facts, choices, beginnings)


def written(market: Market, watch: Watch, voices: type[Voice], prefix: str = "") -> list[Written]:
    """The runs, played by such voices; opening them is measured as register, the rest as settle."""
    return [_written(what, watch, voices, prefix) for what in market.beginnings]


def _written(what: Beginning, watch: Watch, voices: type[Voice], prefix: str) -> Written:
    copy = Copy(Nowhere())

    def opening() -> tuple[Writer, dict[str, Voice]]:
        writer = begin(copy, what, name=NAME, group=None)
        nonce = writer.opened.nonce
        buyers = [party for party, role in what.parties.items() if role == "buyer"]
        return writer, {buyer: voices(writer, buyer, party_seed(SECRET, nonce, buyer)) for buyer in buyers}

    writer, speaking = watch.time(f"{prefix}register", opening)

    def trading() -> str:
        _trade(speaking)
        return writer.seal("completed")

    return Written(copy, writer.opened.nonce, watch.time(f"{prefix}settle", trading))


def audited(market: Market, runs: Sequence[Written], *, signatures: bool) -> list[Audit]:
    """The audit of each run, from its bytes."""
    blob = market.beginnings[0].blob
    shelf = Shelf({blob.digest: blob}.get)
    return [_audit(run, shelf, signatures=signatures) for run in runs]


def signed_alone(market: Market, runs: Sequence[Written], watch: Watch) -> None:
    """Signs every message of the runs again and verifies it: what signatures cost at least."""
    said = [each for run in runs for each in _said(run)]
    assert len(said) == 2 * len(market.choices)
    signatures = watch.time("sign_alone", lambda: [key.sign(data) for key, data, _signature in said])
    verified = watch.time(
        "verify_alone", lambda: [verify(key.public, signature, data) for key, data, signature in said]
    )
    assert all(verified)
    assert signatures == [signature for _key, _data, signature in said]


def _word(buyer: int) -> str:
    return f"w{buyer}"


def _choices(world: World, facts: Facts, size: int) -> dict[str, Choice]:
    """What the market offers each buyer, by its rules alone, and which of it the buyer takes."""
    state, chosen = State(facts), dict[str, Choice]()
    for at in range(size):
        buyer = f"b{at:05}"
        act = Act(ListingSearch(_word(at)), buyer, "buyer", 1)
        verdict = world.decide(state, act)
        assert isinstance(verdict, Accepted)
        for event in verdict.events:
            world.evolve(state, event)
        shown = world.show(state, act, verdict.events)
        assert shown is not None
        offers: list[dict[str, Any]] = cast("dict[str, Any]", shown.value)["offer_ranking"]
        best = _best(offers)
        chosen[buyer] = Choice(best["listing"], best["merchant"], len(offers))
        state.discard()
    return chosen


def _best(offers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The cheapest offer; of those the first by the listing's key."""
    return min(offers, key=lambda offer: (offer["price"], offer["listing"]))


def _parties(choices: Mapping[str, Choice], size: int) -> Iterator[dict[str, str]]:
    """The parties of each run: everybody, or a part of the buyers with the merchants that they buy from."""
    buyers = list(choices)
    if size <= MOST:
        merchants = [f"m{at:05}" for at in range(size)]
        yield {**dict.fromkeys(buyers, "buyer"), **dict.fromkeys(merchants, "merchant")}
        return
    for first in range(0, size, MOST):
        own = buyers[first : first + MOST]
        merchants = sorted({choices[buyer].merchant for buyer in own})
        yield {**dict.fromkeys(own, "buyer"), **dict.fromkeys(merchants, "merchant")}


def _trade(speaking: Mapping[str, Voice]) -> None:
    for buyer, voice in speaking.items():
        shown = accepted(voice.say(ListingSearch(_word(int(buyer[1:]))), to=None))
        best = _best(shown["offer_ranking"])
        accepted(voice.say(OfferAcceptRanked(best["id"]), to=best["merchant"]))


def _audit(run: Written, shelf: Shelf, *, signatures: bool) -> Audit:
    auditor = Auditor(shelf, signatures=signatures)
    for seq, draft in enumerate(run.copy.records):
        auditor.record(Stored(seq, draft.kind, draft.body, draft.sig, None, tuple(draft.parts)))
    return auditor.finish(run.copy.notes)


def _said(run: Written) -> Iterator[tuple[SigningKey, bytes, bytes]]:
    """Each message's key, the bytes that its signature covers, and its signature."""
    for draft in run.copy.records:
        if draft.kind == "message" and draft.sig is not None:
            sender = MESSAGE.decode(draft.body).sender
            key = SigningKey.from_seed(party_seed(SECRET, run.nonce, sender))
            yield key, pae("message", draft.body), signature_bytes(draft.sig)
