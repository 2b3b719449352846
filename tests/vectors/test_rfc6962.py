"""The Certificate Transparency reference tree and 196 proofs, good and bad.

Source: transparency-dev/merkle, testdata.
"""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from tollbook.protocol.errors import ProofError
from tollbook.protocol.merkle import (
    EMPTY_ROOT,
    Frontier,
    Tree,
    leaf_hash,
    node_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)

pytestmark = pytest.mark.shared


def load(shared: Path, name: str) -> Any:
    return json.loads((shared / "vectors/rfc6962" / name).read_text())


def refused(probe: dict[str, Any]) -> bool:
    proof = [b64decode(text) for text in probe["proof"] or ()]
    try:
        if "leafHash" in probe:
            leaf, root = b64decode(probe["leafHash"] or ""), b64decode(probe["root"] or "")
            verify_inclusion(leaf, probe["leafIdx"], probe["treeSize"], proof, root)
        else:
            old_root, root = b64decode(probe["root1"] or ""), b64decode(probe["root2"] or "")
            verify_consistency(probe["size1"], old_root, probe["size2"], root, proof)
    except ProofError:
        return True
    return False


def test_hashes(shared: Path) -> None:
    vectors = load(shared, "roots.json")
    assert vectors["empty_root"] == EMPTY_ROOT.hex()
    assert vectors["hashing"]["empty_leaf"] == leaf_hash(b"").hex()
    assert vectors["hashing"]["leaf_L123456"] == leaf_hash(b"L123456").hex()
    assert vectors["hashing"]["node_N123_N456"] == node_hash(b"N123", b"N456").hex()


def test_roots_of_the_first_leaves(shared: Path) -> None:
    vectors = load(shared, "roots.json")
    leaves = [leaf_hash(bytes.fromhex(data)) for data in vectors["leaves"]]
    prefixes = [leaves[:size] for size in range(1, 9)]
    assert vectors["roots"] == [root_of(prefix).hex() for prefix in prefixes]
    assert vectors["roots"] == [Tree(prefix).root().hex() for prefix in prefixes]
    assert vectors["roots"] == [Frontier(prefix).root().hex() for prefix in prefixes]


@pytest.mark.parametrize("name", ["inclusion.json", "consistency.json"])
def test_each_probe_has_the_verdict_it_states(shared: Path, name: str) -> None:
    probes: dict[str, dict[str, Any]] = load(shared, name)
    assert len(probes) == 98
    assert sum(not probe["wantErr"] for probe in probes.values()) == 6
    assert [path for path, probe in probes.items() if refused(probe) != probe["wantErr"]] == []
