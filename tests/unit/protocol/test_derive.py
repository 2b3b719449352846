"""Derivations: fixed bytes for a fixed secret, and nothing shared between purposes."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest

from tollbook.protocol import derive
from tollbook.protocol.errors import LedgerError

SECRET = bytes(range(32))
BLANK_OPEN = "0" * 64
NONCE = derive.nonce(SECRET, BLANK_OPEN)
LEDGER = derive.ledger_key(SECRET)
BUYER = derive.party_key(SECRET, NONCE, "buyer")
SEED = derive.party_seed(SECRET, NONCE, "buyer")


def hmac_sha256(key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, hashlib.sha256).digest()


def hkdf(secret: bytes, *purpose: str) -> bytes:
    """RFC 5869 2.2 and 2.3 written out, for one block and an empty salt."""
    info = json.dumps(purpose, separators=(",", ":")).encode()
    return hmac_sha256(hmac_sha256(bytes(32), secret), info + b"\x01")


def salt(key: bytes, *place: str | int) -> str:
    return hmac_sha256(key, json.dumps(place, separators=(",", ":")).encode())[:16].hex()


def test_the_format_written_out_gives_the_same() -> None:
    assert hkdf(SECRET, "nonce", BLANK_OPEN).hex() == NONCE
    assert hkdf(SECRET, "party", NONCE, "buyer") == SEED
    assert salt(SECRET, "salt", NONCE, "buyer", "turn", 7, "gave") == derive.own_salt(
        SECRET, NONCE, "buyer", "turn", 7, "gave"
    )
    assert salt(SEED, "salt", NONCE, 3, "note") == derive.message_salt(SEED, NONCE, 3, "note")


FIXED = [
    ("221fd04f2b7409b9f6dbe50beddc869f1faecc13907393f510cb2a074c66a52c", LEDGER.public.hex()),
    ("c9b0aa987fbf8bb27b61e2567a31c5fd0a6f12d3590568f59388fde70b579d23", NONCE),
    ("98f5d792f347ea5fa2c4f262f38855ebe7a0b916a51e6ff9dbb2fcd465e5a065", BUYER.public.hex()),
    ("2f7217c79377424b21379b2708b6e1bb", derive.own_salt(SECRET, NONCE, "buyer", "brief", 1, "part")),
    ("074863f4e6395a9e5ef60fe687f911eb", derive.message_salt(SEED, NONCE, 0, "note")),
]


@pytest.mark.parametrize(("expected", "derived"), FIXED)
def test_fixed_bytes(expected: str, derived: str) -> None:
    # Part of the format: a change here changes every run made again from its secret.
    assert derived == expected


def test_keys_sign_with_their_seeds() -> None:
    assert derive.party_key(SECRET, NONCE, "buyer").sign(b"x") == derive.SigningKey.from_seed(SEED).sign(b"x")


def test_every_argument_counts() -> None:
    other = bytes(32)
    keys = [
        derive.ledger_key(SECRET).public,
        derive.ledger_key(other).public,
        derive.party_key(SECRET, NONCE, "buyer").public,
        derive.party_key(SECRET, NONCE, "seller").public,
        derive.party_key(SECRET, BLANK_OPEN, "buyer").public,
        derive.party_key(other, NONCE, "buyer").public,
        # What joined texts would confuse, lists don't.
        derive.party_key(SECRET, "a", "bc").public,
        derive.party_key(SECRET, "ab", "c").public,
        derive.party_key(SECRET, 'a","b', "c").public,
        derive.party_key(SECRET, "a", 'b","c').public,
    ]
    texts = [
        NONCE,
        derive.nonce(other, BLANK_OPEN),
        derive.nonce(SECRET, "1" * 64),
        derive.own_salt(SECRET, NONCE, "buyer", "turn", 7, "gave"),
        derive.own_salt(other, NONCE, "buyer", "turn", 7, "gave"),
        derive.own_salt(SECRET, BLANK_OPEN, "buyer", "turn", 7, "gave"),
        derive.own_salt(SECRET, NONCE, "seller", "turn", 7, "gave"),
        derive.own_salt(SECRET, NONCE, "buyer", "brief", 7, "gave"),
        derive.own_salt(SECRET, NONCE, "buyer", "turn", 8, "gave"),
        derive.own_salt(SECRET, NONCE, "buyer", "turn", 7, "given"),
        derive.message_salt(SEED, NONCE, 7, "note"),
        derive.message_salt(other, NONCE, 7, "note"),
        derive.message_salt(SEED, BLANK_OPEN, 7, "note"),
        derive.message_salt(SEED, NONCE, 8, "note"),
        derive.message_salt(SEED, NONCE, 7, "text"),
    ]
    assert len(set(keys)) == len(keys)
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("size", [0, 16, 31, 33, 64])
def test_a_short_or_long_secret_is_refused(size: int) -> None:
    short = bytes(size)
    for call in (
        lambda: derive.ledger_key(short),
        lambda: derive.nonce(short, BLANK_OPEN),
        lambda: derive.party_seed(short, NONCE, "buyer"),
        lambda: derive.party_key(short, NONCE, "buyer"),
        lambda: derive.own_salt(short, NONCE, "buyer", "turn", 7, "gave"),
        lambda: derive.message_salt(short, NONCE, 7, "note"),
    ):
        with pytest.raises(LedgerError) as caught:
            call()
        assert caught.value.code == "secret.length"
