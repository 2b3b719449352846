"""The bodies of records: what is said, and what the law makes of it.

    open · brief · message · decision · turn · key · seal

Every field is always written, so a body has one canonical form. The field
orders here carry no meaning: canonical bytes sort them.

Not here: the record around a body (`tollbook.ledger.records`), the actions a
message may carry (each market's `actions`).
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from .canonical import Hex, Id, Index, Integer, digest_typed

Scalar = str | int | bool | None
KeyText = Annotated[str, msgspec.Meta(min_length=44, max_length=44)]
LedgerName = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9._/-]{0,63}(?!\n)$")]
Text = Annotated[str, msgspec.Meta(max_length=2_000)]
Part = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}(?!\n)$", extra={"part": True})]
"""An action's field that holds the digest of a part: free text that no rule reads."""

Made = Annotated[str, msgspec.Meta(extra={"made": True})]
"""An event's field that holds the key of a row that the event makes."""

Outcome = Literal["completed", "turn_limit", "agent_stopped", "agent_failed", "abandoned", "imported"]


class _Body(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class LedgerKey(_Body, frozen=True):
    """Who keeps the run: the ledger's name and its public key."""

    key: KeyText
    name: LedgerName


class Agent(_Body, frozen=True):
    """What plays a party, as the operator states it (evidence, not proof)."""

    model: Text
    name: Text
    settings: dict[str, Text]
    version: Text


class Party(_Body, frozen=True):
    """One party of the run and the key it signs with."""

    agent: Agent
    id: Id
    key: KeyText
    role: Id


class WorldRef(_Body, frozen=True):
    """The rules that hold: a world's name, version and parameters."""

    name: Id
    params: dict[str, Scalar]
    version: Index


class TaskRef(_Body, frozen=True):
    """What was asked: ``digest`` is SHA-256 over the task file's bytes."""

    case: Id
    digest: Hex
    id: Id


class Source(_Body, frozen=True):
    """Where an imported run was read: the digest of the file's content, and its place in it."""

    digest: Hex
    form: Id
    index: Index
    name: Text


class Origin(_Body, frozen=True):
    """Whether the run was played here, or imported from a record others made."""

    custody: Literal["played", "imported"]
    source: Source | None


class Open(_Body, frozen=True):
    """The first record's body: everything that the run rests on. Signed by the ledger."""

    catalog: None
    facts: Hex
    ledger: LedgerKey
    nonce: Hex
    origin: Origin
    parent: None
    parties: Annotated[list[Party], msgspec.Meta(min_length=1, max_length=10_000)]
    seed: Hex
    task: TaskRef | None
    trial: Index
    world: WorldRef


class Brief(_Body, frozen=True):
    """What one party alone was told, its mandate included, as a part."""

    part: Hex
    party: Id


class Message(_Body, frozen=True):
    """One act of a party, reading included. Signed by that party.

    ``n`` counts the sender's messages from 0; ``seen`` is (seq, leaf) of the
    last record when the sender was asked.
    """

    action: msgspec.Raw
    sender: str = msgspec.field(name="from")
    key: Id | None
    n: Index
    reply_to: Index | None
    seen: tuple[Index, str]
    to: Id | None


class Decision(_Body, frozen=True):
    """What the market's rules made of the message right before it.

    ``events`` are encoded from the market's own structs; a reader that doesn't
    know the market keeps them as bytes.
    """

    delta: str
    detail: dict[str, Scalar | list[str]]
    events: list[msgspec.Raw]
    message: Index
    outcome: Literal["accepted", "refused"]
    reads: list[tuple[str, str]]
    result: str | None
    rule: str | None


class Usage(_Body, frozen=True):
    """What a turn cost, as the operator states it."""

    cost_micros: Index | None
    input_tokens: Index | None
    output_tokens: Index | None


class Turn(_Body, frozen=True):
    """What an agent was given and gave, as parts: evidence beside the messages."""

    gave: Hex | None
    given: Hex | None
    n: Index | None
    party: Id
    usage: Usage | None


class KeyChange(_Body, frozen=True):
    """A key added to a party or revoked, valid from the next record.

    ``by`` says who signs: the party by a key it holds, or the ledger, which
    may only revoke. ``n`` goes on with the signer's own count.
    """

    by: Literal["party", "ledger"]
    change: Literal["add", "revoke"]
    key: KeyText
    n: Index
    party: Id
    seen: tuple[Index, Hex]


class Seal(_Body, frozen=True):
    """The last record's body: how the run ended and what it left."""

    outcome: Outcome
    root: Hex
    rows: Integer


class PartText(_Body, frozen=True):
    """Free text beside a record: its salt keeps the digest from being guessed."""

    salt: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}(?!\n)$")]
    text: str

    @property
    def digest(self) -> str:
        """The digest that the record's field holds."""
        return digest_typed((self.salt, self.text))
