"""Baseline bidders, by name: what theory, habit or chance would do, on the interface that any agent has.

    truthful     what it was told: its value, or the signal of it
    benchmark    the risk-neutral equilibrium bid; where theory has none, as `careful`
    crra:R       in first-price and Dutch auctions the bid of those averse to risk by R; else as `benchmark`
    naive        the signal, as if it were the value: in common values the winner's curse
    careful      what the item is worth on average if its signal is the highest
    random       any amount up to the highest value, or where nobody knows that, the cap
    share:S      that share of what it was told
    fixed:N      always N minor units
    sniper       as `benchmark`, in the last period of a proxy auction

    sealed       bids the amount               English   stays while the price is below it
    proxy        bids it at once, then holds   Dutch     stops the clock where it isn't above it
                                               posted    buys if the price isn't above it

The amount is rounded to the nearest multiple of the unit, half to even, and
is at most the cap; below the reserve it is no bid. Each is told only what the
market shows its party (`Asked.market`). Those of double auctions are `traders`.

Source: the auctions page of the design, A and B1; Cox, Smith and Walker 1988 (`crra`).
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ...protocol.auction import benchmarks, common_values, private_values
from ...protocol.auction.benchmarks import Setting
from ...protocol.bodies import Agent as Stated
from ...protocol.draws import Draws
from ...protocol.errors import UsageError
from . import traders
from .baseline import VERSION, Baseline

if TYPE_CHECKING:
    from ..play.agent import Agent
    from ..play.baselines import Maker

Market = Mapping[str, Any]

_DECIMAL = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?")


class Bidder(Baseline):
    """A baseline that has an amount; a subclass says which."""

    def move(self, market: Market) -> Market:
        """The move that the amount comes to, in the format that is played."""
        amount = _rounded(market, self.amount(market))
        price: int = market.get("price") or 0
        match market["format"]:
            case "english_open" | "english_closed":
                return {"kind": "clock.stay" if amount > price else "clock.exit"}
            case "dutch":
                return {"kind": "clock.stop" if amount >= price else "clock.wait"}
            case "posted_price":
                return {"kind": "price.accept" if amount >= price else "price.decline"}
            case "proxy":
                holds = market["maximum"] is not None or amount < market["reserve"]
                return {"kind": "proxy.hold"} if holds else {"kind": "proxy.bid", "amount": amount}
            case _:
                passes = amount < market["reserve"]
                return {"kind": "bid.pass"} if passes else {"kind": "bid.submit", "amount": amount}

    @abstractmethod
    def amount(self, market: Market) -> Fraction | int:
        """What it would bid, in minor units, before it is rounded."""


def setting_of(market: Market) -> Setting:
    """What a bidder is told of the auction that others are told too."""
    drawn = "private" if "high" in market else "stated"
    return Setting(
        market["format"],
        "common" if "signal" in market else drawn,
        market["bidders"],
        market.get("low", 0),
        market.get("high", 0),
        market.get("error", 0),
        market["reserve"],
        market["units"],
    )


def told(market: Market) -> int:
    """The value of the bidder's own, or the signal of the common one."""
    found: int = market["signal"] if "signal" in market else market["value"]
    return found


def _rounded(market: Market, amount: Fraction | int) -> int:
    """The nearest multiple of the unit, half to even, from nothing to the cap."""
    unit = market["unit"]
    of_unit = amount if unit == 1 and isinstance(amount, int) else round(Fraction(amount, unit))
    return max(0, min(of_unit, market["cap"] // unit)) * unit


class Truthful(Bidder):
    """Bids its value, or what its signal says."""

    name = "truthful"

    def amount(self, market: Market) -> int:
        """What it was told."""
        return told(market)


class Naive(Truthful):
    """Takes a signal for the value: with others about it wins when that was too high."""

    name = "naive"


class Careful(Bidder):
    """Bids what it expects to have if it wins."""

    name = "careful"

    def amount(self, market: Market) -> Fraction | int:
        """Its value, or the common one given that its signal is the highest."""
        if "signal" not in market:
            return told(market)
        return common_values.worth_if_highest(setting_of(market).signals, told(market))


class Benchmark(Careful):
    """Bids as theory says, being risk neutral."""

    name = "benchmark"

    def amount(self, market: Market) -> Fraction | int:
        """The benchmark bid; the first exit that is shown is the lowest."""
        first_exit = next(iter(market.get("exits", ())), None)
        found = benchmarks.bid(setting_of(market), told(market), first_exit)
        return super().amount(market) if found is None else found


class Sniper(Benchmark):
    """Bids as theory says, so late that nobody can answer."""

    name = "sniper"

    def move(self, market: Market) -> Market:
        """As `Bidder.move`, but for a proxy auction's periods before the last."""
        if market["format"] == "proxy" and market["period"] < market["periods"]:
            return {"kind": "proxy.hold"}
        return super().move(market)


class Random(Bidder):
    """Bids any amount, drawn once a round."""

    name = "random"

    def amount(self, market: Market) -> int:
        """Uniform from nothing to the highest value, of multiples of the unit."""
        most = min(market["cap"], market.get("high", market["cap"]) + market.get("error", 0))
        draws = Draws(self.seed, f"{self.name}/{self.party}/{market['round']}")
        return draws.integer(0, most // market["unit"]) * market["unit"]


class Tuned(Benchmark):
    """A bidder with a number that is said with its name, a decimal from 0, which ``below`` may bound."""

    parameter: ClassVar[str]
    usual: ClassVar[str]
    below: ClassVar[int | None] = None

    def __init__(self, seed: str, party: str, text: str | None = None) -> None:
        """With the usual number, where none is given.

        Raises:
            UsageError: `usage.agent`, it is none.
        """
        super().__init__(seed, party)
        text = self.usual if text is None else text
        if not _DECIMAL.fullmatch(text) or (self.below is not None and Fraction(text) >= self.below):
            bound = "" if self.below is None else f" to below {self.below}"
            hint = f"write a decimal from 0{bound}, such as `{self.name}:{self.usual}`"
            what = f"`{text}` is no {self.parameter} of baseline `{self.name}`"
            raise UsageError("usage.agent", what, hint)
        self.number = Fraction(text)
        settings = {self.parameter: f"{Decimal(text).normalize():f}"}
        self.stated = Stated(model="", name=f"baseline:{self.name}", settings=settings, version=VERSION)


class Averse(Tuned):
    """Bids more than who is risk neutral, where that makes winning likelier and less worth."""

    name = "crra"
    parameter = "aversion"
    usual = "0.5"
    below = 1

    def amount(self, market: Market) -> Fraction | int:
        """The bid among bidders of utility money^(1 − aversion)."""
        setting = setting_of(market)
        if setting.format in ("first_price", "dutch") and setting.values == "private":
            return private_values.averse(setting.bidding, told(market), self.number)
        return super().amount(market)


class Share(Tuned):
    """Bids a share of what it was told."""

    name = "share"
    parameter = "share"
    usual = "0.9"

    def amount(self, market: Market) -> Fraction:
        """The share."""
        return told(market) * self.number


class Fixed(Tuned):
    """Bids the same amount whatever it was told."""

    name = "fixed"
    parameter = "amount"
    usual = "0"

    def amount(self, market: Market) -> Fraction:
        """The amount."""
        del market
        return self.number


def _maker(kind: type[Baseline]) -> Maker:
    def make(seed: str, party: str) -> Agent:
        return kind(seed, party)

    return make


def _tuned(kind: type[Tuned]) -> Callable[[str], Maker]:
    def tune(text: str) -> Maker:
        kind("", "", text)  # a number that can't be is told before anybody plays
        return lambda seed, party: kind(seed, party, text)

    return tune


_TUNED: Final = (Averse, Share, Fixed)
_BIDDERS: Final = (Truthful, Benchmark, Averse, Naive, Careful, Random, Share, Fixed, Sniper)

BASELINES: Final[Mapping[str, Maker]] = {kind.name: _maker(kind) for kind in (*_BIDDERS, *traders.TRADERS)}
TUNED: Final[Mapping[str, Callable[[str], Maker]]] = {kind.name: _tuned(kind) for kind in _TUNED}
"""Makers of those that take a number, by what follows their name."""
