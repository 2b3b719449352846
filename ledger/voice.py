"""The voice of a party played in this process: it numbers, salts and signs what the party says.

    action ─► texts become parts ─► message n, seen the last record ─► signed ─► the door

Whoever has the party's seed speaks for it; the writer gives out those that
follow from the ledger's secret. Not here: the door, which a voice passes like
anybody else (`writer`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ..protocol.bodies import Message
from ..protocol.canonical import encode, encode_typed
from ..protocol.derive import message_salt
from ..protocol.errors import DoorError
from ..protocol.keys import SigningKey, pae, signature_text
from ..protocol.world import part_fields
from .parts import part_text
from .records import Part

if TYPE_CHECKING:
    from ..protocol.engine import Ruling
    from .writer import Writer


class Formed(NamedTuple):
    """A message ready for the door: with its texts as parts beside it, numbered and signed."""

    message: Message
    action: msgspec.Struct | None
    body: bytes
    sig: str
    parts: tuple[Part, ...]


class Voice:
    """A party played in this process: numbers, salts and signs what it says."""

    def __init__(self, writer: Writer, party: str, seed: bytes) -> None:
        self._writer = writer
        self._party = party
        self._seed = seed
        self._key = SigningKey.from_seed(seed)
        self.public = self._key.public
        self._nonce = writer.opened.nonce

    def form(
        self,
        action: msgspec.Struct | msgspec.Raw,
        *,
        to: str | None,
        reply_to: int | None = None,
        key: str | None = None,
    ) -> Formed:
        """The party's next message, signed; of an action's fields that are parts the text goes beside it.

        A raw action is the canonical bytes of one that the market doesn't know.

        Raises:
            CanonicalError: a value that has no canonical form, or is too large.
            DoorError: the key was revoked, or the party brought its own.
        """
        run = self._writer.run
        member = run.members[self._party]
        if self.public not in member.keys:
            raise DoorError(
                "signature.invalid", f"the key that `{self._party}` signs with here is not its own"
            )
        typed = None if isinstance(action, msgspec.Raw) else action
        parts = () if typed is None else self._parts(typed, member.n)
        if typed is not None and parts:
            typed = msgspec.structs.replace(typed, **{part.field: part.text.digest for part in parts})
        message = Message(
            action=action if isinstance(action, msgspec.Raw) else msgspec.Raw(encode(typed)),
            sender=self._party,
            key=key,
            n=member.n,
            reply_to=reply_to,
            seen=(run.size - 1, run.prev),
            to=to,
        )
        body = encode_typed(message)
        return Formed(message, typed, body, self._signature(body), parts)

    def say(
        self, action: msgspec.Struct, *, to: str | None, reply_to: int | None = None, key: str | None = None
    ) -> Ruling:
        """Sends an action, as `form` makes it.

        Raises:
            CanonicalError: as `form`.
            DoorError: as `form`.
        """
        return self.send(self.form(action, to=to, reply_to=reply_to, key=key))

    def send(self, formed: Formed) -> Ruling:
        """Sends a message that was formed and nothing said since."""
        return self._writer.admit(formed.body, formed.sig, formed.parts, verified=True)

    def _signature(self, body: bytes) -> str:
        return signature_text(self._key.sign(pae("message", body)))

    def _parts(self, action: msgspec.Struct, n: int) -> tuple[Part, ...]:
        return tuple(
            Part(field, part_text(message_salt(self._seed, self._nonce, n, field), getattr(action, field)))
            for field in part_fields(type(action))
        )
