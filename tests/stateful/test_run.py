"""A run played at random by parties who say right and wrong things, compared with a model of the door.

The model knows who holds which keys, whose number is next and what may be seen, and nothing else. What it
turns away must be turned away under the code it names and change nothing; what it lets in must be recorded,
and be decided alike when it is said again, after a restart and by an audit.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from small_run import SECRET, begin, exported, key_of, ledger, signed, signed_key

from tollbook.ledger.transfer import import_bundle
from tollbook.ledger.verify import audit_run, shelf_of
from tollbook.ledger.writer import Writer
from tollbook.protocol.errors import DoorError
from tollbook.protocol.keys import key_bytes
from tollbook.protocol.retail import actions

PARTIES = ("user", "assistant", "outsider", "platform")
VOICES = ("user", "assistant", "platform")
KEYS = {name: key_of(name) for name in ("outsider", "second", "third", "thief")}

orders = st.sampled_from(
    [f"#{user}-{name}" for user in ("ann", "bob") for name in ("lamp", "chair", "bench", "ghost")]
)
items = st.lists(
    st.sampled_from(["lamp-S", "lamp-M", "lamp-L", "chair-S", "chair-M", "bench-S"]), max_size=2
).map(tuple)
methods = st.sampled_from(["gift_ann", "pal_ann", "gift_bob", "none"])
acts: st.SearchStrategy[Any] = st.one_of(
    st.builds(actions.GetOrderDetails, orders),
    st.builds(actions.GetUserDetails, st.sampled_from(["ann", "bob", "nobody"])),
    st.just(actions.ListAllProductTypes()),
    st.builds(actions.CancelPendingOrder, orders, st.sampled_from(["no longer needed", "a whim"])),
    st.builds(actions.ModifyPendingOrderItems, items, items, orders, methods),
    st.builds(actions.ModifyPendingOrderPayment, orders, methods),
    st.builds(actions.ReturnDeliveredOrderItems, items, orders, methods),
    st.builds(actions.ExchangeDeliveredOrderItems, items, items, orders, methods),
    st.builds(actions.Calculate, st.sampled_from(["1 + 1", "1 / 0", "("])),
)
recipients = st.sampled_from([None, *PARTIES, "nobody"])
idempotency = st.sampled_from([None, None, None, "once", "twice"])


class RunMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = ledger(self.folder / "a.db")
        self.n = dict.fromkeys(PARTIES, 0)
        self.asked = dict.fromkeys(PARTIES, 0)
        self.ledger_n = 0
        self.said: list[tuple[bytes, str, bytes]] = []
        self.changes: list[tuple[bytes, str, int]] = []

    @initialize(group=st.sampled_from([1, 7, 100]), briefed=st.lists(st.sampled_from(PARTIES), max_size=3))
    def opened(self, group: int, briefed: list[str]) -> None:
        self.group = group
        self.writer = begin(self.store, group=group)
        for party in briefed:
            self.writer.brief(party, f"a brief for {party}")
            self.asked[party] = self.writer.run.size - 1
        self.keys = {party.id: [key_bytes(party.key)] for party in self.writer.opened.parties}
        self.held = {key_bytes(self.writer.opened.ledger.key), *(keys[0] for keys in self.keys.values())}

    # What the model expects

    def seen_is_good(self, party: str, seen: tuple[int, str]) -> bool:
        run = self.writer.run
        return self.asked[party] <= seen[0] < run.size and run.leaf(seen[0]).hex() == seen[1]

    def decided(self, party: str, body: bytes, sig: str, decision: bytes) -> None:
        self.said.append((body, sig, decision))
        self.n[party] += 1
        self.asked[party] = self.writer.run.size - 1

    def state(self) -> Any:
        run = self.writer.run
        assert run.state is not None
        members = [
            (one.id, one.n, one.asked, sorted(one.keys), list(one.said)) for one in run.members.values()
        ]
        return run.size, run.prev, run.ledger_n, members, run.state.root(), self.writer.kept

    def seen_at(self, back: int) -> tuple[int, str]:
        seq = max(self.writer.run.size - 1 - back, 0)
        return seq, self.writer.run.leaf(seq).hex()

    def door(self, act: Callable[[], Any]) -> tuple[str, Any]:
        """The code that an act is turned away with, or what it gives; turned away, it changes nothing."""
        before = self.state()
        try:
            return "", act()
        except DoorError as error:
            code = error.code
        assert before == self.state()
        return code, None

    # Rules

    @rule(party=st.sampled_from(VOICES), action=acts, to=recipients, key=idempotency)
    def a_voice_says(self, party: str, action: Any, to: str | None, key: str | None) -> None:
        voice = self.writer.voice(party)
        code, ruling = self.door(lambda: voice.say(action, to=to, key=key))
        assert ("" if voice.public in self.keys[party] else "signature.invalid") == code
        if not code:
            body, sig = self.writer._stored(self.writer.run.size - 2)  # noqa: SLF001 - what it signed
            assert sig is not None
            self.decided(party, body, sig, ruling.body)

    @rule(
        party=st.sampled_from(["outsider", "user", "nobody"]),
        action=acts,
        off=st.sampled_from([0, 0, 0, 0, 1, 2, 2**30]),
        back=st.sampled_from([0, 0, 0, 1, 5]),
        signer=st.sampled_from(["outsider", "outsider", "second", "thief"]),
        to=recipients,
        reply_to=st.one_of(st.none(), st.integers(0, 60)),
        key=idempotency,
    )
    def somebody_sends(  # noqa: PLR0913 - a message has as many fields
        self,
        party: str,
        action: Any,
        off: int,
        back: int,
        signer: str,
        to: str | None,
        reply_to: int | None,
        key: str | None,
    ) -> None:
        n = self.n.get(party, 0) + off
        seen = self.seen_at(back)
        body, sig = signed(
            self.writer.run, party, action, KEYS[signer], n=n, seen=seen, to=to, reply_to=reply_to, key=key
        )
        if party not in PARTIES:
            expected = "message.from"
        elif off:
            expected = "message.n"
        elif not self.seen_is_good(party, seen):
            expected = "message.seen"
        elif not self.keys[party]:
            expected = "key.unknown"
        else:
            expected = "" if KEYS[signer].public in self.keys[party] else "signature.invalid"
        code, ruling = self.door(lambda: self.writer.admit(body, sig))
        assert expected == code
        if not code:
            self.decided(party, body, sig, ruling.body)

    @precondition(lambda self: self.said)
    @rule(data=st.data())
    def the_same_is_said_again(self, data: st.DataObject) -> None:
        body, sig, decision = data.draw(st.sampled_from(self.said))
        before = self.state()
        assert decision == self.writer.admit(body, sig).body
        assert before[:-1] == self.state()[:-1]

    @precondition(lambda self: self.said)
    @rule(data=st.data(), action=acts)
    def another_thing_is_said_under_a_used_number(self, data: st.DataObject, action: Any) -> None:
        body, _sig, _decision = data.draw(st.sampled_from(self.said))
        old = msgspec.json.decode(body)
        other, sig = signed(self.writer.run, "outsider", action, n=old["n"], sender=old["from"])
        code, _ruling = self.door(lambda: self.writer.admit(other, sig))
        assert code == "message.n"

    @rule(
        change=st.sampled_from(["add", "revoke"]),
        key=st.sampled_from(sorted(KEYS)),
        signer=st.sampled_from(["outsider", "second", "third"]),
        off=st.sampled_from([0, 0, 0, 1]),
    )
    def a_key_is_changed(self, change: str, key: str, signer: str, off: int) -> None:
        party, public = "outsider", KEYS[key].public
        body, sig = signed_key(self.writer.run, party, change, KEYS[key], KEYS[signer], n=self.n[party] + off)
        if not self.keys[party]:
            expected = "key.unknown"
        elif change == "add" and public in self.held:
            expected = "key.duplicate"
        elif change == "revoke" and public not in self.keys[party]:
            expected = "key.revoke"
        elif off:
            expected = "message.n"
        else:
            expected = "" if KEYS[signer].public in self.keys[party] else "signature.invalid"
        code, seq = self.door(lambda: self.writer.change_key(body, sig))
        assert expected == code
        if code:
            return
        self.changes.append((body, sig, seq))
        self.n[party] += 1
        if change == "add":
            self.held.add(public)
            self.keys[party].append(public)
        else:
            self.keys[party].remove(public)

    @precondition(lambda self: self.changes)
    @rule(data=st.data())
    def a_change_is_sent_again(self, data: st.DataObject) -> None:
        body, sig, seq = data.draw(st.sampled_from(self.changes))
        before = self.state()
        assert seq == self.writer.change_key(body, sig)
        assert before[:-1] == self.state()[:-1]

    @rule(party=st.sampled_from(["user", "outsider", "nobody"]), which=st.sampled_from(["first", "thief"]))
    def the_ledger_revokes(self, party: str, which: str) -> None:
        held = self.keys.get(party, [])
        public = held[0] if which == "first" and held else KEYS["thief"].public
        expected = "key.unknown" if party not in PARTIES else "" if public in held else "key.revoke"
        code, _seq = self.door(lambda: self.writer.revoke_key(party, public))
        assert expected == code
        if not code:
            held.remove(public)
            self.ledger_n += 1

    @rule(party=st.sampled_from(PARTIES), text=st.text(max_size=5))
    def a_turn_is_kept(self, party: str, text: str) -> None:
        self.writer.turn(party, self.n[party], given=text)

    @rule()
    def all_is_flushed(self) -> None:
        self.writer.flush()
        assert self.writer.kept == self.writer.run.size == self.store.size(1)

    @rule()
    def the_writer_is_started_again(self) -> None:
        self.writer.flush()
        before = self.state()
        self.store.close()
        self.store = ledger(self.folder / "a.db")
        self.writer = Writer.resume(self.store, SECRET, 1, group=self.group)
        assert before == self.state()

    @invariant()
    def the_run_is_as_the_model_says(self) -> None:
        if not hasattr(self, "writer"):
            return
        run = self.writer.run
        assert self.n == {one.id: one.n for one in run.members.values()}
        assert self.asked == {one.id: one.asked for one in run.members.values()}
        assert self.keys == {one.id: one.keys for one in run.members.values()}
        assert self.ledger_n == run.ledger_n
        pending = run.size - self.writer.kept
        assert 0 <= pending

    def teardown(self) -> None:
        try:
            if hasattr(self, "writer"):
                self.check()
        finally:
            self.store.close()
            shutil.rmtree(self.folder)

    def check(self) -> None:
        self.writer.seal("completed")
        number, run_id = self.store.runs()[0]
        audit = audit_run(self.store, number, run_id, shelf_of(self.store), keep=True)
        assert [] == audit.findings
        assert audit.good
        assert [decision for _body, _sig, decision in self.said] == [
            self.store.body(1, deed.seq + 1) for deed in audit.deeds
        ]
        bundle = exported(self.store).write(self.folder / "a.jsonl")
        with ledger(self.folder / "b.db") as other:
            assert [run_id] == import_bundle(bundle, other).runs
            assert exported(self.store) == exported(other)


TestRun = RunMachine.TestCase
TestRun.settings = settings(max_examples=60, stateful_step_count=50, deadline=None, print_blob=True)


@pytest.mark.long
class TestLongRun(RunMachine.TestCase):
    settings = settings(max_examples=1_000, stateful_step_count=100, deadline=None, print_blob=True)
