"""Persistence: one order over three episodes, the ledger closed between them.

    pay ─ closed ─► fulfil ─ closed ─► return and refund ─► sealed

It is one run: who goes on with it judges every record again (`Writer.resume`) and has to come to the state
that was left. Played in one go, without closing, the same acts give the same run, to the byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...ledger.writer import Writer
from ...protocol.commerce.fulfilment import OrderDispatch
from ...protocol.commerce.matching import OfferAcceptRanked
from ...protocol.commerce.refunds import RefundApprove, RefundOpen
from ...protocol.commerce.returns import ReturnAuthorize, ReturnReceive, ReturnRequest
from ...protocol.commerce.search import ListingSearch
from ...protocol.commerce.shipments import ShipmentScan
from .report import Claim, Report, replay_claims, table_of
from .stage import NAME, SECRET, accepted, begin, beginning, found, ledger_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ...protocol.tables import State
    from ...protocol.world import StartRows
    from .stage import Beginning

BUYER: Final = "b1"
MERCHANT: Final = "m1"
OPERATOR: Final = "op"
_PARTIES: Final = {BUYER: "buyer", MERCHANT: "merchant", OPERATOR: "operator"}
_ROWS: Final[StartRows] = {
    "listing": {"l1": {"merchant": MERCHANT, "title": "Enamel kettle, 1.5 l", "price": 3_900}},
    "inventory": {"l1": {"on_hand": 4}},
    "policy": {"returns": {"accepted_conditions": ["unopened"], "restocked_conditions": ["unopened"]}},
}


class Episode(NamedTuple):
    """One episode as it was left: its last record, the state then, and where the order stood."""

    episode: str
    acts: int
    records: int
    state: str
    resumed_state: str | None
    """The state to which the records before it were judged again; none for the first."""
    order: str
    payment: str


class _Order(NamedTuple):
    """What later acts name."""

    order: str
    price: int
    shipment: str = ""


def study(folder: Path) -> Report:
    """Plays it, in ledgers below the folder."""
    what = beginning("persistence", _ROWS, _PARTIES)
    episodes = _in_episodes(folder / "persistence.db", what)
    with ledger_at(folder / "persistence.db") as store:
        played, state, _deeds = found(store, 1)
    again = [_in_one_go(folder / "again.db", what)]
    resumed = [each for each in episodes if each.resumed_state is not None]
    kept = sum(before.state == after.resumed_state for before, after in zip(episodes, resumed, strict=False))
    balances = {key: account.balances["EUR"] for key, account in state.rows("account")}
    stock = state.get("inventory", "l1")
    return Report(
        study="persistence",
        title="Persistence: one order over three episodes",
        claims=(
            Claim(
                "each episode goes on in the state that was left",
                kept == len(resumed),
                f"{kept} of {len(resumed)}",
            ),
            Claim(
                "the order was paid, fulfilled, returned and refunded", _is_done(episodes), _moves(episodes)
            ),
            Claim("no money is left over", not any(balances.values()), f"{len(balances)} accounts at 0"),
            Claim(
                "what was sent back is on sale again", stock.available == 4, f"{stock.available} of 4 units"
            ),
            *replay_claims([played], again),
        ),
        runs=[played],
        figures={"episodes": [each._asdict() for each in episodes], "balances": balances},
        tables=[
            table_of(
                ("episode", "acts", "records", "state left", "resumed in", "order", "payment"),
                [
                    (
                        each.episode,
                        str(each.acts),
                        str(each.records),
                        each.state[:12],
                        (each.resumed_state or "–")[:12],
                        each.order,
                        each.payment,
                    )
                    for each in episodes
                ],
            )
        ],
        notes=("Played again means: in one go, without closing the ledger between the episodes.",),
    )


def _in_episodes(path: Path, what: Beginning) -> list[Episode]:
    """The run, its ledger closed after each episode and opened for the next."""
    episodes: list[Episode] = []
    order: _Order | None = None
    for name, play in EPISODES:
        with ledger_at(path) as store:
            writer = Writer.resume(store, SECRET, 1) if episodes else begin(store, what, name=NAME)
            resumed = _state(writer).root() if episodes else None
            said = _said(writer)
            order = play(writer, order)
            if len(episodes) == len(EPISODES) - 1:
                writer.seal("completed")
            else:
                writer.flush()
            state = _state(writer)
            stands = state.get("order", order.order)
            payment = state.get("payment", stands.payments[0])
            episodes.append(
                Episode(
                    name,
                    _said(writer) - said,
                    writer.run.size,
                    state.root(),
                    resumed,
                    stands.state,
                    payment.state,
                )
            )
    return episodes


def _in_one_go(path: Path, what: Beginning) -> str:
    """The root of the same run, played without closing its ledger."""
    with ledger_at(path) as store:
        writer = begin(store, what, name=NAME)
        order: _Order | None = None
        for _name, play in EPISODES:
            order = play(writer, order)
        return writer.seal("completed")


def _state(writer: Writer) -> State:
    assert writer.run.state is not None
    return writer.run.state


def _said(writer: Writer) -> int:
    return sum(member.n for member in writer.run.members.values())


def _pay(writer: Writer, _order: _Order | None) -> _Order:
    shown = accepted(writer.voice(BUYER).say(ListingSearch(query="kettle"), to=None))
    offer = shown["offer_ranking"][0]
    bought = accepted(writer.voice(BUYER).say(OfferAcceptRanked(offer["id"]), to=MERCHANT, key="pay"))[
        "order"
    ][0]
    return _Order(bought["id"], bought["total"])


def _fulfil(writer: Writer, order: _Order | None) -> _Order:
    assert order is not None
    sent = accepted(writer.voice(MERCHANT).say(OrderDispatch(order.order), to=BUYER))["shipment"][0]
    writer.voice(OPERATOR).say(ShipmentScan(sent["id"], "delivered"), to=BUYER)
    return order._replace(shipment=sent["id"])


def _give_back(writer: Writer, order: _Order | None) -> _Order:
    assert order is not None
    asked = ReturnRequest(order.order, "l1", 1, "unopened", "It does not fit the hob.")
    back: Any = accepted(writer.voice(BUYER).say(asked, to=MERCHANT))["return"][0]
    accepted(writer.voice(MERCHANT).say(ReturnAuthorize(back["id"]), to=BUYER))
    accepted(writer.voice(MERCHANT).say(ReturnReceive(back["id"], "unopened", 1), to=BUYER))
    claim = RefundOpen(order.order, order.price, "It came back unopened.")
    case = accepted(writer.voice(BUYER).say(claim, to=MERCHANT))["refund_case"][0]
    accepted(writer.voice(MERCHANT).say(RefundApprove(case["id"], order.price), to=BUYER))
    return order


EPISODES: Final[Sequence[tuple[str, Callable[[Writer, _Order | None], _Order]]]] = (
    ("pay", _pay),
    ("fulfil", _fulfil),
    ("return and refund", _give_back),
)


def _is_done(episodes: Sequence[Episode]) -> bool:
    return [each.order for each in episodes] == ["settled", "delivered", "refunded"]


def _moves(episodes: Sequence[Episode]) -> str:
    return ", then ".join(each.order for each in episodes)
