"""The study's grid: which formats, how many bidders, which values, and who bids.

    first_price.5   reserve.second_price.2   uniform_price.8.3   posted_price.3    revenue, as theory has it
    clock.english_open.4   clock.second_price.4   clock.dutch.4   clock.first_price.4    outcome by outcome
    common.first_price.7   common.english_open.7   common.naive.7                  a winner's profit, or loss
    double.zi_c   double.zip   double.gd   double.zi_u   double.zi_c.100           Smith's design
    bidding.crra.first_price   ordering.all_pay                                    for pictures

Values are U{0, …, 10,000} cents but for the clocks, which go up and down by one unit over
values U{0, …, 40}: only so are their outcomes those of sealed bids, to the unit. Common
values are U{25.00, …, 121.00} with signals within 12.00, the clock's unit then 1.00:
bids, rounded to it, are as often above as below.

Not here: how a cell is played (`study`), what is to come of it (`claims`).

Source: the auctions page of the design, B.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from ...protocol.auction.private_values import Bidding, best_price
from ...protocol.errors import UsageError
from .cells import SMITH, Cell

BIDDERS: Final = (2, 3, 4, 5, 10)
RESERVE: Final = 5_000
UNITS: Final = ((6, 2), (5, 3), (8, 3))
POSTED: Final = (1, 2, 3, 5)
COMMON_BIDDERS: Final = (4, 7)
CLOCKS: Final = ("english_open", "english_closed", "second_price", "dutch", "first_price")
ORDERED: Final = ("first_price", "second_price", "all_pay", "uniform_price")
ERROR: Final = 1_200

_HIGH: Final = 10_000
_CLOCK_HIGH: Final = 40
_CLOCKED: Final[Mapping[str, Any]] = {"high": _CLOCK_HIGH, "cap": 2 * _CLOCK_HIGH, "increment": 1}
_COMMON: Final[Mapping[str, Any]] = {"values": "common", "low": 2_500, "high": 12_100, "error": ERROR}
_COMMON_CLOCK: Final = {"price": 2_500, "reserve": 2_500, "increment": 100, "unit": 100}


def grid() -> list[Cell]:
    """All cells, in the order in which they are played."""
    return [*_private(), *_clocks(), *_common(), *_double(), *_pictured()]


def chosen(patterns: Sequence[str]) -> list[Cell]:
    """The cells whose names one of the patterns fits; all without any.

    Raises:
        UsageError: `usage.cells`, a pattern fits none.
    """
    cells = grid()
    for pattern in patterns:
        if not any(fnmatchcase(cell.name, pattern) for cell in cells):
            some = ", ".join(dict.fromkeys(cell.name.split(".")[0] for cell in cells))
            hint = f"their names begin with {some}: try `{cells[0].name}` or `double.*`"
            raise UsageError("usage.cells", f"no cell is called `{pattern}`", hint)
    return [cell for cell in cells if not patterns or any(fnmatchcase(cell.name, each) for each in patterns)]


def _private() -> Iterator[Cell]:
    for kind in ("first_price", "second_price", "all_pay"):
        for count in BIDDERS:
            yield Cell(f"{kind}.{count}", f"private.{count}", "benchmark", count, {"format": kind}, "revenue")
    for kind in ("first_price", "second_price"):
        for count in BIDDERS:
            rules = {"format": kind, "reserve": RESERVE}
            yield Cell(
                f"reserve.{kind}.{count}", f"private.{count}", "benchmark", count, rules, "revenue"
            )
    for kind in ("uniform_price", "discriminatory"):
        for count, units in UNITS:
            rules = {"format": kind, "units": units}
            yield Cell(
                f"{kind}.{count}.{units}", f"private.{count}", "benchmark", count, rules, "revenue"
            )
    for count in POSTED:
        price = round(best_price(Bidding(count, 0, _HIGH)))
        rules = {"format": "posted_price", "price": price}
        yield Cell(f"posted_price.{count}", f"private.{count}", "benchmark", count, rules, "revenue")


def _clocks() -> Iterator[Cell]:
    for kind in CLOCKS:
        price = {"price": _CLOCK_HIGH} if kind == "dutch" else {}
        rules = {"format": kind, **_CLOCKED, **price}
        yield Cell(
            f"clock.{kind}.4", "clock.4", "benchmark", 4, rules, sessions=20, rounds=50, has_outcomes=True
        )


def _common() -> Iterator[Cell]:
    for count in COMMON_BIDDERS:
        draws = f"common.{count}"
        for kind in ("first_price", "second_price"):
            rules = {"format": kind, **_COMMON}
            yield Cell(f"common.{kind}.{count}", draws, "benchmark", count, rules, "profit")
        rules = {"format": "english_open", **_COMMON, **_COMMON_CLOCK}
        yield Cell(f"common.english_open.{count}", draws, "benchmark", count, rules, "profit", rounds=20)
        rules = {"format": "first_price", **_COMMON}
        yield Cell(f"common.naive.{count}", draws, "naive", count, rules, "loss")


def _double() -> Iterator[Cell]:
    for name, plays, steps, sessions in (
        ("double.zi_u", "zi_u", 2_000, 50),
        ("double.zi_c", "zi_c", 2_000, 50),
        ("double.zi_c.100", "zi_c", 100, 50),
        ("double.zi_c.200", "zi_c", 200, 50),
        ("double.zi_c.400", "zi_c", 400, 50),
        ("double.truthful", "truthful_quotes", 2_000, 10),
        ("double.zip", "zip", 500, 10),
        ("double.gd", "gd", 300, 10),
    ):
        rules = {"format": "double", "values": "stated", "cap": 400, "reserve": 1, "steps": steps}
        yield Cell(
            name,
            "smith",
            plays,
            len(SMITH),
            rules,
            sessions=sessions,
            rounds=5,
            is_traded=True,
            is_measured=True,
        )


def _pictured() -> Iterator[Cell]:
    for kind, plays in (
        ("first_price", "crra:0.5"),
        ("second_price", "random"),
        ("all_pay", "share:0.5"),
    ):
        name = f"bidding.{plays.split(':')[0]}.{kind}"
        yield Cell(name, "private.5", plays, 5, {"format": kind}, sessions=5, rounds=50, is_measured=True)
    for kind in ORDERED:
        name, units = f"ordering.{kind}", {"units": 2} if kind == "uniform_price" else {}
        rules = {"format": kind, **units}
        yield Cell(name, name, "random", 4, rules, sessions=20, rounds=50, is_measured=True)
