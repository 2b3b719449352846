"""One Merkle tree for records and for rows.

    leaf       = SHA-256(0x00 || data)
    node(l, r) = SHA-256(0x01 || l || r)
    root(0 leaves) = SHA-256()
    root(1 leaf)   = the leaf
    root(n leaves) = node(root(the first k), root(the rest)),  k the largest power of two below n

    7 leaves   0 1 2 3 | 4 5 | 6     one perfect subtree for each bit set in the size
                  a       b    c     frontier (a, b, c), root node(a, node(b, c))

Leaves are given as their hashes, except to `leaf_hash`. Sizes and indices
count leaves; every hash is 32 bytes. An inclusion proof holds for one root: it
does not bind the size it is checked with, so take both from one checkpoint.

Not here: what a leaf's data is (records, rows), and who vouches for a root
(`tollbook.ledger.notes`).

Source: RFC 6962 2.1; RFC 9162 2.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from .errors import ProofError

HASH_BYTES = 32
EMPTY_ROOT = sha256().digest()


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf's data."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node over its two children's hashes."""
    return sha256(b"\x01" + left + right).digest()


class Frontier:
    """A tree that only grows, kept as its perfect subtrees: O(log n) memory."""

    __slots__ = ("_hashes", "_size")

    def __init__(self, leaves: Iterable[bytes] = ()) -> None:
        self._hashes: list[bytes] = []  # of the perfect subtrees, largest first
        self._size = 0
        for leaf in leaves:
            self.append(leaf)

    @property
    def size(self) -> int:
        """The number of leaves."""
        return self._size

    def append(self, leaf: bytes) -> None:
        """Adds one leaf hash at the end."""
        assert len(leaf) == HASH_BYTES
        hashes = self._hashes
        # Each trailing one bit of the size is a subtree that the new leaf completes a pair with.
        size, self._size = self._size, self._size + 1
        while size & 1:
            leaf = sha256(b"\x01" + hashes.pop() + leaf).digest()
            size >>= 1
        hashes.append(leaf)

    def root(self) -> bytes:
        """The root over all leaves so far, in O(log n)."""
        if not self._hashes:
            return EMPTY_ROOT
        root = self._hashes[-1]
        for left in self._hashes[-2::-1]:
            root = node_hash(left, root)
        return root


class Tree:
    """A tree built once and kept whole, to be shared by many runs."""

    __slots__ = ("_levels",)

    def __init__(self, leaves: Sequence[bytes]) -> None:
        _assert_hashes(leaves)
        self._levels = [list(leaves)]
        while len(self._levels[-1]) > 1:
            self._levels.append(_parents(self._levels[-1]))

    @property
    def size(self) -> int:
        """The number of leaves."""
        return len(self._levels[0])

    def root(self) -> bytes:
        """The root over all leaves."""
        return self._levels[-1][0] if self._levels[0] else EMPTY_ROOT

    def root_with(self, changes: Mapping[int, bytes]) -> bytes:
        """The root if these leaves were replaced, in O(k log n); the tree stays as it is.

        Raises:
            ProofError: `proof.index` for a leaf that the tree does not have.
        """
        if not changes:
            return self.root()
        for index in changes:
            _check_index(index, self.size)
        nodes: Mapping[int, bytes] = changes
        for level in self._levels[:-1]:
            nodes = _parents_with(level, nodes)
        return nodes[0]


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The root over leaf hashes."""
    _assert_hashes(leaves)
    level = leaves
    while len(level) > 1:
        level = _parents(level)
    return level[0] if level else EMPTY_ROOT


def inclusion_proof(leaves: Sequence[bytes], index: int, size: int | None = None) -> list[bytes]:
    """The hashes that lead from leaf `index` to the root of the first `size` leaves (None: all).

    Raises:
        ProofError: `proof.size` or `proof.index` for what the leaves do not reach.

    Source: RFC 9162 2.1.3.1.
    """
    start, end = 0, _size_within(leaves, size)
    _check_index(index, end)
    proof: list[bytes] = []
    while end - start > 1:
        split = start + _left_size(end - start)
        if index < split:
            proof.append(root_of(leaves[split:end]))
            end = split
        else:
            proof.append(root_of(leaves[start:split]))
            start = split
    return proof[::-1]


def consistency_proof(leaves: Sequence[bytes], old_size: int, size: int | None = None) -> list[bytes]:
    """The hashes that show the first `old_size` leaves unchanged in the first `size` (None: all).

    Raises:
        ProofError: `proof.size` for sizes not in 1 ≤ old_size ≤ size ≤ number of leaves.

    Source: RFC 9162 2.1.4.1.
    """
    start, end = 0, _size_within(leaves, size)
    _check_sizes(old_size, end)
    proof: list[bytes] = []
    while end != old_size:
        split = start + _left_size(end - start)
        if old_size <= split:
            proof.append(root_of(leaves[split:end]))
            end = split
        else:
            proof.append(root_of(leaves[start:split]))
            start = split
    if start:  # else this subtree is the whole old tree, whose root the verifier holds
        proof.append(root_of(leaves[start:end]))
    return proof[::-1]


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Returns if `proof` leads from the leaf hash at `index` to the root of a tree of `size`.

    Raises:
        ProofError: in this order `proof.hash_length`, `proof.index`,
            `proof.length`, `proof.root`.

    Source: RFC 9162 2.1.3.2.
    """
    _check_lengths(leaf, root, *proof)
    _check_index(index, size)
    sides = _sides(index, size - 1)
    _check_count(proof, len(sides))
    for sibling, left in zip(proof, sides, strict=True):
        leaf = node_hash(sibling, leaf) if left else node_hash(leaf, sibling)
    if leaf != root:
        raise ProofError("proof.root", "an inclusion proof leads to another root")


def verify_consistency(
    old_size: int, old_root: bytes, size: int, root: bytes, proof: Sequence[bytes]
) -> None:
    """Returns if `proof` shows that the tree of `size` begins with the tree of `old_size`.

    A tree is consistent with itself: equal sizes and equal roots take no proof.
    Nothing is hashed then, and nothing asked of the roots' length: so the CT
    probe `sizes are equal (one)` has it, with roots of 12 bytes.

    Raises:
        ProofError: in this order `proof.hash_length`, `proof.size` (not
            1 ≤ old_size ≤ size: an empty tree proves nothing), `proof.length`,
            `proof.old_root`, `proof.root`.

    Source: RFC 9162 2.1.4.2.
    """
    if old_size == size > 0 and old_root == root and not proof:
        return
    _check_lengths(old_root, root, *proof)
    _check_sizes(old_size, size)
    if old_size == size:
        _check_count(proof, 0)
        raise ProofError("proof.root", "two trees of one size have different roots")
    # The walk starts at the last perfect subtree of the old tree. Where that is the whole
    # old tree, the verifier holds its root and the proof leaves it out.
    index, last = old_size - 1, size - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    sides = _sides(index, last)
    _check_count(proof, len(sides) + (index > 0))
    start, *siblings = proof if index else (old_root, *proof)
    old = new = start
    for sibling, left in zip(siblings, sides, strict=True):
        new = node_hash(sibling, new) if left else node_hash(new, sibling)
        old = node_hash(sibling, old) if left else old
    if old != old_root:
        raise ProofError("proof.old_root", "a consistency proof leads to another old root")
    if new != root:
        raise ProofError("proof.root", "a consistency proof leads to another root")


def _parents(level: Sequence[bytes]) -> list[bytes]:
    """The level above; a last node without a pair rises as it is."""
    parents = [sha256(b"\x01" + level[i] + level[i + 1]).digest() for i in range(0, len(level) - 1, 2)]
    if len(level) & 1:
        parents.append(level[-1])
    return parents


def _parents_with(level: Sequence[bytes], nodes: Mapping[int, bytes]) -> dict[int, bytes]:
    """The nodes of the level above that differ, if `nodes` replaced their like in `level`."""
    parents: dict[int, bytes] = {}
    for index, node in nodes.items():
        sibling = index ^ 1
        if sibling < len(level):  # else the last node has no pair and rises as it is
            other = nodes.get(sibling) or level[sibling]
            pair = other + node if index & 1 else node + other
            parents[index >> 1] = sha256(b"\x01" + pair).digest()
        else:
            parents[index >> 1] = node
    return parents


def _left_size(size: int) -> int:
    """The largest power of two below `size` (at least 2)."""
    return 1 << (size - 1).bit_length() - 1


def _sides(index: int, last: int) -> list[bool]:
    """Whether each sibling on the way up from `index` of `0…last` is on the left, lowest first."""
    sides: list[bool] = []
    while last:
        if index & 1 or index < last:  # else the node has no pair and rises as it is
            sides.append(bool(index & 1))
        index, last = index >> 1, last >> 1
    return sides


def _size_within(leaves: Sequence[bytes], size: int | None) -> int:
    if size is None:
        return len(leaves)
    if not 0 <= size <= len(leaves):
        raise ProofError("proof.size", f"a tree of size `{size}` is not within {len(leaves)} leaves")
    return size


def _check_index(index: int, size: int) -> None:
    if not 0 <= index < size:
        raise ProofError("proof.index", f"leaf `{index}` is not in a tree of size `{size}`")


def _check_sizes(old_size: int, size: int) -> None:
    if not 0 < old_size <= size:
        raise ProofError("proof.size", f"no proof leads from size `{old_size}` to size `{size}`")


def _check_lengths(*hashes: bytes) -> None:
    for value in hashes:
        if len(value) != HASH_BYTES:
            raise ProofError("proof.hash_length", f"a hash has {len(value)} bytes, not {HASH_BYTES}")


def _check_count(proof: Sequence[bytes], count: int) -> None:
    if len(proof) != count:
        raise ProofError("proof.length", f"a proof takes {count} hashes here, not {len(proof)}")


def _assert_hashes(leaves: Sequence[bytes]) -> None:
    assert set(map(len, leaves)) <= {HASH_BYTES}
