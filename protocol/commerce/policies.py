"""The market's published policies, as rows that rules read.

    returns       which conditions of goods are taken back, and which go on sale again
    cart          for how many ticks a quote can be taken
    negotiation   how many offers a negotiation may hold, and for how many ticks it is open
    settlement    for how many ticks an agreement can be settled, and whether its money is only held at first
    ranking       how many offers a search gives, and for how many ticks one can be taken
    matching      what taking an offer does, and for how many ticks a certificate can be redeemed
    supply        how many units beyond the stock an agreement may be made for
    disputes      who adjudicates, and for how many ticks a dispute can be answered
    fulfilment    in how many ticks goods arrive, and what helps when they don't
    sponsorship   whether paid placements are disclosed before a campaign is active

A policy that isn't there limits nothing. Policies are public. Not here: applying them
(`carts`, `negotiation`, `agreements`, `sales`, `shipments`, `returns`, `disputes`).
"""

from __future__ import annotations

from typing import Literal

from ..bodies import Text
from ..canonical import Id
from ..joined import ALLOWED, Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Act, Shown
from .subject import shown, unknown
from .talk import LAST_TICK, tick_of
from .terms import CommerceAction, CommerceRow, Condition, PolicyId, Quantity, Stock, Tick

RETURNS = "returns"
CART = "cart"
NEGOTIATION = "negotiation"
SETTLEMENT = "settlement"
SUPPLY = "supply"
RANKING = "ranking"
MATCHING = "matching"
FULFILMENT = "fulfilment"
SPONSORSHIP = "sponsorship"
DISPUTES = "disputes"


class Policy(CommerceRow, frozen=True):
    """A row of `policy`; what a policy doesn't speak of keeps its default, which limits nothing.

    ``holds`` is true where a sale only authorizes its payment; ``max_backorder`` counts units;
    ``remedies`` says by the state of a shipment what may be done about it; goods that come back in one of
    the ``restocked_conditions`` are available again.
    """

    accepted_conditions: tuple[Condition, ...] | None = None
    restocked_conditions: tuple[Condition, ...] = ()
    max_rounds: Quantity | None = None
    deadline_ticks: Tick | None = None
    holds: bool = False
    max_backorder: Stock = 0
    max_results: Quantity | None = None
    acceptance: Literal["settle", "certificate"] = "settle"
    remedies: dict[Id, tuple[Id, ...]] | None = None
    adjudicator: Id | None = None
    requires_disclosure: bool = False
    text: Text = ""


class PolicyGet(CommerceAction, frozen=True, tag="policy.get"):
    """Reads one of the market's policies, such as `returns` or `negotiation`.

    Others: `cart`, `settlement`, `supply`, `ranking`, `matching`, `fulfilment`, `sponsorship`, `disputes`.
    One that isn't there limits nothing.
    """

    policy: PolicyId


def policy_of(state: State, key: str) -> Policy:
    """The policy, or one that limits nothing."""
    found: Policy | None = state.get("policy", key)
    return _NO_LIMITS if found is None else found


def last_tick(state: State, key: str) -> int | None:
    """The last tick of what begins now under a policy; None where it sets no such end."""
    ticks = policy_of(state, key).deadline_ticks
    return None if ticks is None else min(tick_of(state) + ticks, LAST_TICK)


def _get(state: State, act: Act) -> Verdict:
    action: PolicyGet = act.action
    if state.get("policy", action.policy) is None:
        return unknown("policy.unknown", "policy", action.policy)
    return ALLOWED


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("policy", act.action.policy))


_NO_LIMITS = Policy()

SUBJECT = Subject(
    rows={"policy": Policy},
    rules=(Rule(PolicyGet, _get, _show, ("policy.unknown",), is_query=True),),
    events={},
    refusals={"policy.unknown": "there is no such policy"},
)
