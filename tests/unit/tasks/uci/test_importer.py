"""A retailer's ledger through the market: every line posted or named, the books what the lines come to."""

from __future__ import annotations

import gzip
from collections import Counter
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from uci_ledger import INVOICES, Played, lines_of, moved, play

from tollbook.ledger.store import Store
from tollbook.tasks.uci import periods

POSTED = {
    "sale": "15.30 5.10 3.39 15.00 90.00 0.00 3.75",
    "cancellation": "-90.00 -5.10 -10.20 -30.00 -12.75 -2.55 -3.75",
    "adjustment": "-11062.06",
    "stock": "0.00",
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(tmp_path_factory.mktemp("uci"), INVOICES.read_bytes())


def test_every_line_is_posted_or_named(played: Played) -> None:
    imported = played.imported
    assert {
        kind: (len(amounts.split()), sum(map(Decimal, amounts.split())))
        for kind, amounts in POSTED.items()
    } == imported.posted
    assert 18 == imported.lines == sum(imported.ways.values()) + len(played.refused)
    assert [(5, "uci.columns", "not a line", None)] == [
        (one.number, one.code, one.line, one.amount) for one in played.refused[:1]
    ]
    assert [(13, "uci.fraction", Decimal("0.001"))] == [
        (one.number, one.code, one.amount) for one in played.refused[1:]
    ]


def test_the_acts_that_post_them(played: Played) -> None:
    # Called off whole: 536370, the second order of 536365, 536379. Adjusted: the bad debt; C536374, whose
    # sale is not known; and C536380, since too little is left of 536365 once its charges came back twice.
    ways = {"cart.checkout": 7, "order.cancel": 3, "refund.approve": 2, "ledger.adjust": 3}
    assert {**ways, "supply.update": 1} == played.imported.ways


def test_a_line_of_the_same_code_and_price_is_of_another_order(played: Played) -> None:
    orders = [
        [(line.listing, line.quantity) for line in order.lines]
        for order in played.rows("order")
        if order.buyer == "2010-12-01"
    ]
    first = [("85123A@255", 6), ("85123A@339", 1), ("BANK%20CHARGES@1500", 1)]
    assert first in orders
    assert [("85123A@255", 2)] in orders


def test_the_shop_s_account_moved_by_what_was_posted(played: Played) -> None:
    posted = sum(sum_.amount for sum_ in played.imported.posted.values())
    assert posted == Decimal(sum(moved(played.audits))).scaleb(-2)


def test_a_later_run_begins_with_what_is_left_of_the_sales_it_cancels(played: Played) -> None:
    january = played.audits[1].replayed
    assert january is not None
    assert january.state is not None
    start: dict[str, Any] = january.state.facts.tables["order"].rows
    # 536365 is two orders: of one 3.69 of 33.69 is left, the other was called off.
    assert {"536365/1": (369, "2010-12-01")} == {
        key: (row.total, row.buyer) for key, row in start.items()
    }


def test_stock_ends_at_what_nobody_bought(played: Played) -> None:
    # What was called off is back; what was refunded is not.
    assert [2, 3, 24] == sorted(row.on_hand for row in played.rows("inventory") if row.on_hand)


def test_the_same_file_gives_the_same_runs_and_a_stopped_import_goes_on(
    tmp_path: Path, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Store.add_run

    def stop(self: Store, *args: Any, **named: Any) -> int:
        monkeypatch.setattr(Store, "add_run", real)
        number = real(self, *args, **named)
        raise KeyboardInterrupt(number)

    monkeypatch.setattr(Store, "add_run", stop)
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path, INVOICES.read_bytes())
    again = play(tmp_path, INVOICES.read_bytes())
    assert (played.imported.runs[:1], played.imported.runs[1:]) == (again.imported.known, again.imported.runs)
    assert [audit.root for audit in played.audits] == [audit.root for audit in again.audits]
    assert played.imported.posted == again.imported.posted


def test_runs_cut_elsewhere_post_the_same(
    tmp_path: Path, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(periods, "MAX_LINES", 1)
    cut = play(tmp_path, INVOICES.read_bytes())
    assert 13 == len(cut.imported.runs)
    assert "order.cancel" not in cut.imported.ways  # a sale that is carried has no lines to put back
    assert played.imported.posted == cut.imported.posted
    assert sum(moved(played.audits)) == sum(moved(cut.audits))


def test_what_the_market_refuses_is_named_by_its_rule(tmp_path: Path) -> None:
    text = "".join(f"536365,2010-12-01 08:26,X{place},1000000,10000.0,\n" for place in range(2))
    found = play(tmp_path, lines_of(text))
    assert [(1, "cart.total", 10**10), (2, "cart.total", 10**10)] == [
        (one.number, one.code, one.amount) for one in found.refused
    ]
    assert {} == found.imported.posted


def test_a_large_invoice_is_cut_into_orders_of_a_hundred_lines(tmp_path: Path) -> None:
    text = "".join(f"536365,2010-12-01 08:26,X{place},1,1.0,\n" for place in range(1_114))
    found = play(tmp_path, lines_of(text))
    assert {"sale": (1_114, Decimal("1114.00"))} == found.imported.posted
    assert 12 == len(list(found.rows("order")))


README = Counter({"all": Decimal("9747747.934"), "cancelled": Decimal("-896812.49")})


def sums(found: Played) -> Counter[str]:
    """What all lines of the file come to, and its cancellations, posted or not."""
    posted, refused = found.imported.posted, found.imported.refused
    assert {"uci.fraction"} >= set(refused)
    return Counter(
        all=sum((one.amount for one in (*posted.values(), *refused.values())), Decimal(0)),
        cancelled=posted["cancellation"].amount,
    )


def test_the_first_20000_lines(shared: Path, tmp_path: Path) -> None:
    with gzip.open(shared / "data/uci_ledger.csv.gz") as file:
        content = list(islice(file, 20_001))
    found = play(tmp_path, b"".join(content))
    rows = [line.decode().split(",") for line in content[1:]]
    stated = [(row[0][0], int(row[3]) * Decimal(row[4])) for row in rows]
    expected = Counter(
        all=sum(amount for _first, amount in stated),
        cancelled=sum(amount for first, amount in stated if first == "C"),
    )
    assert expected == sums(found)
    assert 20_000 == found.imported.lines
    assert [] == found.refused


@pytest.mark.long
def test_all_lines_come_to_what_the_readme_says(shared: Path, tmp_path: Path) -> None:
    content = (shared / "data/uci_ledger.csv.gz").read_bytes()
    found = play(tmp_path, content, "uci_ledger.csv.gz")
    assert README == sums(found)
    assert 541_909 == found.imported.lines
    assert [157_196, 279_046, 359_872, 361_742] == [one.number for one in found.refused]
    assert Decimal("9747747.93") == Decimal(sum(moved(found.audits))).scaleb(-2)
