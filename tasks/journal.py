"""The books of commerce runs as a plain-text journal, for `hledger check` or beancount's `bean-check`.

    entry    = a transaction; its postings sum to zero in each currency
    account  = Assets:Run-<id's beginning>:<Role>-<party>     each run's books are its own
    date     = 1970-01-01 + tick days                         a market has ticks and no calendar
    end      = an assertion of every account's balance, as the run's `account` rows say it

    buyer:anna → Buyer-anna      merchant:m.1 → Merchant-m-2e1      adjustments → Adjustments

In names a hyphen stands for itself when doubled, and before two hex digits for any other character that is
no letter or digit, so different accounts have different names. Ticks after 9999-12-30 stand on that day;
the tick itself is beside each transaction. Postings of start rows are transactions like others, marked
`opening`. Amounts are in the currency's own unit, by the decimal places of ISO 4217.

One text can't serve both programs: the one needs `open` directives and a `balance`, which the other doesn't
know. Not here: whether the run is good (`tollbook verify`).

Source: hledger manual 1.25, "Journal format"; Beancount, "Language Syntax"; ISO 4217:2015 table A.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from ..protocol.errors import LedgerError
from .dates import LAST_DAY, date_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..ledger.run import Run
    from ..protocol.commerce.books import Account, Posting
    from ..protocol.tables import State

Dialect = Literal["hledger", "beancount"]

_NO_PLACES = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
_THREE_PLACES = "BHD IQD JOD KWD LYD OMR TND"
_PLACES = {**dict.fromkeys(_NO_PLACES.split(), 0), **dict.fromkeys(_THREE_PLACES.split(), 3)}
_NAMED = ("buyer", "merchant")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_MARKS = _PLAIN | frozenset("._/@+-#")
_SHOWN = 12


class Entry(NamedTuple):
    """One entry of a run's books; ``made_for`` is an order, or what else it is."""

    key: str
    tick: int
    made_for: str
    payment: str | None
    postings: Sequence[Posting]


class Book(NamedTuple):
    """The books of one run: its entries, oldest first, and what each account holds by currency."""

    run: str
    entries: Sequence[Entry]
    balances: Mapping[str, Mapping[str, int]]


def book_of(run: Run) -> Book:
    """The books of a replayed run.

    Raises:
        LedgerError: `run.rules`, its rules or start rows aren't here;
            `journal.world`, its market keeps no books.
    """
    state = run.state
    if state is None or run.world is None:
        what = f"run `{run.id[:_SHOWN]}` can't be replayed: its start rows or its rules are missing"
        raise LedgerError("run.rules", what, "see what is missing: `tollbook verify`")
    if not {"posting", "account"} <= set(run.world.tables):
        what = f"run `{run.id[:_SHOWN]}` is of the market `{run.world.name}`, which keeps no books"
        raise LedgerError("journal.world", what, "name runs of the market `commerce`: see `tollbook ls`")
    accounts: Iterator[tuple[str, Account]] = state.rows("account")
    return Book(run.id, _entries(state), {name: account.balances for name, account in accounts})


def journal(dialect: Dialect, books: Iterable[Book]) -> Iterator[bytes]:
    """The lines of the journal, run by run."""
    text = _Hledger() if dialect == "hledger" else _Beancount()
    yield b"; books of a Tollbook ledger: tick 0 is 1970-01-01, and each tick a day\n"
    for book in books:
        yield f"\n; run {book.run}\n".encode()
        for line in text.book(book):
            yield f"{line}\n".encode()


def account_name(run: str, account: str) -> str:
    """The name of a run's account, by the rules of both programs."""
    role, colon, party = account.partition(":")
    if colon and role in _NAMED:
        last = f"{role.capitalize()}-{_escaped(party)}"
    elif account.isalpha() and account.islower():
        last = account.capitalize()
    else:
        last = f"Account-{_escaped(account)}"
    return f"Assets:Run-{run[:_SHOWN]}:{last}"


def amount_text(minor: int, currency: str) -> str:
    """An amount in minor units, as `-12.50 EUR`."""
    places = _PLACES.get(currency, 2)
    whole, part = divmod(abs(minor), 10**places)
    tail = f".{part:0{places}}" if places else ""
    return f"{'-' if minor < 0 else ''}{whole}{tail} {currency}"


def tick_date(tick: int) -> str:
    """The date that stands for a tick; a day is left after the last, for what is said of the end."""
    return date_of(min(tick, LAST_DAY - 1))


def _entries(state: State) -> list[Entry]:
    """The entries in the order of ticks, then of the records that made them."""
    found: dict[str, list[tuple[str, Posting]]] = {}
    posting: Posting
    for key, posting in state.rows("posting"):
        found.setdefault(posting.entry, []).append((key, posting))
    start = state.facts.tables["posting"].rows
    entries = [
        Entry(
            key=entry,
            tick=max(posting.tick for _key, posting in rows),
            made_for=_purpose(rows[0][1], is_start=rows[0][0] in start),
            payment=rows[0][1].payment,
            postings=[posting for _key, posting in rows],
        )
        for entry, rows in found.items()
    ]
    return sorted(entries, key=lambda entry: (entry.tick, len(entry.key), entry.key))


def _purpose(posting: Posting, *, is_start: bool) -> str:
    what = "adjustment" if posting.order is None else f"order {_word(posting.order)}"
    return f"{what}, opening" if is_start else what


def _escaped(text: str) -> str:
    return "".join(
        letter if letter in _PLAIN else "--" if letter == "-" else f"-{ord(letter):02x}" for letter in text
    )


def _word(text: str) -> str:
    """An id without what means something in either text: quotes, colons, semicolons and the like."""
    return "".join(letter if letter in _MARKS else f"%{ord(letter):02x}" for letter in text)


def _currencies(book: Book) -> list[str]:
    return sorted({currency for held in book.balances.values() for currency in held})


def _last_tick(book: Book) -> int:
    return book.entries[-1].tick if book.entries else 0


class _Hledger:
    """Assertions stand in a last transaction of nothing, on the day of the last entry."""

    def __init__(self) -> None:
        self._declared: set[str] = set()

    def book(self, book: Book) -> Iterator[str]:
        for currency in _currencies(book):
            if currency not in self._declared:
                self._declared.add(currency)
                places = _PLACES.get(currency, 2)
                yield f"commodity 1000.{'0' * places} {currency}"
        for account in sorted(book.balances):
            yield f"account {account_name(book.run, account)}"
        for entry in book.entries:
            yield from self._entry(book.run, entry)
        if book.balances:
            yield ""
            yield f"{tick_date(_last_tick(book))} * balances"
        for account, held in sorted(book.balances.items()):
            for currency, balance in sorted(held.items()):
                nothing, all_of_it = amount_text(0, currency), amount_text(balance, currency)
                yield f"    {account_name(book.run, account)}  {nothing} = {all_of_it}"

    def _entry(self, run: str, entry: Entry) -> Iterator[str]:
        payment = "" if entry.payment is None else f", payment: {_word(entry.payment)}"
        yield ""
        yield f"{tick_date(entry.tick)} * {_word(entry.key)} | {entry.made_for}"
        yield f"    ; tick: {entry.tick}{payment}"
        for posting in entry.postings:
            amount = amount_text(posting.amount, posting.currency)
            yield f"    {account_name(run, posting.account)}  {amount}"


class _Beancount:
    """Balances are as of a day's beginning, so they stand on the day after; nothing is tolerated."""

    def book(self, book: Book) -> Iterator[str]:
        for account in sorted(book.balances):
            yield f"{date_of(0)} open {account_name(book.run, account)}"
        for entry in book.entries:
            yield from self._entry(book.run, entry)
        end = date_of(min(_last_tick(book), LAST_DAY - 1) + 1)
        if book.balances:
            yield ""
        for account, held in sorted(book.balances.items()):
            for currency, balance in sorted(held.items()):
                amount, _, unit = amount_text(balance, currency).partition(" ")
                yield f"{end} balance {account_name(book.run, account)}  {amount} ~ 0 {unit}"

    def _entry(self, run: str, entry: Entry) -> Iterator[str]:
        yield ""
        yield f'{tick_date(entry.tick)} * "{_word(entry.key)}" "{entry.made_for}"'
        yield f"  tick: {entry.tick}"
        if entry.payment is not None:
            yield f'  payment: "{_word(entry.payment)}"'
        for posting in entry.postings:
            amount = amount_text(posting.amount, posting.currency)
            yield f"  {account_name(run, posting.account)}  {amount}"
