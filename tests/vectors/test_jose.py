"""JOSE: the Ed25519 example of RFC 8037, signed, verified and named with our functions.

The Wycheproof file of JWS traps isn't run: we read no JWS, so there is no
`alg` or key from a stranger's header that could mislead us.

Source: RFC 8037 appendix A.1 to A.5; RFC 7638 3 (thumbprint).
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Any

import pytest

from tollbook.protocol import canonical, keys

pytestmark = pytest.mark.shared


def load(shared: Path) -> Any:
    return json.loads((shared / "vectors/jose/rfc8037_appendix_a.json").read_text())


def unpadded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_signature(shared: Path) -> None:
    vector = load(shared)
    header, payload, signature = vector["jws"].split(".")
    covered = f"{header}.{payload}".encode()
    key = keys.SigningKey.from_seed(unpadded(vector["jwk"]["d"]))
    assert unpadded(payload).decode() == vector["payload"]
    assert unpadded(vector["jwk"]["x"]) == key.public
    assert unpadded(signature) == key.sign(covered)
    assert keys.verify(key.public, unpadded(signature), covered)


def test_thumbprint_is_our_digest(shared: Path) -> None:
    # RFC 7638 hashes the required members, sorted and without spaces: our canonical bytes.
    vector = load(shared)
    jwk = {name: vector["jwk"][name] for name in ("kty", "crv", "x")}
    assert unpadded(vector["thumbprint"]).hex() == canonical.digest(jwk)
