"""Keys and signatures: who said it, in bytes that only its holder could make.

    signature = Ed25519(seed, PAE(payload type, canonical body))
    PAE       = "DSSEv1" SP len(type) SP type SP len(body) SP body
    derived   = HKDF-SHA256(secret, info), one purpose per info

A signature is good if S < L and R equals, byte for byte, the encoding of
S·B − h·A (the equation without cofactor), and if the key A is fit to name
anybody. Unfit are the 14 encodings of the 8 points of small order, for which
one signature fits every message, and every y ≥ p, a second spelling. The
library takes both, so they are refused here: when a key is registered and
again at each verification. Keys of mixed order still bind key and message,
and stay.

The only module that knows `cryptography`. Not here: which key may sign what
(`tollbook.ledger`), what is derived for whom (`derive`), where a secret is kept.

Source: RFC 8032 5.1 (Ed25519); RFC 5869 (HKDF); DSSE v1, protocol.md (PAE);
 Chalkias, Garillot, Nikolaenko 2020, "Taming the many EdDSAs".
"""

from __future__ import annotations

import hmac
from typing import Final, final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .canonical import base64_bytes, base64_text
from .errors import DoorError, KeyRefusedError

SEED_BYTES: Final = 32
KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
SALT_BYTES: Final = 16

_PRIME = 2**255 - 19
_SIGN_BIT = 2**255
# ±y of the points of order 8: d·y⁴ + 2y² − 1 = 0, so that doubling gives y = 0 (tested).
_ORDER_8 = int("7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7", 16)
# 0: order 4; 1: order 1; p − 1: order 2; p and p + 1: 0 and 1 again, spelled beyond the field.
_SMALL_ORDER_Y = (0, 1, _PRIME - 1, _PRIME, _PRIME + 1, _ORDER_8, _PRIME - _ORDER_8)
SMALL_ORDER: Final = frozenset(
    (y + sign).to_bytes(KEY_BYTES, "little") for y in _SMALL_ORDER_Y for sign in (0, _SIGN_BIT)
)
"""The 14 encodings of points of small order, either sign bit."""

# p is ED FF…FF 7F, least byte first: y ≥ p only if every byte between is FF.
_PRIME_MIDDLE = b"\xff" * 30
_PRIME_LEAST = 0xED
_PRIME_LAST = 0x7F

_load_public = Ed25519PublicKey.from_public_bytes

PAYLOAD_TYPE: Final = {
    kind: f"application/vnd.tollbook.{kind}.v1+json" for kind in ("open", "message", "key")
}
"""The DSSE payload type of each kind of record that is signed."""
_PAE_PREFIX = {kind: f"DSSEv1 {len(name)} {name} ".encode() for kind, name in PAYLOAD_TYPE.items()}


@final
class SigningKey:
    """An Ed25519 key that can sign; shows its public half only."""

    __slots__ = ("_key", "public")

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public: Final = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    @classmethod
    def from_seed(cls, seed: bytes) -> SigningKey:
        """The key of a 32-byte seed.

        Raises:
            KeyRefusedError: `key.form`, a seed of another length.
        """
        if len(seed) != SEED_BYTES:
            raise KeyRefusedError("key.form", f"a seed has {SEED_BYTES} bytes, not {len(seed)}")
        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    def sign(self, data: bytes) -> bytes:
        """The 64-byte signature of data, the same each time."""
        return self._key.sign(data)

    def __repr__(self) -> str:
        return f"SigningKey(public={key_text(self.public)})"


def check_public(key: bytes) -> None:
    """Refuses a public key that must not stand for anybody.

    That the bytes decode to a point of the curve isn't checked: if they do
    not, no signature ever verifies.

    Raises:
        KeyRefusedError: `key.form`, `key.small_order` or `key.not_canonical`.
    """
    if len(key) != KEY_BYTES:
        raise KeyRefusedError("key.form", f"a public key has {KEY_BYTES} bytes, not {len(key)}")
    if key in SMALL_ORDER:
        raise KeyRefusedError(
            "key.small_order",
            f"public key `{key_text(key)}` is of small order: one signature fits every message",
            "make a key with `tollbook key new`",
        )
    if _beyond_field(key):
        raise KeyRefusedError(
            "key.not_canonical",
            f"public key `{key_text(key)}` spells a number that is not below 2^255 − 19",
            "make a key with `tollbook key new`",
        )


def verify(public: bytes, signature: bytes, data: bytes) -> bool:
    """Whether the signature is good; False for whatever is wrong, an unfit key too."""
    if public in SMALL_ORDER or (public[1:31] == _PRIME_MIDDLE and _beyond_field(public)):
        return False
    try:
        _load_public(public).verify(signature, data)
    except (InvalidSignature, ValueError):  # ValueError: the key isn't 32 bytes
        return False
    return True


def pae(kind: str, body: bytes) -> bytes:
    """The bytes that the signature of an `open`, `message` or `key` record covers."""
    return b"%b%d %b" % (_PAE_PREFIX[kind], len(body), body)


def pae_of(payload_type: str, body: bytes) -> bytes:
    """DSSE's pre-authentication encoding for any payload type; lengths count bytes."""
    name = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(name), name, len(body), body)


def hkdf(secret: bytes, info: bytes) -> bytes:
    """32 bytes derived from a secret for one purpose: HKDF-SHA256 with an empty salt."""
    return HKDF(algorithm=SHA256(), length=SEED_BYTES, salt=None, info=info).derive(secret)


def hmac16(secret: bytes, data: bytes) -> bytes:
    """The first 16 bytes of HMAC-SHA256."""
    return hmac.digest(secret, data, "sha256")[:SALT_BYTES]


def key_text(key: bytes) -> str:
    """A public key as padded standard base64."""
    return base64_text(key)


def key_bytes(text: str) -> bytes:
    """The 32 bytes of a public key's only spelling. Whether it is fit: `check_public`.

    Raises:
        KeyRefusedError: `key.form`.
    """
    key = _only_spelling(text, KEY_BYTES)
    if key is None:
        raise KeyRefusedError("key.form", f"a public key is {KEY_BYTES} bytes in padded standard base64")
    return key


def signature_text(signature: bytes) -> str:
    """A signature as padded standard base64."""
    return base64_text(signature)


def signature_bytes(text: str) -> bytes:
    """The 64 bytes of a signature's only spelling.

    Raises:
        DoorError: `signature.form`.
    """
    signature = _only_spelling(text, SIGNATURE_BYTES)
    if signature is None:
        raise DoorError("signature.form", f"a signature is {SIGNATURE_BYTES} bytes in padded standard base64")
    return signature


def _beyond_field(key: bytes) -> bool:
    """Whether 32 bytes give y ≥ p, the sign bit apart."""
    return key[1:31] == _PRIME_MIDDLE and key[31] & _PRIME_LAST == _PRIME_LAST and key[0] >= _PRIME_LEAST


def _only_spelling(text: str, size_bytes: int) -> bytes | None:
    # The length comes first, so nothing long is decoded.
    if len(text) != (size_bytes + 2) // 3 * 4:
        return None
    data = base64_bytes(text)
    return data if data is not None and len(data) == size_bytes else None
