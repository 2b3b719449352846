"""The competitive price, quantity and surplus of values and costs, one unit each.

    v1 ≥ v2 ≥ … of buyers, c1 ≤ c2 ≤ … of sellers
    quantity   the number of pairs with v_k ≥ c_k: the marginal pair counts, where it gains nothing too
    surplus    Σ (v_k − c_k) over them, the most that trade can bring
    prices     from max(c_q, v_q+1) to min(v_q, c_q+1): at these, and no others, demand is supply

    Smith's design: 11 and 11, 0.75 to 3.25 by 0.25  ─►  quantity 6, price 2.00, surplus 7.50

All in minor units. The one price, where one is wanted, is the middle of the
interval, which may be half a unit: hence a `Fraction`.

Not here: what traders make of it (`tollbook.tasks`), or the market (`double`).

Source: Smith 1962, "An experimental study of competitive market behavior"; Gode and Sunder 1993.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from . import valuations
from .session import SESSION, Session, groups_of

if TYPE_CHECKING:
    from ..tables import Facts


class Equilibrium(NamedTuple):
    """Competitive equilibrium, in minor units; every price from ``low`` to ``high`` clears the market."""

    quantity: int
    low: int
    high: int
    surplus: int

    @property
    def price(self) -> Fraction:
        """The middle of the interval of prices."""
        return Fraction(self.low + self.high, 2)


def equilibrium(values: Iterable[int], costs: Iterable[int]) -> Equilibrium:
    """The equilibrium of buyers' values and sellers' costs, at least one of each."""
    demand, supply = sorted(values, reverse=True), sorted(costs)
    assert demand, "a market has buyers"
    assert supply, "a market has sellers"
    quantity = sum(value >= cost for value, cost in zip(demand, supply, strict=False))
    surplus = sum(demand[:quantity]) - sum(supply[:quantity])
    # The last who trade must want to, and the first who don't must not.
    low = max(supply[quantity - 1 : quantity] + demand[quantity : quantity + 1])
    high = min(demand[quantity - 1 : quantity] + supply[quantity : quantity + 1])
    return Equilibrium(quantity, low, high, surplus)


def of_round(facts: Facts, number: int) -> Equilibrium:
    """The equilibrium of a round of a double auction, from the start rows alone."""
    session = facts.tables["session"].rows[SESSION]
    assert isinstance(session, Session)
    (group,) = groups_of(session, number)
    given = valuations.drawn(facts, session, number, 1, group)
    return equilibrium(
        (given[party].value for party in group if party not in session.sellers),
        (given[party].value for party in group if party in session.sellers),
    )


def answer(facts: Facts) -> list[dict[str, Any]]:
    """The equilibrium of every round as plain JSON, for a task's `[oracle]`."""
    session = facts.tables["session"].rows[SESSION]
    assert isinstance(session, Session)
    return [of_round(facts, number)._asdict() for number in range(1, session.rounds + 1)]
