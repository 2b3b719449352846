"""What one secret gives: the keys, nonces and salts of a ledger's runs.

    secret ─HKDF─► ledger key        ["ledger"]
           ─HKDF─► nonce             ["nonce", digest of the open body, its nonce and keys left empty]
           ─HKDF─► party's seed      ["party", nonce, party]
           ─HMAC─► own part's salt   ["salt", nonce, party, kind, seq, field]
    party's seed ─HMAC─► message part's salt   ["salt", nonce, n, field]

Every list is written as canonical JSON, so no two purposes share an input.
The same secret and the same run give the same bytes; nothing that a run shows
gives any of it back.

Not here: where the secret comes from and is kept (`tollbook.ledger.secret`).
Outside parties bring their own keys and salts.

Source: RFC 5869 (HKDF); RFC 2104 (HMAC).
"""

from __future__ import annotations

from .canonical import encode_typed
from .errors import LedgerError
from .keys import SigningKey, hkdf, hmac16

SECRET_BYTES = 32


def ledger_key(secret: bytes) -> SigningKey:
    """The key that signs the ledger's opens, checkpoints, notes and receipts.

    Raises:
        LedgerError: `secret.length`, here and below, for a secret that isn't 32 bytes.
    """
    return SigningKey.from_seed(_derived(secret, "ledger"))


def nonce(secret: bytes, blank_open: str) -> str:
    """A run's nonce, in hex.

    ``blank_open`` is the digest of the `open` body whose nonce and keys (the
    ledger's and each party's) are empty texts, so the nonce follows from what
    the run is and the keys may follow from the nonce.
    """
    return _derived(secret, "nonce", blank_open).hex()


def party_seed(secret: bytes, nonce: str, party: str) -> bytes:
    """The 32-byte seed of a party that is played in process."""
    return _derived(secret, "party", nonce, party)


def party_key(secret: bytes, nonce: str, party: str) -> SigningKey:
    """The key of a party that is played in process."""
    return SigningKey.from_seed(party_seed(secret, nonce, party))


def own_salt(secret: bytes, nonce: str, party: str, kind: str, seq: int, field: str) -> str:  # noqa: PLR0913 - a place
    """The salt, in hex, of a part that the ledger writes: in the `brief` or `turn` at ``seq``."""
    return hmac16(_whole(secret), encode_typed(("salt", nonce, party, kind, seq, field))).hex()


def message_salt(seed: bytes, nonce: str, n: int, field: str) -> str:
    """The salt, in hex, of a part of a party's message ``n``; ``seed`` is that party's."""
    return hmac16(_whole(seed), encode_typed(("salt", nonce, n, field))).hex()


def _derived(secret: bytes, *purpose: str) -> bytes:
    return hkdf(_whole(secret), encode_typed(purpose))


def _whole(secret: bytes) -> bytes:
    # Both functions would take a short or empty key without a word.
    if len(secret) != SECRET_BYTES:
        raise LedgerError("secret.length", f"a secret has {SECRET_BYTES} bytes, not {len(secret)}")
    return secret
