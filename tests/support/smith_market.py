"""Smith's market of 11 buyers and 11 sellers as a task, what a session of it comes to, and measures of it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import isqrt
from typing import Any, NamedTuple

import msgspec

from tollbook.protocol.tables import State
from tollbook.tasks.auctions.baselines import BASELINES
from tollbook.tasks.format.task import Task, load_task
from tollbook.tasks.play.baselines import company
from tollbook.tasks.play.desk import DryDesk
from tollbook.tasks.play.play import Play

LIMITS = tuple(range(75, 326, 25))
"""The values of the buyers, and the costs of the sellers."""
PRICE = 200
SURPLUS = 750
BUYERS = tuple(f"b{place}" for place in range(1, 12))
SELLERS = tuple(f"s{place}" for place in range(1, 12))
WORTH = dict(zip((*BUYERS, *SELLERS), LIMITS * 2, strict=True))


class Round(NamedTuple):
    """The prices of a round's trades in order, and what its traders gained in all."""

    prices: list[int]
    gain: int


@cache
def smith_task(plays: str, *, rounds: int = 5, **session: Any) -> Task:
    """The market as a task in which one baseline plays everybody; the session's parameters by name."""
    parameters = {"format": "double", "rounds": rounds, "values": "stated", "cap": 400, "reserve": 1}
    stated = _table(bidders=list(WORTH), sellers=list(SELLERS), **{**parameters, **session})
    lines = [
        'id = "a.double.smith"',
        'title = "A double auction"',
        'world = "auction"',
        'actor = "b1"',
        "turns = 100000",
        'brief = """\nYou trade one unit."""',
        "[case]",
        "base = {}",
        "[facts]",
        f"session.s = {stated[:-2]}, seed = \"=draw('session', 0, 1000000000)\" }}",
        *(f"induced.{party} = {_table(bidder=party, value=worth)}" for party, worth in WORTH.items()),
        "[party]",
        'b1 = { role = "buyer" }',
        *(f'{party} = {{ role = "buyer", plays = "{plays}" }}' for party in BUYERS[1:]),
        *(f'{party} = {{ role = "seller", plays = "{plays}" }}' for party in SELLERS),
        "[predicate]",
        'quoted = { stage = "choice", weight = 1000, expr = "did.quote.buy.size() > 0" }',
        "[reference]",
        'step = [{ id = "x", do = { kind = "quote.buy", amount = 100 } }]',
        "[mutation]",
        'none = { drop = true, step = "x", loses = ["*"] }',
    ]
    return load_task("\n".join(lines) + "\n")


def _table(**fields: Any) -> str:
    """An inline table of TOML, which spells these values as JSON does."""
    columns = (f"{name} = {msgspec.json.encode(each).decode()}" for name, each in fields.items())
    return "{ " + ", ".join(columns) + " }"


def session_of(task: Task, plays: str, trial: int) -> State:
    """The rows after a session that nobody signed."""
    scene = task.scenes.stage("base", task.scenes.seed("base", trial))
    desk = DryDesk(task.world, task.roles, scene.facts)
    Play(task, scene, desk, BASELINES[plays](scene.seed, task.actor), company(task, scene.seed)).run()
    return desk.state


def rounds_of(state: State) -> list[Round]:
    """What each round came to."""
    rounds = [Round([], 0) for _ in range(state.get("session", "s").rounds)]
    for _key, trade in sorted(state.rows("trade"), key=lambda found: (found[1].round, found[1].step)):
        rounds[trade.round - 1].prices.append(trade.price)
    for _key, row in state.rows("result"):
        prices, gain = rounds[row.round - 1]
        rounds[row.round - 1] = Round(prices, gain + row.profit)
    return rounds


def alpha(prices: Sequence[int], price: int = PRICE) -> Fraction:
    """Smith's alpha in percent, 100 · sqrt(mean((p − P)²)) / P, the root cut to 1/100,000 of a unit."""
    of = 10**10 * sum((each - price) ** 2 for each in prices)
    return Fraction(isqrt(of // len(prices)), 10**3 * price) if prices else Fraction(0)
