"""Ed25519: what our key policy makes of published signatures and edge cases.

The policy (see `tollbook.protocol.keys`): no key of small order, no y ≥ p, the
equation without cofactor, R compared as bytes, S < L.

Source: RFC 8032 7.1; ed25519.cr.yp.to sign.input; C2SP/wycheproof; C2SP/CCTV; Chalkias,
Garillot, Nikolaenko 2020, "Taming the many EdDSAs" (speccheck).
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tollbook.protocol import keys
from tollbook.protocol.errors import KeyRefusedError

pytestmark = pytest.mark.shared


def load(shared: Path, name: str) -> Any:
    return json.loads((shared / "vectors/ed25519" / name).read_text())


def refusal(key: bytes) -> str | None:
    try:
        keys.check_public(key)
    except KeyRefusedError as error:
        return error.code
    return None


def assert_signs(seed: str, public: str, data: str, signature: str) -> None:
    key = keys.SigningKey.from_seed(bytes.fromhex(seed))
    assert key.public.hex() == public
    assert key.sign(bytes.fromhex(data)).hex() == signature
    assert keys.verify(key.public, bytes.fromhex(signature), bytes.fromhex(data))
    assert refusal(key.public) is None


def test_rfc_8032_section_7_1(shared: Path) -> None:
    cases = load(shared, "rfc8032_section7_1.json")
    assert [case["name"] for case in cases] == ["TEST 1", "TEST 2", "TEST 3", "TEST 1024"]
    for case in cases:
        assert_signs(case["secret"], case["public"], case["message"], case["signature"])


def test_sign_input_first_256(shared: Path) -> None:
    lines = (shared / "vectors/ed25519/sign_input_first256.txt").read_text().splitlines()
    assert len(lines) == 256
    for size, line in enumerate(lines):
        pair, public, data, signed, _ = line.split(":")
        assert len(data) == 2 * size
        assert_signs(pair[:64], public, data, signed[:128])


def test_wycheproof(shared: Path) -> None:
    verdicts = Counter(
        (test["result"], keys.verify(public, bytes.fromhex(test["sig"]), bytes.fromhex(test["msg"])))
        for group in load(shared, "wycheproof_ed25519_test.json")["testGroups"]
        for public in [bytes.fromhex(group["publicKey"]["pk"])]
        for test in group["tests"]
    )
    assert verdicts == {("valid", True): 88, ("invalid", False): 63}


def test_cctv(shared: Path) -> None:
    # `cryptography` alone takes 208 of them: 122 under a key of small order.
    cases = load(shared, "cctv_ed25519vectors.json")
    taken = [
        frozenset(case["flags"] or ())
        for case in cases
        if keys.verify(bytes.fromhex(case["key"]), bytes.fromhex(case["sig"]), case["msg"].encode())
    ]
    assert (len(cases), len(taken)) == (914, 86)
    assert sum("low_order_component_A" in flags for flags in taken) == 84  # keys of mixed order stay
    for flag in ("low_order_A", "non_canonical_A", "non_canonical_R", "low_order_residue", "reencoded_k"):
        assert not any(flag in flags for flags in taken), flag


def test_cctv_keys_of_small_order(shared: Path) -> None:
    cases = load(shared, "cctv_ed25519vectors.json")
    expected = {bytes.fromhex(case["key"]) for case in cases if "low_order_A" in (case["flags"] or ())}
    assert expected == keys.SMALL_ORDER
    codes = Counter(refusal(bytes.fromhex(case["key"])) for case in cases)
    assert codes == {"key.small_order": 526, None: 388}


def test_speccheck(shared: Path) -> None:
    # 0 and 1: key of small order. 2: R of small order. 3: mixed orders, the equation
    # holds. 4 and 5: it holds with the cofactor only. 6 and 7: S ≥ L. 8 and 9: R not
    # canonical. 10 and 11: key not canonical (x = 0 with a sign), and of small order.
    taken = [
        number
        for number, case in enumerate(load(shared, "speccheck_cases.json"))
        if keys.verify(*(bytes.fromhex(case[name]) for name in ("pub_key", "signature", "message")))
    ]
    assert taken == [2, 3]
