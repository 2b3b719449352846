"""Keys: what is refused, what verifies, and what covers what.

The published Ed25519 vectors are in `tests/vectors/test_ed25519.py`.
"""

from __future__ import annotations

import base64
import hashlib

import pytest

from tollbook.protocol import keys
from tollbook.protocol.errors import DoorError, KeyRefusedError

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SQRT_MINUS_1 = pow(2, (P - 1) // 4, P)
KEY = keys.SigningKey.from_seed(bytes(range(32)))
DATA = b"one ledger, one price"
SIGNATURE = KEY.sign(DATA)


def encoded(y: int, sign: int = 0) -> bytes:
    return (y | sign << 255).to_bytes(32, "little")


def decoded(key: bytes) -> tuple[int, int] | None:
    """The point of an encoding, read as leniently as possible (y mod p, x = 0 with either sign)."""
    number = int.from_bytes(key, "little")
    y, sign = (number & (2**255 - 1)) % P, number >> 255
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * SQRT_MINUS_1 % P
    if (x * x - square) % P:
        return None
    return (P - x if x % 2 != sign and x else x), y


def doubled(point: tuple[int, int]) -> tuple[int, int]:
    x, y = point
    k = D * x * x * y * y % P
    return 2 * x * y * pow(1 + k, -1, P) % P, (y * y + x * x) * pow(1 - k, -1, P) % P


def is_small_order(key: bytes) -> bool:
    point = decoded(key)
    for _ in range(3):
        point = point and doubled(point)
    return point == (0, 1)


def test_the_small_order_encodings_are_14_and_of_order_8_at_most() -> None:
    assert len(keys.SMALL_ORDER) == 14
    assert all(is_small_order(key) for key in keys.SMALL_ORDER)


def test_no_other_encoding_beyond_the_field_is_of_small_order() -> None:
    beyond = {encoded(y, sign) for y in range(P, 2**255) for sign in (0, 1)}
    assert len(beyond) == 38
    assert {key for key in beyond if is_small_order(key)} == {
        encoded(P), encoded(P, 1), encoded(P + 1), encoded(P + 1, 1),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("code", "key"),
    [
        (None, KEY.public),
        (None, encoded(P - 2)),
        (None, encoded(P - 2, 1)),
        (None, encoded(2)),  # no point of the curve: verifies nothing, so it does no harm
        ("key.form", b""),
        ("key.form", KEY.public[:31]),
        ("key.form", KEY.public + b"\0"),
        ("key.not_canonical", encoded(P + 2)),
        ("key.not_canonical", encoded(P + 2, 1)),
        ("key.not_canonical", encoded(2**255 - 1)),
        ("key.not_canonical", b"\xff" * 32),
        *(("key.small_order", key) for key in sorted(keys.SMALL_ORDER)),
    ],
)
def test_check_public(code: str | None, key: bytes) -> None:
    assert refusal(key) == code


def refusal(key: bytes) -> str | None:
    try:
        keys.check_public(key)
    except KeyRefusedError as error:
        return error.code
    return None


def test_one_signature_would_fit_every_message_under_a_small_order_key() -> None:
    # What the refusal is for: S = 0 and R = A, the identity, solve the equation for any data.
    identity = encoded(1)
    forged = identity + bytes(32)
    keys._load_public(identity).verify(forged, b"any data")  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    assert not keys.verify(identity, forged, b"any data")


@pytest.mark.parametrize("key", sorted(keys.SMALL_ORDER))
def test_verify_refuses_small_order_keys(key: bytes) -> None:
    for r in keys.SMALL_ORDER:
        assert not any(keys.verify(key, r + bytes(32), data) for data in (b"", b"a", b"b", b"c"))


class Gullible:
    """Stands for a library that takes every key and every signature."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    def verify(self, signature: bytes, data: bytes) -> None:
        pass


def test_unfit_keys_never_reach_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nobody can sign under the keys with y ≥ p that aren't of small order, so no vector shows this.
    monkeypatch.setattr(keys, "_load_public", Gullible)
    unfit = sorted({encoded(y, sign) for y in range(P, 2**255) for sign in (0, 1)} | keys.SMALL_ORDER)
    assert len(unfit) == 38 + 10
    assert not any(keys.verify(key, SIGNATURE, DATA) for key in unfit)
    assert all(keys.verify(key, SIGNATURE, DATA) for key in (KEY.public, encoded(P - 2), encoded(P - 2, 1)))
    assert all(refusal(key) for key in unfit)


def test_sign_and_verify() -> None:
    assert keys.verify(KEY.public, SIGNATURE, DATA)
    assert KEY.sign(DATA) == SIGNATURE
    assert len(KEY.public) == keys.KEY_BYTES
    assert len(SIGNATURE) == keys.SIGNATURE_BYTES


S_PLUS_L = SIGNATURE[:32] + (int.from_bytes(SIGNATURE[32:], "little") + L).to_bytes(32, "little")


@pytest.mark.parametrize(
    ("public", "signature", "data"),
    [
        (KEY.public, S_PLUS_L, DATA),
        (KEY.public, SIGNATURE[:63], DATA),
        (KEY.public, SIGNATURE + b"\0", DATA),
        (KEY.public, b"", DATA),
        (KEY.public, bytes(64), DATA),
        (KEY.public, b"\xff" * 64, DATA),
        (KEY.public, SIGNATURE, DATA + b"\0"),
        (KEY.public, SIGNATURE, b""),
        (keys.SigningKey.from_seed(bytes(32)).public, SIGNATURE, DATA),
        (b"", SIGNATURE, DATA),
        (KEY.public[:31], SIGNATURE, DATA),
        (KEY.public + b"\0", SIGNATURE, DATA),
        (encoded(2), SIGNATURE, DATA),
        (b"\xff" * 32, SIGNATURE, DATA),
    ],
)
def test_verify_is_false_for_whatever_is_wrong(public: bytes, signature: bytes, data: bytes) -> None:
    assert keys.verify(public, signature, data) is False


@pytest.mark.parametrize("index", range(64))
def test_every_flipped_byte_breaks_a_signature(index: int) -> None:
    flipped = bytearray(SIGNATURE)
    flipped[index] ^= 1
    assert not keys.verify(KEY.public, bytes(flipped), DATA)


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_a_seed_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(KeyRefusedError) as caught:
        keys.SigningKey.from_seed(bytes(size))
    assert caught.value.code == "key.form"


def test_a_signing_key_does_not_show_its_seed() -> None:
    assert repr(KEY) == f"SigningKey(public={keys.key_text(KEY.public)})"


def test_pae() -> None:
    expected = b'DSSEv1 40 application/vnd.tollbook.message.v1+json 7 {"n":0}'
    assert keys.pae("message", b'{"n":0}') == expected
    for kind, payload_type in keys.PAYLOAD_TYPE.items():
        for body in (b"", b"\xe2\x82\xac", b"x" * 1_000):
            assert keys.pae(kind, body) == keys.pae_of(payload_type, body)
    assert sorted(keys.PAYLOAD_TYPE) == ["key", "message", "open"]
    assert keys.pae_of("é", "é".encode()) == b"DSSEv1 2 \xc3\xa9 2 \xc3\xa9"


def test_a_signature_for_one_kind_does_not_fit_another() -> None:
    signature = KEY.sign(keys.pae("message", DATA))
    assert keys.verify(KEY.public, signature, keys.pae("message", DATA))
    assert not keys.verify(KEY.public, signature, keys.pae("key", DATA))


def test_hkdf_agrees_with_rfc_5869_test_case_3() -> None:
    expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
    assert keys.hkdf(b"\x0b" * 22, b"").hex() == expected


def test_hkdf_is_two_hmacs() -> None:
    # RFC 5869 2.2 and 2.3, written out: extract with a salt of zeros, expand one block.
    secret, info = b"\x07" * 32, b'["ledger"]'
    key = hmac_sha256(bytes(32), secret)
    assert keys.hkdf(secret, info) == hmac_sha256(key, info + b"\x01")


def hmac_sha256(key: bytes, data: bytes) -> bytes:
    inner, outer = (bytes(a ^ pad for a in key.ljust(64, b"\0")) for pad in (0x36, 0x5C))
    return hashlib.sha256(outer + hashlib.sha256(inner + data).digest()).digest()


def test_hmac16_agrees_with_rfc_4231_test_case_2() -> None:
    assert keys.hmac16(b"Jefe", b"what do ya want for nothing?").hex() == "5bdcc146bf60754e6a042426089575c7"


def test_texts_are_padded_base64_and_come_back() -> None:
    assert keys.key_text(KEY.public) == base64.b64encode(KEY.public).decode()
    assert keys.key_bytes(keys.key_text(KEY.public)) == KEY.public
    assert keys.signature_bytes(keys.signature_text(SIGNATURE)) == SIGNATURE


def misspelled(data: bytes) -> list[str]:
    good = base64.b64encode(data).decode()
    padding = "=" * good.count("=")
    digits = good.rstrip("=")
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".index(digits[-1])
    return [
        "",
        digits,  # no padding
        good + "=",
        good + "\n",
        " " + good[1:],
        good[:-1] + "\n",
        digits[:-1] + "é" + padding,
        digits[:-1] + "-" + padding,  # the other alphabet
        digits[:-1] + "*" + padding,
        digits[:-1] + chr(0x2C) + padding,
        digits[:-1] + "\ud800" + padding,
        "=" * len(good),
        digits[:-2] + "=" + digits[-1] + padding,
        # One of the spare bits set: the decoder forgives it, so it would be a second spelling.
        digits[:-1] + "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[last | 1] + padding,
        base64.b64encode(data[:-1]).decode(),
        base64.b64encode(data + b"\0").decode(),
        base64.b64encode(data * 100_000).decode(),
        data.hex(),
    ]


@pytest.mark.parametrize("text", misspelled(KEY.public))
def test_key_bytes_takes_one_spelling(text: str) -> None:
    with pytest.raises(KeyRefusedError) as caught:
        keys.key_bytes(text)
    assert caught.value.code == "key.form"


@pytest.mark.parametrize("text", misspelled(SIGNATURE))
def test_signature_bytes_takes_one_spelling(text: str) -> None:
    with pytest.raises(DoorError) as caught:
        keys.signature_bytes(text)
    assert caught.value.code == "signature.form"


def test_a_lenient_decoder_would_take_a_second_spelling() -> None:
    # Otherwise the row above with a spare bit set would test nothing.
    assert base64.b64decode("A" * 42 + "B=") == bytes(32)
    with pytest.raises(KeyRefusedError):
        keys.key_bytes("A" * 42 + "B=")
