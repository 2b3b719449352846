"""What an agent is: it is told once what it is there for, then asked, turn by turn, for one act.

    begin(Setup)  →  act(Asked) ─► Answer  →  act(Asked) ─► Answer  →  …  →  close()

    Answer    an act {kind, …fields, to} · words that hold no act · an end

An agent never handles message ids, keys or digests: it names an act and, if it
wants, whom it is for. In process it may look at all that its party has seen
(`Asked.watch`); outside the process it gets the same as JSON.

Not here: the agents themselves; whether an act is allowed (the market's rules).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from ...protocol.bodies import Agent as Stated
    from ...protocol.bodies import Usage
    from ...scorers.acts import Watch

Json = Any

Stop = Literal["agent_stopped", "agent_failed"]
"""How an agent ends a run: done by its own account, or unable to go on."""


class Tool(NamedTuple):
    """A kind of act that is offered: what it does, and the JSON Schema of its fields."""

    kind: str
    description: str
    schema: Mapping[str, Json]


class Setup(NamedTuple):
    """What a party is told before it is first asked.

    ``others`` are the other parties it may address, as (id, role). Where
    ``words`` count, an answer without an act may still be one. ``labels`` are
    other words for those of `Asked.market`, for who reads it.
    """

    party: str
    role: str
    brief: str
    mandate: Mapping[str, Json]
    tools: Sequence[Tool]
    others: Sequence[tuple[str, str]]
    turns: int
    words: bool = False
    labels: Mapping[str, str] = {}


class Asked(NamedTuple):
    """What a party is given when it is asked.

    ``last`` is its own last act with what became of it, None at first; ``inbox``
    the acts that reached it since. Both have the form of the case view.
    ``market`` is what the market shows it now (`World.sight`), None where it shows nothing unasked.
    """

    tick: int
    turns_left: int
    last: Mapping[str, Json] | None
    inbox: Sequence[Mapping[str, Json]]
    watch: Watch
    market: Json = None


class Answer(NamedTuple):
    """What an agent gives: an act, or an end, or (both None) only words that hold no act.

    ``gave`` are an outside agent's own words, kept as evidence; ``reason`` says
    why it failed.
    """

    act: Mapping[str, Json] | None = None
    end: Stop | None = None
    gave: str | None = None
    usage: Usage | None = None
    reason: str | None = None


class Seated(Protocol):
    """Whoever plays a party, as far as `open` says so."""

    @property
    def stated(self) -> Stated:
        """What `open` says of it."""
        ...


class Agent(Protocol):
    """Who plays a party.

    The turns of an ``outside`` agent are kept as evidence, and each of its acts
    is on disk before it is answered. ``given`` is None where there is nothing
    to keep.
    """

    @property
    def stated(self) -> Stated:
        """What `open` says of it."""
        ...

    @property
    def outside(self) -> bool:
        """Whether it is no agent of this process."""
        ...

    @property
    def given(self) -> str | None:
        """What it was last given, in words."""
        ...

    def begin(self, setup: Setup) -> None:
        """Tells what the party is there for."""
        ...

    def act(self, asked: Asked) -> Answer:
        """The next act, or the end."""
        ...

    def close(self) -> None:
        """Lets go of whatever it holds; called once, however the run ended."""
        ...
