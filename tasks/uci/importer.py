"""The ledger played through the market: every line is posted, or named with the reason why not.

    sale           cart.request_quote, cart.checkout    a day's buyer, one order for ≤ 100 lines of an invoice
    cancellation   order.cancel                         of all that an order of the same period bought
                   refund.open, refund.approve          of a part of it, or of an earlier period's
                   ledger.adjust                        where no sale is known, or less is left of it
    adjustment     ledger.adjust
    stock          supply.update                        units gone without a sale
    day            clock.advance
    broken         agent.unparsed                       refused, so that the record holds it too

A period is a run (`periods`), kept whole or not at all. A cart has a listing once: a second line of the same
code and price is of another cart. What the market refuses is named by its rule. The same file under the same
secret gives the same runs, so an import that was stopped goes on where it was when it is made again: what is
here already is played, since later runs rest on it, and kept nowhere.

Not here: what a line says (`source`), what a run begins with (`opening`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from ...ledger.blobs import facts_blob
from ...ledger.plan import Plan, Seat
from ...ledger.writer import Writer
from ...protocol.bodies import Agent, Origin
from ...protocol.bodies import Source as OriginSource
from ...protocol.commerce.adjustments import LedgerAdjust
from ...protocol.commerce.books import account_of
from ...protocol.commerce.cancellations import OrderCancel
from ...protocol.commerce.carts import CartRequestQuote
from ...protocol.commerce.checkout import CartCheckout
from ...protocol.commerce.clock import ClockAdvance
from ...protocol.commerce.pricing import Units
from ...protocol.commerce.quoting import MAX_LINES
from ...protocol.commerce.refunds import RefundApprove, RefundDeny, RefundOpen
from ...protocol.commerce.supply import SupplyUpdate
from ...protocol.commerce.talk import AgentUnparsed
from ...protocol.draws import seed_of
from ...protocol.errors import LedgerError
from .opening import BOOKKEEPER, CURRENCY, SHOP, WORLD, buyer_of, listing_of, opening
from .periods import dealt, survey
from .sold import Bought, Sales, Sold, bought_by
from .source import Broken, Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    import msgspec

    from ...ledger.store import Draft, Store
    from ...ledger.voice import Voice
    from ...protocol.engine import Ruling
    from ...protocol.tables import Facts
    from .periods import Survey

FORM = "uci-retail"
MAX_GROUP = 1_000
"""So many lines of an invoice are played at once at most."""


class Refused(NamedTuple):
    """A line that was not posted: its number, a stable code or the market's rule, and why in words.

    ``amount`` is what it comes to in pounds, None where it doesn't say.
    """

    number: int
    code: str
    text: str
    line: str
    amount: Decimal | None


class Sum(NamedTuple):
    """So many lines, and what they come to in pounds."""

    lines: int
    amount: Decimal


@dataclass(slots=True)
class Imported:
    """What an import gave.

    ``posted`` is by kind of line; ``ways`` counts posted lines by the act that
    posted them, ``refused`` the others by code. ``runs`` were made, ``known``
    were here before.
    """

    lines: int = 0
    runs: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    posted: dict[str, Sum] = field(default_factory=dict)
    ways: Counter[str] = field(default_factory=Counter)
    refused: dict[str, Sum] = field(default_factory=dict)

    def post(self, line: Entry, way: str) -> None:
        """Notes that a line was posted."""
        self.lines += 1
        self.ways[way] += 1
        _add(self.posted, line.kind, Decimal(line.amount).scaleb(-2))

    def refuse(self, refused: Refused) -> None:
        """Notes that a line was not posted."""
        self.lines += 1
        _add(self.refused, refused.code, refused.amount or Decimal("0.00"))


def import_ledger(  # noqa: PLR0913 - where from, where to, and as whom
    store: Store,
    secret: bytes,
    name: str,
    path: Path,
    refused: Callable[[Refused], None] = lambda _refused: None,
    found: Survey | None = None,
    step: Callable[[], None] = lambda: None,
) -> Imported:
    """Imports the file, a run for each period; `refused` is told of each line that was not posted.

    Raises:
        SourceError: as `survey`, unless that is handed over as `found`.
        LedgerError: the ledger can't be written.
    """
    found = found or survey(path)
    first = next(iter(found.periods))
    sales = Sales(found)
    imported = Imported()
    for place, (period, pairs) in enumerate(groupby(dealt(path), lambda pair: pair[0] or first)):
        items = [item for _period, item in pairs]
        lines = [item for item in items if isinstance(item, Entry)]
        sales.carry(place)
        carried = sales.due(found.periods[period])
        days = sorted({line.day for line in lines} | {due.day for due in carried})
        plan = _plan(path.name, found.digest, place, period, [buyer_of(day) for day in days])
        writer, is_known = _begin(store, secret, name, plan, opening(lines, carried))
        market = _Market(writer, sales, imported, refused)
        for group in _groups(items):
            market.play(group)
        market.close()
        (imported.known if is_known else imported.runs).append(writer.id)
        step()
    return imported


class _Nowhere:
    """Where a run is kept that is in the ledger already."""

    def add_run(
        self,
        run_id: str,
        records: Sequence[Draft],
        blobs: Iterable[tuple[str, Sequence[bytes]]],
        notes: Sequence[str] = (),
    ) -> int:
        """As `Keeper.add_run`."""
        del run_id, records, blobs, notes
        return 0

    def append(self, run: int, seq: int, records: Sequence[Draft], notes: Sequence[str] = ()) -> None:
        """As `Keeper.append`."""

    def refuse_known(self, run_id: str) -> None:
        """As `Keeper.refuse_known`: none is known here."""

    def signed(self, run: int, seq: int) -> tuple[bytes, str | None]:
        """As `Keeper.signed`.

        Raises:
            LookupError: always; nobody says anything twice here.
        """
        raise LookupError(run, seq)


def _begin(store: Store, secret: bytes, name: str, plan: Plan, facts: Facts) -> tuple[Writer, bool]:
    """The writer of a run, and whether the store has it already."""
    blobs = [facts_blob(facts)]
    try:
        return Writer.begin(store, secret, name, plan, facts, blobs, group=None), False
    except LedgerError as error:
        if error.code != "run.exists":
            raise
    return Writer.begin(_Nowhere(), secret, name, plan, facts, blobs, group=None), True


def _plan(name: str, digest: str, place: int, period: str, buyers: Sequence[str]) -> Plan:
    agent = Agent(model="", name=FORM, settings={}, version="")
    roles = {SHOP: "merchant", BOOKKEEPER: "operator", **dict.fromkeys(buyers, "buyer")}
    return Plan(
        world=WORLD,
        seats=[Seat(party, role, agent) for party, role in roles.items()],
        seed=seed_of(FORM, period, 0),
        origin=Origin("imported", OriginSource(digest=digest, form=FORM, index=place, name=name)),
    )


def _groups(items: Iterable[Entry | Broken]) -> Iterator[list[Entry] | Broken]:
    """Lines of one invoice, kind and day that follow each other."""
    held: list[Entry] = []
    for item in items:
        if held and (isinstance(item, Broken) or not _is_next(held, item)):
            yield held
            held = []
        if isinstance(item, Broken):
            yield item
        else:
            held.append(item)
    if held:
        yield held


def _is_next(held: Sequence[Entry], item: Entry) -> bool:
    last = held[-1]
    is_same = (last.invoice, last.kind, last.day) == (item.invoice, item.kind, item.day)
    return is_same and len(held) < MAX_GROUP


class _Market:
    """The run of one period, and those who play it."""

    def __init__(
        self, writer: Writer, sales: Sales, imported: Imported, refused: Callable[[Refused], None]
    ) -> None:
        self._writer = writer
        self._sales = sales
        self._imported = imported
        self._refused = refused
        self._voices: dict[str, Voice] = {}
        assert writer.run.state is not None, "a writer has start rows"
        self._state = writer.run.state
        self._day: int = self._state.get("clock", "now").tick
        self._opened = self._balance()
        self._posted = 0

    def play(self, group: list[Entry] | Broken) -> None:
        """Posts lines, or names them."""
        if isinstance(group, Broken):
            self._say(BOOKKEEPER, AgentUnparsed(group.line))
            self._refuse(Refused(*group))
            return
        if group[0].day > self._day:
            self._say(BOOKKEEPER, ClockAdvance(group[0].day - self._day))
            self._day = group[0].day
        self._KINDS[group[0].kind](self, group)

    def close(self) -> None:
        """Seals the run."""
        assert self._balance() - self._opened == self._posted, "the shop's account says what was posted"
        self._writer.seal("imported")

    def _sell(self, lines: list[Entry]) -> None:
        buyer = buyer_of(lines[0].day)
        for sheet in _sheets(lines):
            units = tuple(Units(listing_of(line.sku, line.price), line.quantity) for line in sheet)
            quoted = self._say(buyer, CartRequestQuote(units), SHOP)
            if quoted.decision.rule is not None:
                self._refuse_all(sheet, quoted)
                continue
            checkout = CartCheckout(_id(quoted, "cart_quote"))
            bought = self._say(buyer, checkout, SHOP, f"{sheet[0].invoice}/{sheet[0].number}")
            if self._settled(bought, sheet, "cart.checkout") and self._sales.is_kept(sheet[0].invoice):
                self._sales.add(sheet[0].invoice, Sold(_id(bought, "order"), sheet))

    def _cancel(self, lines: list[Entry]) -> None:
        left = self._call_off(lines)
        for line in left:
            sold = next(
                (
                    sold
                    for sold in self._sales.of(line.cancels)
                    if line.sku in sold.codes and sold.left >= -line.amount
                ),
                None,
            )
            if sold is None:
                self._adjust([line])
            else:
                self._refund(line, sold)

    def _call_off(self, lines: list[Entry]) -> list[Entry]:
        """Cancels orders all of whose lines are among these; the lines that are left."""
        for invoice in dict.fromkeys(line.cancels for line in lines):
            for sold in self._sales.of(invoice):
                ours = [line for line in lines if line.cancels == invoice]
                if sold.bought is not None and sold.is_undone_by(bought_by(ours)):
                    undone = _taken(ours, sold.bought)
                    reason = OrderCancel(sold.order, f"{undone[0].invoice} cancels {invoice}")
                    self._settled(self._say(buyer_of(sold.day), reason, SHOP), undone, "order.cancel")
                    sold.left = 0
                    numbers = {line.number for line in undone}
                    lines = [line for line in lines if line.number not in numbers]
        return lines

    def _refund(self, line: Entry, sold: Sold) -> None:
        buyer = buyer_of(sold.day)
        claim = RefundOpen(sold.order, -line.amount, f"{line.invoice}: {-line.quantity} of {line.sku}")
        opened = self._say(buyer, claim, SHOP)
        if opened.decision.rule is not None:
            self._refuse_all([line], opened)
            return
        case = _id(opened, "refund_case")
        approved = self._say(SHOP, RefundApprove(case, -line.amount), buyer)
        if self._settled(approved, [line], "refund.approve"):
            sold.left += line.amount
        else:
            self._say(SHOP, RefundDeny(case, approved.decision.rule or ""), buyer)

    def _adjust(self, lines: list[Entry]) -> None:
        for line in lines:
            reason = f"{line.invoice}: {line.quantity} of {line.sku}"
            adjust = LedgerAdjust("merchant", line.amount, reason, CURRENCY)
            self._settled(self._say(BOOKKEEPER, adjust, SHOP), [line], "ledger.adjust")

    def _correct(self, lines: list[Entry]) -> None:
        for line in lines:
            listing = listing_of(line.sku, line.price)
            left: int = self._state.get("inventory", listing).available + line.quantity
            self._settled(self._say(SHOP, SupplyUpdate(listing, available=left)), [line], "supply.update")

    _KINDS = {"sale": _sell, "cancellation": _cancel, "adjustment": _adjust, "stock": _correct}  # noqa: RUF012

    def _say(
        self, party: str, action: msgspec.Struct, to: str | None = None, key: str | None = None
    ) -> Ruling:
        voice = self._voices.get(party)
        if voice is None:
            voice = self._voices[party] = self._writer.voice(party)
        return voice.say(action, to=to, key=key)

    def _settled(self, ruling: Ruling, lines: Sequence[Entry], way: str) -> bool:
        """Notes what became of the lines that an act posts; whether it did."""
        if ruling.decision.rule is not None:
            self._refuse_all(lines, ruling)
            return False
        for line in lines:
            self._imported.post(line, way)
            self._posted += line.amount
        return True

    def _refuse_all(self, lines: Sequence[Entry], ruling: Ruling) -> None:
        rule = ruling.decision.rule or ""
        for line in lines:
            text = f"{line.invoice},{line.sku},{line.quantity}"
            amount = Decimal(line.amount).scaleb(-2)
            self._refuse(Refused(line.number, rule, "the market refuses it", text, amount))

    def _refuse(self, refused: Refused) -> None:
        self._imported.refuse(refused)
        self._refused(refused)

    def _balance(self) -> int:
        account = self._state.get("account", account_of("merchant", SHOP))
        return 0 if account is None else account.balances[CURRENCY]


def _sheets(lines: Sequence[Entry]) -> list[list[Entry]]:
    """The lines dealt to carts, each in the first that has room and not its listing."""
    sheets: list[list[Entry]] = []
    held: list[set[tuple[str, int]]] = []
    for line in lines:
        listing = line.sku, line.price
        for sheet, listings in zip(sheets, held, strict=True):
            if len(sheet) < MAX_LINES and listing not in listings:
                break
        else:
            sheet, listings = list[Entry](), set[tuple[str, int]]()
            sheets.append(sheet)
            held.append(listings)
        sheet.append(line)
        listings.add(listing)
    return sheets


def _taken(lines: Sequence[Entry], bought: Bought) -> list[Entry]:
    """The first lines that together are what was bought."""
    wanted = bought.copy()
    taken: list[Entry] = []
    for line in lines:
        what = line.sku, -line.quantity, line.price
        if wanted[what] > 0:
            wanted[what] -= 1
            taken.append(line)
    return taken


def _id(ruling: Ruling, table: str) -> str:
    """The key of the row of a table that an act showed."""
    assert ruling.shown is not None, "an accepted act of this kind shows its rows"
    rows: dict[str, list[dict[str, str]]] = ruling.shown.value  # pyright: ignore[reportAssignmentType]
    return rows[table][0]["id"]


def _add(sums: dict[str, Sum], name: str, amount: Decimal) -> None:
    before = sums.get(name, Sum(0, Decimal("0.00")))
    sums[name] = Sum(before.lines + 1, before.amount + amount)
