"""What goes over the wire, as JSON: requests, each signed by the party itself, and faults.

    envelope   {payload: base64, payloadType, signatures: [{keyid?, sig}],      a DSSE envelope
                parts?: [{field, salt, text}], since?: size of the checkpoint held}
    payload    a message: the canonical body of the record it becomes      …message.v1+json
               or a request: {kind: open, …} · {kind: end, …}              …request.v1+json
    fault      {code, text, hint}

A payload is bytes, signed as they stand, so whoever passes an envelope on
changes nothing. A request is canonical JSON too, and names the session or the
run that it is for: it fits no other.

Not here: HTTP itself (`app`), what an answer holds (`answers`).

Source: DSSE v1, envelope.md.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from ...ledger.records import Part, read_body
from ...protocol.bodies import Agent, KeyText, PartText
from ...protocol.canonical import MAX_RECORD_BYTES, Hex, Id, Index, base64_bytes, base64_text
from ...protocol.errors import CanonicalError, TollbookError
from ...protocol.keys import PAYLOAD_TYPE

MESSAGE_TYPE: Final = PAYLOAD_TYPE["message"]
REQUEST_TYPE: Final = "application/vnd.tollbook.request.v1+json"


class Opening(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="open"):
    """Asks for a run of a case. ``id`` is the party's own name for this request, ``session`` the host's."""

    agent: Agent
    case: Id
    id: Id
    key: KeyText
    session: Hex
    task: Id


class Leaving(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="end"):
    """Says that the party does no more in a run."""

    run: Hex
    seen: tuple[Index, Hex]


class _Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sig: str
    keyid: str = ""


class _PartDoc(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    field: str
    salt: str
    text: str


class _Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    payload: str
    payload_type: str
    signatures: list[_Signature]
    parts: list[_PartDoc] = []
    since: Index | None = None


class Envelope(NamedTuple):
    """A signed payload as it came, the signature not judged yet."""

    payload_type: str
    payload: bytes
    sig: str
    parts: tuple[Part, ...]
    since: int | None


class Fault(Exception):  # noqa: N818 - what a request is answered with, no failure of ours
    """Why a request is turned away: an HTTP status, and the three fields of its answer."""

    def __init__(
        self, status: int, code: str, text: str, hint: str, *, seconds: float | None = None
    ) -> None:
        """``seconds`` says when to try again."""
        super().__init__(text)
        self.status = status
        self.code = code
        self.text = text
        self.hint = hint
        self.seconds = seconds

    def document(self) -> bytes:
        """The answer's body."""
        return msgspec.json.encode({"code": self.code, "text": self.text, "hint": self.hint})


_ENVELOPE = msgspec.json.Decoder(_Envelope)
_REQUEST = msgspec.json.Decoder(Opening | Leaving)
_STATUS = {
    "canonical.size": 413,
    "message.from": 403,
    "message.n": 409,
    "message.seen": 409,
    "part.size": 413,
    "run.exists": 409,
    "run.over": 410,
}
_AREAS = {"canonical": 422, "key": 403, "message": 422, "part": 422, "signature": 403}
_FORM_HINT = "send a DSSE envelope {payload, payloadType, signatures} with one signature; see docs/SERVE.md"


def read_envelope(data: bytes, payload_type: str) -> Envelope:
    """The envelope in a request's body.

    Raises:
        Fault: it is none, of another payload type, or not signed by one key.
    """
    try:
        envelope = _ENVELOPE.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Fault(400, "serve.form", f"the body is no envelope: {error}".lower(), _FORM_HINT) from None
    if envelope.payload_type != payload_type:
        what = f"the payload type is not `{payload_type}`"
        raise Fault(400, "serve.form", what, "sign the payload under the type that this address takes")
    payload = base64_bytes(envelope.payload)
    if payload is None:
        raise Fault(400, "serve.form", "the payload is not padded standard base64", _FORM_HINT)
    if len(payload) > MAX_RECORD_BYTES:
        what = f"a payload is over the limit of {MAX_RECORD_BYTES} bytes"
        raise Fault(413, "canonical.size", what, "put long texts into parts")
    if not envelope.signatures:
        hint = "sign the PAE of the payload with the key that you opened the run with"
        raise Fault(403, "signature.missing", "the payload is not signed", hint)
    if len(envelope.signatures) > 1:
        raise Fault(400, "serve.form", "there is more than one signature", _FORM_HINT)
    return Envelope(
        payload_type, payload, envelope.signatures[0].sig, _parts(envelope.parts), envelope.since
    )


def read_request(envelope: Envelope) -> Opening | Leaving:
    """The request in an envelope.

    Raises:
        Fault: it is none, or not canonical.
    """
    try:
        return read_body(envelope.payload, _REQUEST)
    except CanonicalError as error:
        hint = error.hint or "see docs/SERVE.md for the fields of a request"
        raise Fault(422, error.code, error.text, hint) from None


def write_envelope(payload_type: str, payload: bytes, sig: str, parts: tuple[Part, ...] = ()) -> bytes:
    """The body of a request."""
    return msgspec.json.encode(
        {
            "payload": base64_text(payload),
            "payloadType": payload_type,
            "signatures": [{"sig": sig}],
            "parts": [
                {"field": part.field, "salt": part.text.salt, "text": part.text.text} for part in parts
            ],
        }
    )


def fault_of(error: TollbookError) -> Fault:
    """How a request is answered to which the door, or the ledger, says no."""
    status = _STATUS.get(error.code) or _AREAS.get(error.code.partition(".")[0], 503)
    return Fault(status, error.code, error.text, error.hint or _HINTS.get(error.code, _HINT))


_HINT = "GET the run for where it stands"
_HINTS = {
    "message.from": "a message is from the party whose key you hold",
    "message.n": "`n` counts your messages from 0; GET the run for the next",
    "message.seen": "`seen` is that of the answer before; GET the run for it",
    "signature.invalid": "sign DSSE's PAE of payload type and payload, with the key that opened the run",
    "signature.form": "a signature is 64 bytes in padded standard base64",
    "part.orphan": "send the parts that the message's fields name, each once",
    "part.digest": "a field holds SHA-256 of canonical [salt, text]",
}


def _parts(docs: list[_PartDoc]) -> tuple[Part, ...]:
    try:
        return tuple(
            Part(doc.field, msgspec.convert({"salt": doc.salt, "text": doc.text}, PartText)) for doc in docs
        )
    except msgspec.ValidationError as error:
        hint = "a part is {field, salt, text}; the salt is 16 bytes in lower-case hex"
        raise Fault(422, "part.form", f"a part has no proper form: {error}".lower(), hint) from None
