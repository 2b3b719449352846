"""DSSE: our PAE gives the bytes of the specification's example, and its signature fits them.

Source: secure-systems-lab/dsse v1, protocol.md, "Test Vectors".
"""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from tollbook.protocol.keys import pae_of

pytestmark = pytest.mark.shared


def load(shared: Path) -> Any:
    return json.loads((shared / "vectors/dsse/dsse_v1_vector.json").read_text())


def test_pae(shared: Path) -> None:
    vector = load(shared)
    assert vector["pae"].encode() == pae_of(vector["payloadType"], vector["body_utf8"].encode())


def test_the_signature_of_the_envelope_is_over_our_pae(shared: Path) -> None:
    vector = load(shared)
    envelope, numbers = vector["envelope"], vector["key"]
    pair = b64decode(envelope["signatures"][0]["sig"])
    r, s = int.from_bytes(pair[:32], "big"), int.from_bytes(pair[32:], "big")
    public = ec.EllipticCurvePublicNumbers(int(numbers["X"]), int(numbers["Y"]), ec.SECP256R1()).public_key()
    covered = pae_of(envelope["payloadType"], b64decode(envelope["payload"]))
    public.verify(encode_dss_signature(r, s), covered, ec.ECDSA(SHA256()))
    with pytest.raises(InvalidSignature):
        public.verify(encode_dss_signature(r, s), covered + b"\0", ec.ECDSA(SHA256()))
