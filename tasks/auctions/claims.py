"""What the study's figures are to be, and whether they are.

    revenue, profit    |mean − theory| ≤ 4 SE                   of every cell
    clocks             the outcomes of sealed bids, one by one
    common values      seller: English > second > first price;  who is naive loses more among more
    double auctions    bars about what Smith's design was found to give, wider for few sessions

    SE is the study's own, so the bar is of its size. A claim whose cells weren't played isn't made.

Not here: how figures come about (`tally`), tables and pictures (`report`, `charts`).

Source: the auctions page of the design, B2 and B3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from ...protocol.auction.equilibrium import equilibrium
from ...scorers import stats
from ..studies.report import Claim
from .cells import SMITH
from .grid import CLOCKS, COMMON_BIDDERS
from .tally import SIGMAS, Tally

Tallies = Mapping[str, Tally]
"""By the names of the cells."""

ROUNDS: Final = 5
"""Rounds of a session of Smith's design."""

_MANY: Final = 50
_GROUPS: Final = (
    ("first price: revenue", "first_price."),
    ("second price: revenue", "second_price."),
    ("all-pay: revenue", "all_pay."),
    ("first price with a reserve of half: revenue", "reserve.first_price."),
    ("second price with a reserve of half: revenue", "reserve.second_price."),
    ("uniform price, k units: revenue", "uniform_price."),
    ("discriminatory, k units: revenue", "discriminatory."),
    ("posted price: revenue", "posted_price."),
    ("common value, first price: the winner's profit", "common.first_price."),
    ("common value, second price: the winner's profit", "common.second_price."),
    ("common value, English: the winner's profit", "common.english_open."),
    ("common value, first price, naive: the winner's loss", "common.naive."),
)
_PERCENT: Final = 100


def claims_of(found: Tallies) -> list[Claim]:
    """All that can be claimed of these cells."""
    claims = [_verified(found), _repeated(found)]
    for makers in (_expected, _clocks, _common, _double):
        claims += makers(found)
    return claims


def off(tally: Tally) -> Fraction | None:
    """By how many standard errors a cell's figure is off theory; None where there is no error or theory."""
    moment = tally.moments.get(figure_of(tally))
    if moment is None or tally.expected is None or not moment.error:
        return None
    return (moment.mean - tally.expected) / moment.error


def figure_of(tally: Tally) -> str:
    """The name of what theory knows of a cell."""
    return "revenue" if tally.cell.figure == "revenue" else "profit"


def _verified(found: Tallies) -> Claim:
    whole = sum(len(tally.roots) for tally in found.values())
    wrong = sorted({code for tally in found.values() for code in tally.findings})
    told = f"{whole} of {whole}" if not wrong else ", ".join(wrong)
    return Claim("every session verifies, its conduct checked", not wrong, told)


def _repeated(found: Tallies) -> Claim:
    same = sum(tally.again == [tally.roots[0]] for tally in found.values())
    what = "the first session of each cell, played again, has the same run root"
    return Claim(what, same == len(found), f"{same} of {len(found)}")


def _expected(found: Tallies) -> Iterator[Claim]:
    for title, prefix in _GROUPS:
        cells = [tally for name, tally in found.items() if name.startswith(prefix)]
        if not cells:
            continue
        furthest = [None if (far := off(tally)) is None else abs(far) for tally in cells]
        known = [each for each in furthest if each is not None]
        holds = len(known) == len(cells) and max(known) <= SIGMAS
        sizes = ", ".join(tally.cell.name.removeprefix(prefix) for tally in cells)
        told = f"at most {stats.decimal(max(known), 1)} SE off" if known else "too few auctions"
        yield Claim(f"{title}, n = {sizes}, is theory's within {SIGMAS} SE", holds, told)


class _Pair(NamedTuple):
    title: str
    clock: str
    sealed: str


_PAIRS: Final = (
    _Pair("English, open clock", CLOCKS[0], "second_price"),
    _Pair("English, closed clock", CLOCKS[1], "second_price"),
    _Pair("Dutch", "dutch", "first_price"),
)


def _clocks(found: Tallies) -> Iterator[Claim]:
    for pair in _PAIRS:
        clock, sealed = (found.get(f"clock.{kind}.4") for kind in (pair.clock, pair.sealed))
        if clock is None or sealed is None:
            continue
        both = [
            each
            for trial in clock.outcomes
            for each in zip(clock.outcomes[trial], sealed.outcomes.get(trial, ()), strict=False)
        ]
        whole = sum(len(each) for each in clock.outcomes.values())
        same = sum(one == other for one, other in both)
        name = pair.sealed.replace("_", " ")
        told = f"{same} of {whole} auctions"
        yield Claim(f"{pair.title} = {name}, outcome by outcome", same == whole > 0, told)


def _common(found: Tallies) -> Iterator[Claim]:
    for count in COMMON_BIDDERS:
        kinds = ("english_open", "second_price", "first_price")
        profits = [_mean(found, f"common.{kind}.{count}", "profit") for kind in kinds]
        if None not in profits:
            known = [each for each in profits if each is not None]
            told = " < ".join(_money(each) for each in known)
            what = f"common value, n = {count}: the seller is left most by English, then second, first price"
            yield Claim(what, known == sorted(set(known)), f"winners' profits {told}")
    losses = [_mean(found, f"common.naive.{count}", "profit") for count in COMMON_BIDDERS]
    few, many = losses[0], losses[-1]
    if few is not None and many is not None:
        told = f"{_money(few)} of {COMMON_BIDDERS[0]}, {_money(many)} of {COMMON_BIDDERS[-1]}"
        yield Claim("common value: who is naive loses more among more bidders", many < few < 0, told)


def _double(found: Tallies) -> Iterator[Claim]:
    if not any(tally.cell.is_traded for tally in found.values()):
        return
    market = equilibrium(SMITH, SMITH)
    told = f"{market.quantity}, {_money(market.price)}, {_money(Fraction(market.surplus))}"
    holds = (market.quantity, market.price, market.surplus) == (6, 200, 750)
    yield Claim("Smith's design: q = 6, P = 2.00, surplus 7.50, computed", holds, told)
    for name, makers in _TRADED.items():
        tally = found.get(name)
        if tally is not None and not tally.findings:
            for make in makers:
                yield make(tally)


def _mean(found: Tallies, name: str, figure: str) -> Fraction | None:
    tally = found.get(name)
    return None if tally is None else tally.mean(figure)


def _money(minor: Fraction) -> str:
    return stats.decimal(minor / 100, 2)


def by_round(tally: Tally, figure: str) -> list[Fraction]:
    """A figure's mean of each round; 0 where no session had any."""
    return [tally.mean(f"{figure}.{number}") or Fraction(0) for number in range(1, ROUNDS + 1)]


def _efficiency(tally: Tally) -> Fraction:
    """In percent."""
    return (tally.mean("efficiency") or Fraction(0)) * _PERCENT


def _told(values: Sequence[Fraction], places: int = 1) -> str:
    return " ".join(stats.decimal(value, places) for value in values)


def _wastes_all(tally: Tally) -> Claim:
    moment, trades = tally.moments["efficiency"], tally.mean("trades")
    holds = moment.square == 0 and trades == len(SMITH)
    told = f"{_told([_efficiency(tally)])} %, {_told([trades or Fraction(0)])} trades a round"
    return Claim("ZI-U: efficiency exactly 0, everybody trades", holds, told)


def _is_efficient(tally: Tally) -> Claim:
    low, high = _bar(len(tally.roots))
    found = _efficiency(tally)
    what = f"ZI-C: efficiency from {low} to {high} %"
    return Claim(what, Fraction(low) <= found <= Fraction(high), f"{stats.decimal(found, 1)} %")


def _bar(sessions: int) -> tuple[str, str]:
    """The bar of a mean over so many sessions, whose standard deviation is about 2.2."""
    return ("95", "98.5") if sessions >= _MANY else ("94", "99") if sessions >= 10 else ("85", "100")


def _stays_rough(tally: Tally) -> Claim:
    alphas = by_round(tally, "alpha")
    low, high = (15, 25) if len(tally.roots) >= 10 else (10, 30)
    holds = all(low <= each <= high for each in alphas)
    return Claim(f"ZI-C: alpha from {low} to {high} in every round", holds, _told(alphas))


def _learns_nothing(tally: Tally) -> Claim:
    slope = tally.moments["alpha_slope"]
    reach = SIGMAS * (slope.error or Fraction(0))
    told = f"{stats.decimal(slope.mean, 2)} ± {stats.decimal(reach, 2)} a round"
    return Claim("ZI-C: alpha has no trend", abs(slope.mean) <= reach, told)


def _learns(tally: Tally) -> Claim:
    first, *_between, last = alphas = by_round(tally, "alpha")
    holds = last < 4 and 3 * last < first
    return Claim("ZIP: alpha of round 5 under 4, and under a third of round 1's", holds, _told(alphas))


def _at_least(title: str, percent: int) -> Callable[[Tally], Claim]:
    def make(tally: Tally) -> Claim:
        found = _efficiency(tally)
        what = f"{title}: efficiency at least {percent} %"
        return Claim(what, found >= percent, f"{stats.decimal(found, 1)} %")

    return make


_TRADED: Final[Mapping[str, Sequence[Callable[[Tally], Claim]]]] = {
    "double.zi_u": (_wastes_all,),
    "double.zi_c": (_is_efficient, _stays_rough, _learns_nothing),
    "double.zip": (_learns, _at_least("ZIP", 98)),
    "double.gd": (_at_least("GD", 96),),
}
