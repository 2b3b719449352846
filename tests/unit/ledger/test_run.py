from __future__ import annotations

from typing import Any

import msgspec
import pytest
from small_run import OUTSIDER, facts, key_of, opened, signed, signed_key

from tollbook.ledger.records import ZERO, leaf_of
from tollbook.ledger.run import Chain, Run
from tollbook.protocol.bodies import KeyChange, Message, Party
from tollbook.protocol.keys import key_text
from tollbook.protocol.merkle import root_of
from tollbook.protocol.retail.actions import GetUserDetails
from tollbook.protocol.world import world_of

ZOE = GetUserDetails("zoe")


@pytest.fixture
def run() -> Run:
    """A run that has its open."""
    begun = Run(opened(), world_of(opened().world), facts())
    begun.link("open", b"{}", "sig")
    return begun


def message_of(run: Run, **fields: Any) -> Message:
    return msgspec.json.decode(signed(run, "outsider", ZOE, **fields)[0], type=Message)


def change(run: Run, *arguments: Any, **fields: Any) -> str | None:
    """What a key record meets: None when it is applied."""
    body, sig = signed_key(run, *arguments, **fields)
    objection = run.key(msgspec.json.decode(body, type=KeyChange), body, sig)
    if objection is None:
        run.link("key", body, sig)
    return None if objection is None else objection.code


def say(run: Run, *, accepted: bool = True, **fields: Any) -> None:
    message = message_of(run, **fields)
    assert run.door(message) is None
    seq = run.size
    run.link("message", b"{}", "sig")
    run.link("decision", b"{}", None)
    run.ruled(message, seq, accepted=accepted)


def test_a_chain_links_leaf_to_leaf() -> None:
    chain = Chain()
    assert (0, ZERO, ZERO) == (chain.size, chain.prev, chain.id)
    first = leaf_of(0, "open", ZERO, b"{}", "sig")
    second = leaf_of(1, "brief", first.hex(), b"[]", None)
    chain.link("open", b"{}", "sig")
    chain.link("brief", b"[]", None)
    assert (2, second.hex(), first.hex()) == (chain.size, chain.prev, chain.id)
    assert [first, second] == chain.leaves() == [chain.leaf(0), chain.leaf(1)]
    other = Chain()
    for leaf in (first, second):
        other.link_leaf(leaf)
    assert (chain.size, chain.prev, chain.id, chain.root()) == (
        other.size,
        other.prev,
        other.id,
        other.root(),
    )


def test_a_chains_root_is_the_trees_at_every_size() -> None:
    chain = Chain()
    assert root_of([]) == chain.root()
    for seq in range(33):
        chain.link("turn", b"%d" % seq, None)
        for size in range(chain.size + 1):
            assert root_of(chain.leaves()[:size]) == chain.root(size)
        assert chain.root(chain.size) == chain.root()


def test_the_door_counts_each_party_from_0(run: Run) -> None:
    assert run.door(message_of(run)) is None
    for n in (1, 2, 2**31 - 1):
        objection = run.door(message_of(run, n=n))
        assert objection is not None
        assert ("message.n", f"n is {n}, the next of `outsider` is 0") == objection
    say(run)
    objection = run.door(message_of(run, n=0))
    assert objection is not None
    assert "message.n" == objection.code
    other = message_of(run, sender="user", n=0)
    assert run.door(other) is None
    objection = run.door(message_of(run, sender="nobody"))
    assert objection is not None
    assert "message.from" == objection.code


def test_the_door_says_which_seen_it_expects(run: Run) -> None:
    say(run)
    assert [None, None] == [run.door(message_of(run, seen=(seq, run.leaf(seq).hex()))) for seq in (2, 2)]
    for seq, expected in ((0, "2 to 2"), (1, "2 to 2"), (3, "2 to 2"), (2**31 - 1, "2 to 2")):
        objection = run.door(message_of(run, seen=(seq, run.prev)))
        assert objection is not None
        assert ("message.seen", f"seen is record {seq}, expected {expected}") == objection
    objection = run.door(message_of(run, seen=(2, run.leaf(1).hex())))
    assert objection is not None
    assert "message.seen" == objection.code


def test_a_brief_moves_what_may_be_seen(run: Run) -> None:
    assert run.brief("nobody") is not None
    assert run.brief("outsider") is None
    run.link("brief", b"{}", None)
    assert run.door(message_of(run, seen=(0, run.id))) is not None
    assert run.door(message_of(run, seen=(1, run.prev))) is None


def test_only_what_was_accepted_reaches_whom_it_was_sent_to(run: Run) -> None:
    say(run, to="user")
    say(run, to="user", accepted=False)
    say(run)
    assert [False, True, False, False, False] == [run.reached(seq, "user") for seq in range(5)]
    assert [False] * 9 == [run.reached(seq, "platform") for seq in range(9)]
    assert not run.reached(10**6, "user")


def test_keys_come_and_go(run: Run) -> None:
    second, third = key_of("second"), key_of("third")
    outsider = run.members["outsider"]
    assert "key.duplicate" == change(run, "outsider", "add", OUTSIDER)
    assert "key.revoke" == change(run, "outsider", "revoke", second)
    assert change(run, "outsider", "add", second) is None
    assert "key.duplicate" == change(run, "outsider", "add", second)
    assert change(run, "outsider", "revoke", OUTSIDER, signer=second) is None
    assert "signature.invalid" == change(run, "outsider", "add", third)
    assert "key.duplicate" == change(run, "outsider", "add", OUTSIDER, signer=second)  # held before
    assert ([second.public], [OUTSIDER.public, second.public], 2) == (
        outsider.keys,
        outsider.held,
        outsider.n,
    )
    assert change(run, "outsider", "revoke", second, signer=second) is None
    assert "key.unknown" == change(run, "outsider", "add", third, signer=second)
    assert [] == outsider.keys


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("key.form", lambda one: {"key": one["key"][:-1] + "A"}),
        ("key.form", lambda _one: {"key": " " * 44}),
        ("key.small_order", lambda _one: {"key": key_text(bytes(32))}),
        ("key.small_order", lambda _one: {"key": key_text(b"\1" + bytes(31))}),
        ("key.not_canonical", lambda _one: {"key": key_text(b"\xff" * 31 + b"\x7f")}),
        ("key.duplicate", lambda one: {"id": one["id"]}),
        ("key.duplicate", lambda one: {"key": one["key"], "id": "more"}),
    ],
)
def test_an_open_lists_fit_keys_and_each_once(code: str, change: Any) -> None:
    assert Run(opened(), None, None).opening() is None
    first = msgspec.to_builtins(opened().parties[0])
    party = msgspec.convert(
        {**first, "id": "more", "key": key_text(key_of("more").public), **change(first)}, Party
    )
    worse = msgspec.structs.replace(opened(), parties=[*opened().parties, party])
    objection = Run(worse, None, None).opening()
    assert objection is not None
    assert code == objection.code


def test_the_ledgers_key_is_no_partys() -> None:
    party = msgspec.structs.replace(opened().parties[0], key=opened().ledger.key)
    objection = Run(msgspec.structs.replace(opened(), parties=[party]), None, None).opening()
    assert objection is not None
    assert "key.duplicate" == objection.code


def test_a_run_keeps_little_of_each_record(run: Run) -> None:
    """At most 64 bytes a record beside the state: a leaf, a place, an addressee."""
    run.link("turn", b"{}", None)
    for _ in range(1000):
        say(run, to="user")
    kept = len(run._leaves) + sum(len(one.said) * one.said.itemsize for one in run.members.values())  # noqa: SLF001
    kept += len(run._addressees) * run._addressees.itemsize  # noqa: SLF001
    assert kept <= 64 * run.size
