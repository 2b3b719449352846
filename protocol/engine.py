"""One message through the law: the checks every market shares, then the market's own.

    message ─► to ─► reply_to ─► action known? formed? ─► key used before? ─► role ─► market's rules
            ─► events staged ─► invariants ─► shown ─► commit ─► decision

The order of the checks is the precedence of the refusals. A refusal changes
nothing. All events of a decision apply, or none does.

Not here: whether the message is authentic (the door, `tollbook.ledger.run`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, cast

import msgspec

from .bodies import Decision, Message
from .canonical import MAX_TEXT_BYTES, Id, admit_any, digest_typed, encode_typed
from .errors import CanonicalError
from .tables import NO_CHANGE, State
from .world import IDEMPOTENCY, Accepted, Act, Refusal, Remembered, Shown, World, kind_of

_MAX_DECISION_BYTES = 65_000  # with the record around it, within the format's 65,535


class Ruling(msgspec.Struct, frozen=True):
    """A decision, its canonical bytes, and what the sender is shown (None for nothing)."""

    decision: Decision
    body: bytes
    shown: Shown | None


class _Kind(msgspec.Struct):
    kind: Id


_KIND = msgspec.json.Decoder(_Kind)


def read_action(world: World, raw: bytes) -> Any:  # noqa: ANN401 - one of the world's actions
    """The typed action, or None when it is well formed but not one that this world knows.

    Raises:
        CanonicalError: the bytes are not canonical, or not an object with a `kind`.
    """
    try:
        action = world.action_decoder.decode(raw)
        if encode_typed(action) == raw:
            return None if len(raw) > MAX_TEXT_BYTES and _long_text(action) else action
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    admit_any(raw)
    admit_kind(raw)
    return None


def admit_kind(raw: bytes) -> str:
    """The `kind` of an action of any form.

    Raises:
        CanonicalError: not an object, or its `kind` is missing or not an id.
    """
    try:
        return _KIND.decode(raw).kind
    except msgspec.DecodeError as error:
        raise CanonicalError("canonical.form", f"an action needs a `kind`: {error}") from None


def decide(  # noqa: PLR0913 - a message, its place and the run around it
    world: World,
    state: State,
    message: Message,
    action: msgspec.Struct | None,
    seq: int,
    roles: Mapping[str, str],
    reached: Callable[[int, str], bool],
) -> Ruling:
    """Rules on the message at `seq` and commits what it changes.

    ``action`` is what `read_action` gave. ``roles`` gives each party's role;
    ``reached(seq, party)`` says whether the record at that place is an accepted
    message sent to that party.
    """
    if message.to is not None and (message.to not in roles or message.to == message.sender):
        return _refused(Refusal("message.to", {"to": message.to}), seq)
    if message.reply_to is not None and not reached(message.reply_to, message.sender):
        return _refused(Refusal("message.reply_to", {"reply_to": message.reply_to}), seq)
    if action is None:
        kind = admit_kind(bytes(message.action))
        rule = "action.invalid" if kind in world.kinds else "action.unknown"
        return _refused(Refusal(rule, {"kind": kind}), seq)
    if message.key is not None:
        again = _remembered(state, message, seq)
        if again is not None:
            return again
    role = roles[message.sender]
    allowed = world.senders.get(type(action))
    if allowed is not None and role not in allowed:
        return _refused(Refusal("party.role", {"kind": kind_of(type(action)), "role": role}), seq)
    act = Act(action, message.sender, role, seq, message.to)
    verdict = world.decide(state, act)
    if isinstance(verdict, Refusal):
        return _refused(verdict, seq)
    return _apply(world, state, message, act, verdict)


def _long_text(value: object) -> bool:
    if isinstance(value, str):
        return len(value.encode()) > MAX_TEXT_BYTES
    if isinstance(value, (list, tuple)):
        return any(map(_long_text, cast("Sequence[object]", value)))
    if isinstance(value, dict):
        return any(map(_long_text, cast("Mapping[str, object]", value).values()))
    if isinstance(value, msgspec.Struct):
        return any(_long_text(getattr(value, field)) for field in value.__struct_fields__)
    return False


def _apply(world: World, state: State, message: Message, act: Act, verdict: Accepted) -> Ruling:
    for event in verdict.events:
        world.evolve(state, event)
    broken = world.broken(state) if verdict.events else None
    if broken is not None:
        state.discard()
        return _refused(Refusal(f"invariant.{broken}", {}), act.seq)
    shown = world.show(state, act, verdict.events)
    result = shown.digest if shown else None
    if message.key is not None:
        remembered = Remembered(_action_digest(message), act.seq, result)
        state.put(IDEMPOTENCY, _key_row(message), remembered)
    decision = Decision(
        delta=state.delta(),
        detail={},
        events=cast("list[msgspec.Raw]", list(verdict.events)),
        message=act.seq,
        outcome="accepted",
        reads=shown.reads if shown else [],
        result=result,
        rule=None,
    )
    body = encode_typed(decision)
    if len(body) > _MAX_DECISION_BYTES:
        state.discard()
        return _refused(Refusal("decision.size", {}), act.seq)
    state.commit()
    return Ruling(decision, body, shown)


def _refused(refusal: Refusal, seq: int) -> Ruling:
    decision = Decision(
        delta=NO_CHANGE,
        detail=refusal.detail,
        events=[],
        message=seq,
        outcome="refused",
        reads=[],
        result=None,
        rule=refusal.rule,
    )
    return Ruling(decision, encode_typed(decision), None)


def _remembered(state: State, message: Message, seq: int) -> Ruling | None:
    """The ruling on a key that was used before: a retry, or a refusal of another action."""
    row: Remembered | None = state.get(IDEMPOTENCY, _key_row(message))
    if row is None:
        return None
    if row.action != _action_digest(message):
        return _refused(Refusal("message.key", {"message": row.message}), seq)
    decision = Decision(
        delta=NO_CHANGE,
        detail={"message": row.message},
        events=[],
        message=seq,
        outcome="accepted",
        reads=[],
        result=row.result,
        rule="message.retry",
    )
    return Ruling(decision, encode_typed(decision), None)


def _key_row(message: Message) -> str:
    return digest_typed((message.sender, message.key))


def _action_digest(message: Message) -> str:
    return sha256(encode_typed((message.to, message.reply_to, message.action))).hexdigest()
