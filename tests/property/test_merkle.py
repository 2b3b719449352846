"""Three ways to a root agree with the definition, at any size."""

from __future__ import annotations

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from tollbook.protocol.merkle import (
    Frontier,
    Tree,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)

leaf_lists = st.lists(st.binary(max_size=3).map(leaf_hash), min_size=1, max_size=80)


def naive_root(leaves: list[bytes]) -> bytes:
    """RFC 6962 2.1, as it is written there."""
    if not leaves:
        return sha256().digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + naive_root(leaves[:split]) + naive_root(leaves[split:])).digest()


@given(leaf_lists | st.just([]))
def test_frontier_and_tree_and_root_of_agree_with_the_definition(leaves: list[bytes]) -> None:
    expected = naive_root(leaves)
    assert [expected] * 3 == [Frontier(leaves).root(), Tree(leaves).root(), root_of(leaves)]


@given(leaf_lists)
def test_a_frontier_has_each_root_on_the_way(leaves: list[bytes]) -> None:
    frontier = Frontier()
    for size, leaf in enumerate(leaves, 1):
        frontier.append(leaf)
        assert (size, naive_root(leaves[:size])) == (frontier.size, frontier.root())


@given(leaf_lists, st.data())
def test_root_with_is_the_root_of_the_rebuilt_tree(leaves: list[bytes], data: st.DataObject) -> None:
    indices = st.integers(0, len(leaves) - 1)
    changes = data.draw(st.dictionaries(indices, st.binary(max_size=3).map(leaf_hash)))
    rebuilt = [changes.get(index, leaf) for index, leaf in enumerate(leaves)]
    tree = Tree(leaves)
    assert naive_root(rebuilt) == tree.root_with(changes)
    assert naive_root(leaves) == tree.root()


@given(leaf_lists, st.data())
def test_what_is_proved_verifies(leaves: list[bytes], data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(leaves)))
    index = data.draw(st.integers(0, size - 1))
    root, old_root = naive_root(leaves[:size]), naive_root(leaves[: index + 1])
    verify_inclusion(leaves[index], index, size, inclusion_proof(leaves, index, size), root)
    verify_consistency(index + 1, old_root, size, root, consistency_proof(leaves, index + 1, size))
