"""The desk at which a run is played: who says something says it here, and learns the decision.

    DryDesk        rules only: nothing is signed or kept     the linter's
    LedgerDesk     every message signed and recorded         a run's
    RecordedDesk   the messages of a record, one after the other: what is said must be what is there
                   conduct checks, and the beginning of a run that is resumed

All three answer alike, so one play can be rehearsed, recorded and checked.

Not here: who says what (`play`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ...ledger.audited import Deed
from ...ledger.findings import quoted
from ...protocol.bodies import Message
from ...protocol.canonical import MAX_PART_BYTES, encode_typed
from ...protocol.engine import decide
from ...protocol.tables import State
from ...protocol.world import Shown, World, part_fields
from ...scorers.view import evolve_again, show_again
from .environment import environment_note

if TYPE_CHECKING:
    from ...ledger.voice import Voice
    from ...ledger.writer import Writer
    from ...protocol.bodies import Outcome, Usage
    from ...protocol.tables import Facts

Action = msgspec.Struct | msgspec.Raw
"""A typed action whose parts hold their text, or the canonical bytes of one that the market doesn't know."""


class Said(NamedTuple):
    """A decided message, and what it showed its sender."""

    deed: Deed
    shown: Shown | None


class Gave(NamedTuple):
    """A turn of an agent, as evidence: what it was given, what it gave, and what that cost."""

    given: str
    gave: str | None
    usage: Usage | None


def fitting(text: str) -> str:
    r"""The text as a part can hold it: cut to 1 MiB, `…` at its end; what is no character as `\udc80`."""
    data = text.encode(errors="backslashreplace")
    if len(data) <= MAX_PART_BYTES:
        return data.decode()
    return data[: MAX_PART_BYTES - len("…".encode())].decode(errors="ignore") + "…"


class Departure(Exception):  # noqa: N818 - what was said isn't what is recorded: a finding, not a failure
    """What the play says next isn't what the record holds: at which record, by which code, and how."""

    def __init__(self, seq: int | None, code: str, text: str) -> None:
        super().__init__(text)
        self.seq = seq
        self.code = code
        self.text = text


class Desk(ABC):
    """Takes what the parties of one run say, in order."""

    world: World
    roles: Mapping[str, str]

    @property
    @abstractmethod
    def state(self) -> State:
        """The rows as they stand."""

    @abstractmethod
    def brief(self, party: str, text: str) -> None:
        """Tells one party alone what it is there for."""

    @abstractmethod
    def turn(self, party: str, gave: Gave, *, led: bool) -> None:
        """Keeps a turn of an agent, before the message that it ``led`` to, if it did."""

    @abstractmethod
    def say(self, party: str, action: Action, to: str | None, reply_to: int | None) -> Said:
        """Sends a message and has it decided."""

    @abstractmethod
    def seal(self, outcome: Outcome) -> None:
        """Ends the run."""


class DryDesk(Desk):
    """A run in which only the rules are at work. ``deeds`` are those so far."""

    def __init__(self, world: World, roles: Mapping[str, str], facts: Facts) -> None:
        self.world = world
        self.roles = roles
        self.deeds: list[Deed] = []
        self._state = State(facts)
        self._size = 1
        self._counts = dict.fromkeys(roles, 0)
        self._reached: dict[int, str] = {}

    @property
    def state(self) -> State:
        """As `Desk.state`."""
        return self._state

    def brief(self, party: str, text: str) -> None:
        """As `Desk.brief`: counted, so that records have the numbers that they would have in a ledger."""
        del party, text
        self._size += 1

    def turn(self, party: str, gave: Gave, *, led: bool) -> None:
        """As `Desk.turn`."""
        del party, gave, led
        self._size += 1

    def say(self, party: str, action: Action, to: str | None, reply_to: int | None) -> Said:
        """As `Desk.say`. A text's digest is without salt here, and stands for any."""
        seq = self._size
        texts: dict[str, str] = {}
        typed = None if isinstance(action, msgspec.Raw) else action
        if typed is not None:
            texts = {field: getattr(typed, field) for field in part_fields(type(typed))}
            digests = {field: sha256(text.encode()).hexdigest() for field, text in texts.items()}
            typed = msgspec.structs.replace(typed, **digests) if digests else typed
        message = Message(
            action=action if isinstance(action, msgspec.Raw) else _NOTHING,
            sender=party,
            key=None,
            n=self._counts[party],
            reply_to=reply_to,
            seen=(seq - 1, ""),
            to=to,
        )
        ruling = decide(self.world, self._state, message, typed, seq, self.roles, self._has_reached)
        self._size += 2
        self._counts[party] += 1
        if ruling.decision.outcome == "accepted" and to is not None:
            self._reached[seq] = to
        deed = Deed(seq, message, typed, texts, ruling.decision)
        self.deeds.append(deed)
        return Said(deed, ruling.shown)

    def seal(self, outcome: Outcome) -> None:
        """As `Desk.seal`."""
        del outcome

    def _has_reached(self, seq: int, party: str) -> bool:
        return self._reached.get(seq) == party


_NOTHING = msgspec.Raw(b"")


class LedgerDesk(Desk):
    """A run that is being written."""

    def __init__(self, writer: Writer) -> None:
        run = writer.run
        assert run.world is not None, "a run being written has its rules"
        assert run.state is not None, "a run being written has its rows"
        self.world = run.world
        self.roles = run.roles
        self._writer = writer
        self._state = run.state
        self._voices: dict[str, Voice] = {}

    @property
    def state(self) -> State:
        """As `Desk.state`."""
        return self._state

    def brief(self, party: str, text: str) -> None:
        """As `Desk.brief`."""
        self._writer.brief(party, text)

    def turn(self, party: str, gave: Gave, *, led: bool) -> None:
        """As `Desk.turn`."""
        n = self._writer.run.members[party].n if led else None
        self._writer.turn(party, n, given=gave.given, gave=gave.gave, usage=gave.usage)

    def say(self, party: str, action: Action, to: str | None, reply_to: int | None) -> Said:
        """As `Desk.say`."""
        voice = self._voices.get(party)
        if voice is None:
            voice = self._voices[party] = self._writer.voice(party)
        formed = voice.form(action, to=to, reply_to=reply_to)
        ruling = voice.send(formed)
        texts = {part.field: part.text.text for part in formed.parts}
        seq = ruling.decision.message
        return Said(Deed(seq, formed.message, formed.action, texts, ruling.decision), ruling.shown)

    def seal(self, outcome: Outcome) -> None:
        """As `Desk.seal`."""
        self._writer.seal(outcome, environment_note)


class RecordedDesk(Desk):
    """The deeds of a record, one after the other; what is said must be the next of them.

    ``withheld`` says whether a text couldn't be compared. Unless it ``shows``
    them, what queries showed isn't made again.
    """

    def __init__(
        self,
        world: World,
        roles: Mapping[str, str],
        facts: Facts,
        deeds: Sequence[Deed],
        *,
        shows: bool = True,
    ) -> None:
        self._shows = shows
        self.world = world
        self.roles = roles
        self.withheld = False
        self._state = State(facts)
        self._deeds = deque(deeds)

    @property
    def state(self) -> State:
        """As `Desk.state`."""
        return self._state

    @property
    def left(self) -> Sequence[Deed]:
        """The deeds that nothing has been said of yet."""
        return self._deeds

    def brief(self, party: str, text: str) -> None:
        """As `Desk.brief`: briefs are compared by who has the record."""

    def turn(self, party: str, gave: Gave, *, led: bool) -> None:
        """As `Desk.turn`: evidence, which nothing else rests on."""

    def say(self, party: str, action: Action, to: str | None, reply_to: int | None) -> Said:
        """As `Desk.say`, with the recorded decision.

        Raises:
            Departure: the record ends here, or holds another message.
        """
        if not self._deeds:
            raise Departure(None, "conduct.omitted", f"a message of `{party}` is missing at the end")
        deed = self._deeds[0]
        self._compare(deed, party, action, to, reply_to)
        self._deeds.popleft()
        return self._taken(deed)

    def take(self, party: str) -> Said:
        """The next deed as it stands, which must be this party's.

        Raises:
            Departure: it is another's.
        """
        deed = self._deeds[0]
        if deed.message.sender != party:
            text = f"a message of `{deed.message.sender}` is not due here"
            raise Departure(deed.seq, "conduct.extra", text)
        self._deeds.popleft()
        return self._taken(deed)

    def seal(self, outcome: Outcome) -> None:
        """As `Desk.seal`: outcomes are compared by who has the record."""

    def _taken(self, deed: Deed) -> Said:
        shown = show_again(self.world, self._state, deed, self.roles) if self._shows else None
        if not self._shows:
            evolve_again(self.world, self._state, deed)
        self._state.commit()
        return Said(deed, shown)

    def _compare(self, deed: Deed, party: str, action: Action, to: str | None, reply_to: int | None) -> None:
        message = deed.message
        if message.sender != party:
            text = f"a message of `{message.sender}` stands where one of `{party}` is due"
            raise Departure(deed.seq, "conduct.order", text)
        for name, due, found in (
            ("to", to, message.to),
            ("reply_to", reply_to, message.reply_to),
            ("key", None, message.key),
        ):
            if due != found:
                text = f"`{party}`: {name} is `{found}`, and `{due}` is due"
                raise Departure(deed.seq, f"conduct.{name}", text)
        if isinstance(action, msgspec.Raw):
            same = deed.action is None and bytes(action) == bytes(message.action)
        else:
            same = self._is_same(deed, action)
        if not same:
            found, due = _said(deed.action or message.action, deed.texts), _said(action, {})
            raise Departure(deed.seq, "conduct.action", f"`{party}` says {found}, and {due} is due")

    def _is_same(self, deed: Deed, action: msgspec.Struct) -> bool:
        fields = part_fields(type(action))
        if type(deed.action) is not type(action):
            return False
        known = {field: deed.texts[field] for field in fields if field in deed.texts}
        missing = {field: getattr(deed.action, field) for field in fields if field not in deed.texts}
        self.withheld = self.withheld or bool(missing)
        found = msgspec.structs.replace(deed.action, **known) if known else deed.action
        due = msgspec.structs.replace(action, **missing) if missing else action
        return found == due


def _said(action: Action, texts: Mapping[str, str]) -> str:
    """An action for a finding's text, its parts by their text where it is there."""
    fields = msgspec.json.decode(action if isinstance(action, msgspec.Raw) else encode_typed(action))
    return quoted({**fields, **texts})
