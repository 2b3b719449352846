"""The voice of a party played in this process: it numbers, salts and signs what the party says.

    action ─► texts become parts ─► message n, seen the last record ─► signed ─► the door

Whoever has the party's seed speaks for it; the writer gives out those that
follow from the ledger's secret. Not here: the door, which a voice passes like
anybody else (`writer`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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


class Voice:
    """A party played in this process: numbers, salts and signs what it says."""

    def __init__(self, writer: Writer, party: str, seed: bytes) -> None:
        self._writer = writer
        self._party = party
        self._seed = seed
        self._key = SigningKey.from_seed(seed)
        self.public = self._key.public
        self._nonce = writer.opened.nonce

    def say(
        self, action: msgspec.Struct, *, to: str | None, reply_to: int | None = None, key: str | None = None
    ) -> Ruling:
        """Sends an action; fields that are parts hold their text, which goes beside the record.

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
        n = member.n
        parts = [
            Part(field, part_text(message_salt(self._seed, self._nonce, n, field), getattr(action, field)))
            for field in part_fields(type(action))
        ]
        if parts:
            action = msgspec.structs.replace(action, **{part.field: part.text.digest for part in parts})
        message = Message(
            action=msgspec.Raw(encode(action)),
            sender=self._party,
            key=key,
            n=n,
            reply_to=reply_to,
            seen=(run.size - 1, run.prev),
            to=to,
        )
        body = encode_typed(message)
        sig = signature_text(self._key.sign(pae("message", body)))
        return self._writer.admit(body, sig, parts, verified=True)
