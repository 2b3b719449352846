"""A cell of the study's grid: one way to auction, and who bids; and the task that its sessions play.

    Cell ─► task_of ─► a task's text ─► one session a trial      `first_price.5`, trial 17

A task is data: its text is a blob of every run that plays it, so a run says by itself
which cell it is of. What the text doesn't say is the session's seed, which follows from
the task's id, the case and the trial. The id is that of the cell's draws, and not its
name: cells of the same draws hand out the same values in the same trials, so formats are
compared on equal terms, and outcome by outcome.

Not here: which cells there are (`grid`), playing them (`study`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import msgspec

CASE: Final = "session"
"""The only case of a cell's task."""

SMITH: Final = tuple(range(75, 326, 25))
"""What Smith's buyers have for values, and his sellers for costs, in minor units."""

_ID = re.compile(r"[^a-z0-9_.]")

Figure = Literal["revenue", "profit", "loss"]


class Cell(NamedTuple):
    """A cell: how it is called, whose draws it has, who plays everybody, and the session's parameters.

    ``figure`` is what theory knows of it: the seller's revenue; a winner's profit; or
    the loss of winners who take their signals for the value. ``sessions`` and ``rounds``
    are the most that are played, where more tell nothing; ``is_traded``: traders of
    Smith's design, for `rounds` rounds. ``is_measured``: by all measures of the market.
    ``has_outcomes``: each outcome is kept, to be compared with another cell's.
    """

    name: str
    draws: str
    plays: str
    bidders: int
    session: Mapping[str, Any]
    figure: Figure | None = None
    sessions: int | None = None
    rounds: int | None = None
    is_traded: bool = False
    is_measured: bool = False
    has_outcomes: bool = False

    @property
    def id(self) -> str:
        """The id of its task, from which sessions have their seeds."""
        return f"study.{_ID.sub('_', self.draws)}"

    def sized(self, sessions: int, rounds: int) -> tuple[int, int]:
        """How many sessions are played of how many rounds, when so many are asked for."""
        most = sessions if self.sessions is None else min(sessions, self.sessions)
        if self.is_traded and self.rounds is not None:
            return most, self.rounds
        return most, rounds if self.rounds is None else min(rounds, self.rounds)


def task_text(cell: Cell, rounds: int) -> str:
    """The text of the task that plays a cell for so many rounds."""
    bidders, sellers = parties_of(cell)
    parameters = {"bidders": [*bidders, *sellers], "rounds": rounds, **cell.session}
    if sellers:
        parameters["sellers"] = sellers
    worth = zip((*bidders, *sellers), SMITH * 2, strict=False) if cell.is_traded else ()
    lines = [
        f"id = {_value(cell.id)}",
        f"title = {_value(f'{cell.name}: all are {cell.plays}')}",
        'world = "auction"',
        f"actor = {_value(bidders[0])}",
        "turns = 100000",
        f"brief = {_value(_BRIEF)}",
        f"[case]\n{CASE} = {{}}",
        "[facts.session.s]",
        *(f"{name} = {_value(each)}" for name, each in parameters.items()),
        "seed = \"=draw('session', 0, 1000000000)\"",
        *(["[facts.induced]"] if cell.is_traded else []),
        *(f"{party} = {{ bidder = {_value(party)}, value = {each} }}" for party, each in worth),
        "[party]",
        *_parties(cell, bidders, "buyer" if cell.is_traded else "bidder"),
        *_parties(cell, sellers, "seller"),
        "[predicate]",
        'moved = { stage = "choice", weight = 1000, expr = "acts.size() > 0" }',
        _POLICY,
    ]
    return "\n".join(lines) + "\n"


def parties_of(cell: Cell) -> tuple[list[str], list[str]]:
    """The bidders of a cell, or its buyers, and its sellers; the first is the task's actor."""
    names = [f"b{place}" for place in range(1, cell.bidders + 1)]
    return names, [f"s{place}" for place in range(1, cell.bidders + 1)] if cell.is_traded else []


def _parties(cell: Cell, names: Sequence[str], role: str) -> list[str]:
    return [
        f"{name} = {{ role = {_value(role)} }}"
        if name == "b1"
        else f"{name} = {{ role = {_value(role)}, plays = {_value(cell.plays)} }}"
        for name in names
    ]


def _value(value: object) -> str:
    """A text, number, truth value or list of these as TOML, which spells them as JSON does."""
    return msgspec.json.encode(value).decode()


_BRIEF: Final = "You are one of the bidders of a study. What you need is shown to you at each turn."
_POLICY: Final = """[reference]
step = [{ id = "none", do = { kind = "bid.pass" } }]
[mutation]
none = { drop = true, step = "none", loses = ["moved"] }"""
