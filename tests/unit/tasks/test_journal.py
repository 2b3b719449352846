"""Books as a journal: our own reading of it, and what hledger and bean-check say of it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from uci_ledger import INVOICES, play

from tollbook.ledger.plan import Plan, Seat, opened_by
from tollbook.ledger.run import Run
from tollbook.protocol.bodies import Agent, Origin, WorldRef
from tollbook.protocol.canonical import encode
from tollbook.protocol.errors import LedgerError
from tollbook.protocol.tables import Facts
from tollbook.protocol.world import StartRows, World, world_of
from tollbook.tasks.journal import Dialect, account_name, amount_text, book_of, journal, tick_date

DIALECTS: tuple[Dialect, ...] = ("hledger", "beancount")
COMMERCE = WorldRef(name="commerce", params={}, version=0)
RUN = "0123456789abcdef" * 4
PLACES = {"JPY": 0, "KWD": 3}

_ORDER = {"buyer": "anna", "merchant": "M.1", "state": "settled"}

ROWS: StartRows = {
    "order": {
        'o";1\\': {"buyer": "b:1", "merchant": "M.1", "state": "settled", "total": 2_000},
        "date:2011-99-99": {**_ORDER, "total": 7, "currency": "JPY"},
        "free": {**_ORDER, "total": 0, "currency": "KWD"},
    },
    "payment": {
        "p;1": {"order": 'o";1\\', "captured": 2_000, "refunded": 500},
        "p2": {"order": "date:2011-99-99", "captured": 7, "currency": "JPY"},
    },
    "posting": {
        f"x{place}": {
            "order": None, "payment": None, "entry": f"x{place // 2}", "account": account,
            "amount": amount, "currency": "KWD", "tick": tick,
        }
        for place, (account, amount, tick) in enumerate([
            ("buyer:a-b", 1_234_567, 40), ("adjustments", -1_234_567, 40),
            ("buyer:a_b", 1, 2**31 - 1), ("a b: c", -1, 2**31 - 1),
        ])
    },
}  # fmt: skip
"""Start rows with ids that mean something in a journal, and currencies of no, two and three places."""


def facts_of(rows: StartRows) -> Facts:
    world = world_of(COMMERCE)
    typed = (
        (table, key, world.read_row(table, encode(row)))
        for table, found in world.complete(rows).items()
        for key, row in found.items()
    )
    return world.facts(typed)


def run_of(facts: Facts, ref: WorldRef = COMMERCE, world: World | None = None) -> Run:
    """A run in which nothing was said."""
    seat = Seat("b1", "buyer", Agent(model="", name="x", settings={}, version=""))
    plan = Plan(ref, [seat], "0" * 64, Origin("played", None))
    run = Run(opened_by(plan, bytes(32), "x", facts.root), world, facts)
    run.link("open", encode({"seed": facts.root}), None)
    return run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Imported runs, of which the second begins with what the first left; start rows alone; and none."""
    played = play(tmp_path_factory.mktemp("journal"), INVOICES.read_bytes())
    imported = [audit.replayed for audit in played.audits if audit.replayed is not None]
    world = world_of(COMMERCE)
    return [*imported, run_of(facts_of(ROWS), world=world), run_of(facts_of({}), world=world)]


class Read(NamedTuple):
    """A journal as these tests read it: its transactions, its assertions."""

    transactions: list[list[tuple[str, int, str]]]
    asserted: dict[tuple[str, str], int]


def minor(text: str, currency: str) -> int:
    """The amount in minor units; places that are too many or too few are an error."""
    places = PLACES.get(currency, 2)
    part = rf"\.(\d{{{places}}})" if places else "()"
    found = re.fullmatch(rf"(-?)(\d+){part}", text)
    assert found is not None, text
    return int(found[1] + found[2] + found[3])


def read(text: str) -> Read:
    """Both dialects, by the lines that are of interest."""
    found = Read([], {})
    for line in text.splitlines():
        if re.match(r"\d{4}-\d\d-\d\d \* ", line):
            found.transactions.append([])
        asserted = re.fullmatch(r" +(\S+)  \S+ ([A-Z]{3}) = (\S+) \2", line)
        balance = re.fullmatch(r"\d{4}-\d\d-\d\d balance (\S+)  (\S+) ~ 0 ([A-Z]{3})", line)
        posting = re.fullmatch(r" +(Assets\S+)  (\S+) ([A-Z]{3})", line)
        if asserted:
            found.asserted[asserted[1], asserted[2]] = minor(asserted[3], asserted[2])
        elif balance:
            found.asserted[balance[1], balance[3]] = minor(balance[2], balance[3])
        elif posting:
            found.transactions[-1].append((posting[1], minor(posting[2], posting[3]), posting[3]))
    return found


def written(dialect: Dialect, runs: Sequence[Run]) -> str:
    return b"".join(journal(dialect, map(book_of, runs))).decode()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_balances_and_says_what_the_accounts_say(runs: list[Run], dialect: Dialect) -> None:
    found = read(written(dialect, runs))
    sums: Counter[tuple[str, str]] = Counter()
    for postings in found.transactions:
        by_currency: Counter[str] = Counter()
        for account, amount, currency in postings:
            sums[account, currency] += amount
            by_currency[currency] += amount
        assert set(by_currency.values()) <= {0}
    accounts = {
        (account_name(run.id, name), currency): balance
        for run in runs
        if run.state is not None
        for name, row in run.state.rows("account")
        for currency, balance in row.balances.items()
    }
    assert accounts == found.asserted == dict(sums)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_posting_is_in_it(runs: list[Run], dialect: Dialect) -> None:
    found = read(written(dialect, runs))
    rows = Counter(
        (account_name(run.id, row.account), row.amount, row.currency)
        for run in runs
        if run.state is not None
        for _key, row in run.state.rows("posting")
    )
    assert rows == Counter(posting for postings in found.transactions for posting in postings)


def hledger(path: Path) -> subprocess.CompletedProcess[str]:
    if shutil.which("hledger") is None:
        pytest.skip("hledger is not installed")
    return told("hledger", "-f", str(path), "check", "--strict")


def beancount(path: Path) -> subprocess.CompletedProcess[str]:
    if find_spec("beancount") is None:
        pytest.skip("beancount is not installed")
    return told(sys.executable, "-m", "beancount.scripts.check", "--no-cache", str(path))


def told(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, check=False, capture_output=True, text=True)


CHECKS = {"hledger": hledger, "beancount": beancount}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_other_program_accepts_it(runs: list[Run], dialect: Dialect, tmp_path: Path) -> None:
    path = tmp_path / "books.journal"
    path.write_text(written(dialect, runs))
    done = CHECKS[dialect](path)
    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"  90\.00 GBP$", "  90.01 GBP"),
        (r"(Buyer-a-5fb  (?:0\.000 KWD = )?)0\.001", r"\g<1>0.000"),
        (r"(Merchant-shop(?:  0\.00 GBP =)? +)-", r"\1"),
    ],
)
def test_the_other_program_finds_a_wrong_one(
    runs: list[Run], dialect: Dialect, old: str, new: str, tmp_path: Path
) -> None:
    path = tmp_path / "books.journal"
    text = written(dialect, runs)
    wrong = re.sub(old, new, text, count=1, flags=re.MULTILINE)
    assert wrong != text
    path.write_text(wrong)
    assert CHECKS[dialect](path).returncode == 1


@pytest.mark.parametrize(
    ("account", "name"),
    [
        ("buyer:anna", "Buyer-anna"),
        ("merchant:M.1", "Merchant-M-2e1"),
        ("buyer:a-b", "Buyer-a--b"),
        ("buyer:-2d", "Buyer---2d"),
        ("buyer:a:b", "Buyer-a-3ab"),
        ("adjustments", "Adjustments"),
        ("escrow", "Escrow"),
        ("Escrow", "Account-Escrow"),
        ("operator:x", "Account-operator-3ax"),
        ("a b", "Account-a-20b"),
    ],
)
def test_names_of_accounts(account: str, name: str) -> None:
    assert f"Assets:Run-0123456789ab:{name}" == account_name(RUN, account)


@pytest.mark.parametrize(
    ("minor_units", "currency", "text"),
    [
        (0, "EUR", "0.00 EUR"),
        (-5, "EUR", "-0.05 EUR"),
        (123_456, "GBP", "1234.56 GBP"),
        (-123, "JPY", "-123 JPY"),
        (-1_234, "KWD", "-1.234 KWD"),
    ],
)
def test_amounts(minor_units: int, currency: str, text: str) -> None:
    assert text == amount_text(minor_units, currency)


@pytest.mark.parametrize(
    ("tick", "date"),
    [(0, "1970-01-01"), (14_944, "2010-12-01"), (2_932_895, "9999-12-30"), (2**31 - 1, "9999-12-30")],
)
def test_dates(tick: int, date: str) -> None:
    assert date == tick_date(tick)


def test_a_market_without_books_is_named() -> None:
    ref = WorldRef(name="retail", params={"mode": "strict"}, version=0)
    world = world_of(ref)
    with pytest.raises(LedgerError, match="the market `retail`, which keeps no books"):
        book_of(run_of(world.facts(()), ref, world))


def test_a_run_without_its_rules_is_named() -> None:
    with pytest.raises(LedgerError, match="can't be replayed"):
        book_of(run_of(facts_of({})))
