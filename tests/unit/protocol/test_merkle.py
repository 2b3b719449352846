"""Every small tree: what proves, and that nothing else does."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

import pytest

from tollbook.protocol.errors import ProofError
from tollbook.protocol.merkle import (
    EMPTY_ROOT,
    Frontier,
    Tree,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)

SIZES = range(1, 21)
LEAVES = tuple(leaf_hash(bytes([n])) for n in range(21))
ROOTS = [root_of(LEAVES[:size]) for size in range(22)]
OTHER = leaf_hash(b"another")


def split(size: int) -> int:
    return max(power for power in (1, 2, 4, 8, 16) if power < size)


@cache
def naive_root(start: int, end: int) -> bytes:
    """RFC 6962 2.1, as it is written there."""
    if end - start == 1:
        return LEAVES[start]
    middle = start + split(end - start)
    return sha256(b"\x01" + naive_root(start, middle) + naive_root(middle, end)).digest()


def naive_path(index: int, start: int, end: int) -> list[bytes]:
    """RFC 6962 2.1.1, as it is written there (with D as a range of leaves)."""
    if end - start == 1:
        return []
    middle = start + split(end - start)
    if index < middle:
        return [*naive_path(index, start, middle), naive_root(middle, end)]
    return [*naive_path(index, middle, end), naive_root(start, middle)]


def naive_subproof(old: int, start: int, end: int, *, whole: bool) -> list[bytes]:
    """RFC 6962 2.1.2, as it is written there (with D as a range of leaves)."""
    if old == end:
        return [] if whole else [naive_root(start, end)]
    middle = start + split(end - start)
    if old <= middle:
        return [*naive_subproof(old, start, middle, whole=whole), naive_root(middle, end)]
    return [*naive_subproof(old, middle, end, whole=False), naive_root(start, middle)]


def spoiled(proof: list[bytes]) -> list[list[bytes]]:
    """The proof with one bit, one hash, or its order changed."""
    flipped = [[*proof[:i], flip(proof[i]), *proof[i + 1 :]] for i in range(len(proof))]
    shorter = [proof[:i] + proof[i + 1 :] for i in range(len(proof))]
    longer = [[*proof[:i], OTHER, *proof[i:]] for i in range(len(proof) + 1)]
    doubled = [[*proof[:i], proof[i], *proof[i:]] for i in range(len(proof))]
    turned = [proof[::-1]] if len(proof) > 1 else []
    return flipped + shorter + longer + doubled + turned


def flip(value: bytes) -> bytes:
    return bytes([value[0] ^ 1]) + value[1:]


def inclusion_code(leaf: bytes, index: int, size: int, proof: list[bytes], root: bytes) -> str | None:
    try:
        verify_inclusion(leaf, index, size, proof, root)
    except ProofError as error:
        return error.code
    return None


def consistency_code(old: int, old_root: bytes, size: int, root: bytes, proof: list[bytes]) -> str | None:
    try:
        verify_consistency(old, old_root, size, root, proof)
    except ProofError as error:
        return error.code
    return None


def test_hashes() -> None:
    assert sha256(b"\x00data").digest() == leaf_hash(b"data")
    assert sha256(b"\x01" + LEAVES[0] + LEAVES[1]).digest() == node_hash(LEAVES[0], LEAVES[1])
    assert EMPTY_ROOT.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_an_empty_tree_has_the_empty_root() -> None:
    assert [root_of([]), Frontier().root(), Tree([]).root(), Tree([]).root_with({})] == [EMPTY_ROOT] * 4


@pytest.mark.parametrize("size", SIZES)
def test_roots(size: int) -> None:
    expected = naive_root(0, size)
    assert expected == root_of(LEAVES[:size])
    assert expected == Frontier(LEAVES[:size]).root()
    assert expected == Tree(LEAVES[:size]).root()


@pytest.mark.parametrize("size", SIZES)
def test_inclusion(size: int) -> None:
    root = ROOTS[size]
    for index in range(size):
        leaf, proof = LEAVES[index], inclusion_proof(LEAVES, index, size)
        assert naive_path(index, 0, size) == proof
        assert proof == inclusion_proof(LEAVES[:size], index)
        verify_inclusion(leaf, index, size, proof, root)
        for other in spoiled(proof):
            assert inclusion_code(leaf, index, size, other, root) in {"proof.root", "proof.length"}
        for other in range(size):
            assert (other == index) == (inclusion_code(leaf, other, size, proof, root) is None)
        assert inclusion_code(OTHER, index, size, proof, root) == "proof.root"
        assert inclusion_code(leaf, index, size, proof, flip(root)) == "proof.root"


@pytest.mark.parametrize("size", SIZES)
def test_consistency(size: int) -> None:
    root = ROOTS[size]
    for old in range(1, size + 1):
        old_root, proof = ROOTS[old], consistency_proof(LEAVES, old, size)
        assert naive_subproof(old, 0, size, whole=True) == proof
        assert proof == consistency_proof(LEAVES[:size], old)
        verify_consistency(old, old_root, size, root, proof)
        refused = {"proof.old_root", "proof.root", "proof.length"}
        for other in spoiled(proof):
            assert consistency_code(old, old_root, size, root, other) in refused
        for other in range(1, size + 1):
            assert (other == old) == (consistency_code(old, ROOTS[other], size, root, proof) is None)
            assert (other == size) == (consistency_code(old, old_root, size, ROOTS[other], proof) is None)
        assert consistency_code(old, flip(old_root), size, root, proof) in refused
        assert consistency_code(old, old_root, size, flip(root), proof) == "proof.root"


def test_a_rewritten_leaf_cannot_be_proved_consistent() -> None:
    rewritten = [*LEAVES[:4], OTHER, *LEAVES[5:]]
    new_root = root_of(rewritten)
    for old in range(5, 21):
        proof = consistency_proof(rewritten, old)
        # A perfect old tree's root is the verifier's own, and the first part of the way.
        expected = "proof.root" if old in {8, 16} else "proof.old_root"
        assert expected == consistency_code(old, ROOTS[old], 21, new_root, proof)


@pytest.mark.parametrize(
    ("code", "leaf_index_size_proof_root"),
    [
        (None,                (LEAVES[1],      1, 2, [LEAVES[0]],            ROOTS[2])),
        ("proof.hash_length", (LEAVES[1][:31], 1, 2, [LEAVES[0]],            ROOTS[2])),
        ("proof.hash_length", (LEAVES[1],      1, 2, [LEAVES[0] + b"\0"],    ROOTS[2])),
        ("proof.hash_length", (LEAVES[1],      1, 2, [b""],                  ROOTS[2])),
        ("proof.hash_length", (LEAVES[1],      1, 2, [LEAVES[0]],            ROOTS[2] + b"\0")),
        ("proof.hash_length", (b"",            0, 1, [],                     b"")),
        ("proof.hash_length", (b"",            9, 1, [],                     b"")),
        ("proof.index",       (LEAVES[1],      2, 2, [LEAVES[0]],            ROOTS[2])),
        ("proof.index",       (LEAVES[1],     -1, 2, [LEAVES[0]],            ROOTS[2])),
        ("proof.index",       (LEAVES[0],      0, 0, [],                     EMPTY_ROOT)),
        ("proof.index",       (LEAVES[0],      0, -1, [],                    EMPTY_ROOT)),
        ("proof.index",       (LEAVES[0],      2**64 - 1, 1, [],             LEAVES[0])),
        ("proof.length",      (LEAVES[1],      1, 2, [],                     ROOTS[2])),
        ("proof.length",      (LEAVES[1],      1, 2, [LEAVES[0], LEAVES[0]], ROOTS[2])),
        ("proof.length",      (LEAVES[1],      1, 2**63, [LEAVES[0]],        ROOTS[2])),
        ("proof.root",        (LEAVES[0],      1, 2, [LEAVES[1]],            ROOTS[2])),
    ],
)
def test_inclusion_codes(
    code: str | None, leaf_index_size_proof_root: tuple[bytes, int, int, list[bytes], bytes]
) -> None:
    assert code == inclusion_code(*leaf_index_size_proof_root)


@pytest.mark.parametrize(
    ("code", "old_and_root_size_and_root_proof"),
    [
        (None,                (1, ROOTS[1],   2, ROOTS[2], [LEAVES[1]])),
        ("proof.hash_length", (1, b"",        2, ROOTS[2], [LEAVES[1]])),
        ("proof.hash_length", (1, ROOTS[1],   2, b"",      [LEAVES[1]])),
        ("proof.hash_length", (1, ROOTS[1],   2, ROOTS[2], [b""])),
        (None,                (3, ROOTS[3],   3, ROOTS[3], [])),
        (None,                (3, b"a",       3, b"a",     [])),
        ("proof.hash_length", (0, b"",        0, b"",      [])),
        ("proof.hash_length", (3, b"a",       3, b"b",     [])),
        ("proof.hash_length", (3, b"a",       3, b"a",     [LEAVES[2]])),
        ("proof.size",        (0, EMPTY_ROOT, 0, EMPTY_ROOT, [])),
        ("proof.size",        (0, EMPTY_ROOT, 2, ROOTS[2], [])),
        ("proof.size",       (-1, ROOTS[1],   2, ROOTS[2], [LEAVES[1]])),
        ("proof.size",        (2, ROOTS[2],   1, ROOTS[1], [LEAVES[1]])),
        ("proof.length",      (1, ROOTS[1],   2, ROOTS[2], [])),
        ("proof.length",      (2, ROOTS[2],   2, ROOTS[2], [LEAVES[1]])),
        ("proof.length",      (3, ROOTS[3],   3, ROOTS[3], [LEAVES[2]])),
        ("proof.length",      (3, ROOTS[3],   4, ROOTS[4], [])),
        ("proof.old_root",    (3, ROOTS[2],   4, ROOTS[4], consistency_proof(LEAVES, 3, 4))),
        ("proof.root",        (3, ROOTS[3],   4, ROOTS[5], consistency_proof(LEAVES, 3, 4))),
        ("proof.root",        (2, ROOTS[2],   2, ROOTS[1], [])),
        ("proof.root",        (3, ROOTS[3],   3, ROOTS[1], [])),
    ],
)
def test_consistency_codes(
    code: str | None, old_and_root_size_and_root_proof: tuple[int, bytes, int, bytes, list[bytes]]
) -> None:
    assert code == consistency_code(*old_and_root_size_and_root_proof)


@pytest.mark.parametrize(
    ("code", "index", "size"),
    [("proof.size", 0, 22), ("proof.size", 0, -1), ("proof.index", 0, 0), ("proof.index", 5, 5)],
)
def test_no_inclusion_proof_is_made_for_a_leaf_that_is_not_there(code: str, index: int, size: int) -> None:
    with pytest.raises(ProofError) as caught:
        inclusion_proof(LEAVES, index, size)
    assert code == caught.value.code


@pytest.mark.parametrize(("old", "size"), [(0, 0), (0, 5), (-1, 5), (6, 5), (5, 22), (1, -1)])
def test_no_consistency_proof_is_made_for_sizes_out_of_order(old: int, size: int) -> None:
    with pytest.raises(ProofError) as caught:
        consistency_proof(LEAVES, old, size)
    assert caught.value.code == "proof.size"


@pytest.mark.parametrize("size", SIZES)
def test_root_with_one_leaf_replaced(size: int) -> None:
    tree = Tree(LEAVES[:size])
    for index in range(size):
        replaced = [*LEAVES[:index], OTHER, *LEAVES[index + 1 : size]]
        assert root_of(replaced) == tree.root_with({index: OTHER})
    assert (size, ROOTS[size]) == (tree.size, tree.root())


@pytest.mark.parametrize(("size", "index"), [(5, 5), (5, -1), (0, 0)])
def test_root_with_a_leaf_that_is_not_there(size: int, index: int) -> None:
    with pytest.raises(ProofError) as caught:
        Tree(LEAVES[:size]).root_with({index: OTHER})
    assert caught.value.code == "proof.index"


def test_a_tree_does_not_follow_its_list() -> None:
    leaves = list(LEAVES[:5])
    tree = Tree(leaves)
    leaves[0] = OTHER
    assert ROOTS[5] == tree.root()
    assert ROOTS[5] == tree.root_with({1: LEAVES[1]})
