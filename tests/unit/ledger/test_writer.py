from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from small_run import (
    NAME,
    OUTSIDER,
    SECRET,
    TASK,
    begin,
    exported,
    facts,
    key_of,
    ledger,
    plan,
    play,
    signed,
    signed_key,
    small_run,
)

from tollbook.ledger.blobs import facts_blob, task_blob
from tollbook.ledger.parts import part_text
from tollbook.ledger.records import Part
from tollbook.ledger.store import Store
from tollbook.ledger.verify import verify_store
from tollbook.ledger.writer import Voice, Writer
from tollbook.protocol.bodies import Agent, PartText
from tollbook.protocol.canonical import MAX_PART_BYTES, digest
from tollbook.protocol.errors import CanonicalError, DoorError, LedgerError, TollbookError
from tollbook.protocol.keys import key_text
from tollbook.protocol.retail import actions
from tollbook.protocol.retail.actions import GetUserDetails, ListAllProductTypes, SendMessage
from tollbook.protocol.tables import NO_CHANGE

OTHER = bytes(range(32, 64))
ZOE = GetUserDetails("zoe")


class Letter(msgspec.Struct, tag_field="kind", tag="letter.send"):
    """An action that the shop doesn't know: any of its fields may name a part."""

    body: str
    subject: str


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with ledger(path) as opened:
        yield opened


def code_of(act: Callable[[], object], kind: type[TollbookError] = DoorError) -> str:
    with pytest.raises(kind) as caught:
        act()
    assert "\n" not in caught.value.text
    return caught.value.code


def verified(path: Path) -> int:
    """The number of runs, each of which verifies."""
    with Store.read(path) as store:
        audits = list(verify_store(path, store.runs()))
    assert [] == [finding for audit in audits for finding in audit.findings]
    return len(audits)


def state_of(writer: Writer) -> tuple[Any, ...]:
    """All that a message at the door could change."""
    run = writer.run
    members = [(one.n, one.asked, list(one.keys), list(one.said)) for one in run.members.values()]
    assert run.state is not None
    return run.size, run.prev, run.ledger_n, members, run.state.root()


def test_a_run_of_every_kind_verifies(store: Store, path: Path) -> None:
    writer = small_run(store)
    assert 1 == verified(path)
    kinds = [stored.kind for stored in store.records(1)]
    assert {"open", "brief", "message", "decision", "turn", "key", "seal"} == set(kinds)
    assert writer.run.size == len(kinds)
    note = store.notes(1)[0]
    assert note.startswith(f"{NAME}/run/{writer.id}\n{writer.run.size}\n")


def test_the_same_secret_and_plan_give_the_same_bytes(tmp_path: Path) -> None:
    bundles = []
    for name in ("a.db", "b.db"):
        with ledger(tmp_path / name) as store:
            small_run(store)
            bundles.append(exported(store))
    assert bundles[0] == bundles[1]


@pytest.mark.parametrize("group", [1, 10, 100, None])
def test_the_group_changes_when_records_are_kept_and_not_which(tmp_path: Path, group: int | None) -> None:
    with ledger(tmp_path / "a.db") as store:
        small_run(store)
        expected = exported(store)
    with ledger(tmp_path / "b.db") as store:
        writer = begin(store, group=group)
        assert (0 if group is None else 1) == len(store.runs())
        play(writer)
        if group == 1:
            assert writer.run.size - 1 == store.size(1)  # but for the turn at the end
        writer.seal("completed")
        assert expected == exported(store)


def test_a_trial_is_one_run(store: Store) -> None:
    writer = small_run(store)
    assert "run.exists" == code_of(lambda: begin(store), LedgerError)
    assert writer.id != begin(store, trial=1).id


def test_an_open_that_is_not_good_is_refused(store: Store) -> None:
    seats = plan().seats
    twice = [seats[0], seats[1]._replace(id="user")]
    same_key = [seats[2], seats[2]._replace(id="another")]
    cases = {
        "key.duplicate": [twice, same_key],
        "key.small_order": [[seats[0]._replace(key=b"\1" + bytes(31))]],
        "key.not_canonical": [[seats[0]._replace(key=b"\xff" * 31 + b"\x7f")]],
        "key.form": [[seats[0]._replace(key=b"short")]],
    }
    for code, many in cases.items():
        for some in many:

            def opening(some: Any = some) -> Writer:
                return Writer.begin(store, SECRET, NAME, plan()._replace(seats=some), facts(), [])

            assert code == code_of(opening, LedgerError)
    assert [] == store.runs()


def test_an_open_over_a_mebibyte_is_refused(store: Store) -> None:
    agent = Agent(model="x" * 2000, name="", settings={str(i): "x" * 2000 for i in range(600)}, version="")
    seats = [plan().seats[0]._replace(agent=agent)]
    code = code_of(
        lambda: Writer.begin(store, SECRET, NAME, plan()._replace(seats=seats), facts(), []), CanonicalError
    )
    assert "canonical.size" == code


# The door


def messages(writer: Writer) -> list[tuple[str, tuple[bytes, str]]]:
    """What must not come in, by the code that it is turned away with."""
    run = writer.run
    body, sig = signed(run, "outsider", ZOE)
    user, _ = signed(run, "user", ZOE)
    last = run.size - 1
    raw = sig.encode()
    flipped = (b"B" if raw[:1] == b"A" else b"A").decode() + sig[1:]
    return [
        ("message.from", signed(run, "nobody", ZOE)),
        ("message.n", signed(run, "outsider", ZOE, n=run.members["outsider"].n + 1)),
        ("message.n", signed(run, "outsider", ZOE, n=2**31 - 1)),
        ("message.n", signed(run, "outsider", ZOE, n=0)),
        ("message.seen", signed(run, "outsider", ZOE, seen=(last + 1, run.prev))),
        ("message.seen", signed(run, "outsider", ZOE, seen=(last, "0" * 64))),
        ("message.seen", signed(run, "outsider", ZOE, seen=(last, "no hash"))),
        ("message.seen", signed(run, "outsider", ZOE, seen=(0, run.id))),
        ("signature.form", (body, sig[:-4])),
        ("signature.form", (body, sig + "AAAA")),
        ("signature.form", (body, "")),
        ("signature.form", (body, sig[:-3] + chr(ord(sig[-3]) + 1) + "==")),
        ("signature.invalid", (body, flipped)),
        ("signature.invalid", signed(run, "outsider", ZOE, signer=key_of("nobody"))),
        ("signature.invalid", (user, sig)),
        ("canonical.form", (b"", sig)),
        ("canonical.form", (b"[]", sig)),
        ("canonical.form", (body[:-1] + b',"more":1}', sig)),
        ("canonical.form", (body.replace(b'"n":', b'"n":-'), sig)),
        ("canonical.spelling", (b" " + body, sig)),
        ("canonical.spelling", (body.replace(b'"kind"', b'"\\u006bind"'), sig)),
        ("canonical.form", (b"\xef\xbb\xbf" + body, sig)),
        ("canonical.form", (body + body, sig)),
        ("canonical.size", (body + b" " * 70_000, sig)),
        ("canonical.form", (body.replace(b'"tool.get_user_details"', b"1"), sig)),
    ]


@pytest.mark.parametrize("place", range(25))
def test_what_is_not_authentic_is_turned_away_and_changes_nothing(
    store: Store, path: Path, place: int
) -> None:
    writer = begin(store, group=1)
    for _ in range(2):
        writer.admit(*signed(writer.run, "outsider", ZOE))
    before, bundle = state_of(writer), exported(store)
    code, message = messages(writer)[place]
    assert code == code_of(lambda: writer.admit(*message))
    assert (before, bundle) == (state_of(writer), exported(store))
    writer.admit(*signed(writer.run, "outsider", ZOE))
    writer.seal("completed")
    assert 1 == verified(path)


def test_the_places_above_are_all_of_them(store: Store) -> None:
    assert 25 == len(messages(begin(store)))


def test_seen_from_another_run_is_turned_away(store: Store) -> None:
    one, two = begin(store, trial=0), begin(store, trial=1)
    body = signed(one.run, "outsider", ZOE)
    assert "message.seen" == code_of(lambda: two.admit(*body))
    one.admit(*body)


def test_seen_is_not_before_ones_own_brief(store: Store) -> None:
    writer = begin(store)
    writer.brief("outsider", "your task")
    assert "message.seen" == code_of(
        lambda: writer.admit(*signed(writer.run, "outsider", ZOE, seen=(0, writer.id)))
    )
    writer.admit(*signed(writer.run, "outsider", ZOE, seen=(1, writer.run.prev)))


def test_a_part_is_the_one_that_the_message_names_or_withheld(store: Store, path: Path) -> None:
    writer = begin(store)
    salt = "ab" * 16
    text = PartText(salt=salt, text="hello")
    long = PartText(salt=salt, text="x" * (MAX_PART_BYTES + 1))
    say = SendMessage(digest((salt, "hello")))
    for code, action, wrong in (
        ("part.digest", say, [Part("text", PartText(salt=salt, text="hullo"))]),
        ("part.orphan", say, [Part("other", text)]),
        ("part.orphan", say, [Part("text", text), Part("text", text)]),
        ("part.orphan", GetUserDetails(text.digest), [Part("user_id", text)]),  # a field that is no part
        ("part.size", SendMessage(long.digest), [Part("text", long)]),
    ):
        body = signed(writer.run, "outsider", action, to="user")
        assert code == code_of(lambda body=body, wrong=wrong: writer.admit(*body, wrong))
    assert (
        "accepted"
        == writer.admit(
            *signed(writer.run, "outsider", say, to="user"), [Part("text", text)]
        ).decision.outcome
    )
    assert "accepted" == writer.admit(*signed(writer.run, "outsider", say, to="user")).decision.outcome
    writer.seal("completed")
    assert 1 == verified(path)


def test_parts_come_in_any_order_and_are_kept_by_field(store: Store, path: Path) -> None:
    writer = begin(store)
    text = PartText(salt="ab" * 16, text="hello")
    body = signed(writer.run, "outsider", Letter(text.digest, text.digest))
    ruling = writer.admit(*body, [Part("subject", text), Part("body", text)])
    assert "action.unknown" == ruling.decision.rule
    writer.seal("completed")
    assert 1 == verified(path)


def test_what_no_rule_knows_is_recorded_as_refused(store: Store, path: Path) -> None:
    writer = begin(store)

    class Anything(msgspec.Struct, tag_field="kind", tag="shop.burn"):
        pass

    cases: list[tuple[str, Any, dict[str, Any]]] = [
        ("message.to", ZOE, {"to": "nobody"}),
        ("message.to", ZOE, {"to": "outsider"}),
        ("message.reply_to", ZOE, {"reply_to": 1}),
        ("message.reply_to", ZOE, {"reply_to": 2**31 - 1}),
        ("action.unknown", Anything(), {}),
        ("action.invalid", GetUserDetails("x" * 3000), {}),
    ]
    for rule, action, fields in cases:
        assert rule == writer.admit(*signed(writer.run, "outsider", action, **fields)).decision.rule
    writer.seal("completed")
    assert 1 == verified(path)


# The same bytes again


def test_the_same_bytes_get_the_recorded_decision_and_nothing_is_appended(store: Store, path: Path) -> None:
    writer = begin(store, group=1)
    said = [signed(writer.run, "outsider", ZOE, to="platform")]
    first = writer.admit(*said[0]).decision
    said.append(signed(writer.run, "outsider", GetUserDetails("nobody")))
    second = writer.admit(*said[1]).decision
    assert ("accepted", "refused") == (first.outcome, second.outcome)
    before, bundle = state_of(writer), exported(store)
    assert [first, second] == [writer.admit(*one).decision for one in said]
    assert (before, bundle) == (state_of(writer), exported(store))
    store.close()
    with ledger(path) as again:
        resumed = Writer.resume(again, SECRET, 1)
        assert [first, second] == [resumed.admit(*one).decision for one in said]
        assert before == state_of(resumed)
        resumed.admit(*signed(resumed.run, "outsider", ZOE))
        resumed.seal("completed")
    assert 1 == verified(path)


def test_other_bytes_under_a_used_number_are_turned_away(store: Store) -> None:
    writer = begin(store)
    writer.admit(*signed(writer.run, "outsider", ZOE))
    assert "message.n" == code_of(
        lambda: writer.admit(*signed(writer.run, "outsider", ListAllProductTypes(), n=0))
    )


def test_the_same_body_under_another_signature_is_not_the_same(store: Store) -> None:
    writer = begin(store)
    body, sig = signed(writer.run, "outsider", ZOE)
    writer.admit(body, sig)
    assert "signature.invalid" == code_of(lambda: writer.admit(body, "A" * 86 + "=="))
    assert "signature.form" == code_of(lambda: writer.admit(body, "no signature"))


def test_what_was_said_with_a_key_since_revoked_is_still_answered(store: Store) -> None:
    writer = begin(store)
    said = signed(writer.run, "outsider", ZOE)
    first = writer.admit(*said).decision
    writer.revoke_key("outsider", OUTSIDER.public)
    assert first == writer.admit(*said).decision
    assert "key.unknown" == code_of(lambda: writer.admit(*signed(writer.run, "outsider", ZOE)))


# Keys


def test_a_key_is_added_used_and_revoked(store: Store, path: Path) -> None:
    writer = begin(store)
    second = key_of("second")
    early = signed(writer.run, "outsider", ZOE, signer=second)
    assert "signature.invalid" == code_of(lambda: writer.admit(*early))
    seq = writer.change_key(*signed_key(writer.run, "outsider", "add", second))
    assert (1, 1) == (seq, writer.run.members["outsider"].n)
    for signer in (second, OUTSIDER):
        writer.admit(*signed(writer.run, "outsider", ZOE, signer=signer))
    writer.change_key(*signed_key(writer.run, "outsider", "revoke", OUTSIDER, signer=second))
    assert "signature.invalid" == code_of(lambda: writer.admit(*signed(writer.run, "outsider", ZOE)))
    writer.admit(*signed(writer.run, "outsider", ZOE, signer=second))
    writer.seal("completed")
    assert 1 == verified(path)


def test_a_key_change_that_is_not_good_is_turned_away_and_changes_nothing(store: Store, path: Path) -> None:
    writer = begin(store)
    writer.admit(*signed(writer.run, "outsider", ZOE))
    run, second = writer.run, key_of("second")
    user = run.opened.parties[0].key
    small = key_text(b"\1" + bytes(31))
    cases = [
        ("key.unknown", signed_key(run, "nobody", "add", second)),
        ("key.form", signed_key(run, "outsider", "add", second, text="!" * 44)),
        ("key.small_order", signed_key(run, "outsider", "add", second, text=small)),
        (
            "key.not_canonical",
            signed_key(run, "outsider", "add", second, text=key_text(b"\xff" * 31 + b"\x7f")),
        ),
        ("key.duplicate", signed_key(run, "outsider", "add", OUTSIDER)),
        ("key.duplicate", signed_key(run, "outsider", "add", second, text=user)),
        ("key.duplicate", signed_key(run, "outsider", "add", second, text=run.opened.ledger.key)),
        ("key.revoke", signed_key(run, "outsider", "revoke", second)),
        ("key.revoke", signed_key(run, "outsider", "revoke", second, text=user)),
        ("key.revoke", signed_key(run, "outsider", "add", second, by="ledger", n=0)),
        ("message.n", signed_key(run, "outsider", "add", second, n=2)),
        ("message.n", signed_key(run, "outsider", "revoke", OUTSIDER, by="ledger", n=1)),
        ("message.seen", signed_key(run, "outsider", "add", second, seen=(0, run.id))),
        ("message.seen", signed_key(run, "outsider", "add", second, seen=(run.size, run.prev))),
        ("signature.invalid", signed_key(run, "outsider", "add", second, signer=second)),
        ("signature.invalid", signed_key(run, "outsider", "revoke", OUTSIDER, by="ledger", n=0)),
        ("signature.form", (signed_key(run, "outsider", "add", second)[0], "no")),
        ("canonical.form", (b"{}", "no")),
    ]
    before = state_of(writer)
    assert [code for code, _ in cases] == [
        code_of(lambda change=change: writer.change_key(*change)) for _, change in cases
    ]
    assert before == state_of(writer)
    writer.change_key(*signed_key(run, "outsider", "add", second))
    writer.seal("completed")
    assert 1 == verified(path)


def test_the_same_key_change_again_is_kept_once(store: Store) -> None:
    writer = begin(store)
    change = signed_key(writer.run, "outsider", "add", key_of("second"))
    assert 1 == writer.change_key(*change)
    before = state_of(writer)
    assert 1 == writer.change_key(*change)
    assert before == state_of(writer)
    other = signed_key(writer.run, "outsider", "add", key_of("third"), n=0)
    assert "message.n" == code_of(lambda: writer.change_key(*other))


def test_the_ledger_revokes_any_partys_key_under_its_own_count(store: Store, path: Path) -> None:
    writer = begin(store)
    user = writer.voice("user")
    user.say(ZOE, to=None)
    writer.change_key(*signed_key(writer.run, "outsider", "add", key_of("second")))
    assert 4 == writer.revoke_key("outsider", OUTSIDER.public)
    assert 5 == writer.revoke_key("user", user.public)
    assert 2 == writer.run.ledger_n
    assert "key.revoke" == code_of(lambda: writer.revoke_key("user", user.public))
    assert "key.unknown" == code_of(lambda: writer.revoke_key("nobody", user.public))
    before = state_of(writer)
    assert "signature.invalid" == code_of(lambda: user.say(ZOE, to=None))
    assert before == state_of(writer)
    writer.seal("completed")
    assert 1 == verified(path)


def test_a_voice_with_anothers_seed_says_nothing(store: Store) -> None:
    writer = begin(store)
    before = state_of(writer)
    assert "signature.invalid" == code_of(lambda: Voice(writer, "user", OTHER).say(ZOE, to=None))
    assert "signature.invalid" == code_of(lambda: writer.voice("outsider").say(ZOE, to=None))
    assert before == state_of(writer)


# Briefs, turns, texts


def test_briefs_and_turns_are_for_parties_that_are_there(store: Store, path: Path) -> None:
    writer = begin(store)
    assert "brief.party" == code_of(lambda: writer.brief("nobody", "text"), LedgerError)
    assert "turn.party" == code_of(lambda: writer.turn("nobody", None), LedgerError)
    assert "turn.n" == code_of(lambda: writer.turn("user", 1), LedgerError)
    writer.brief("user", "text")
    writer.turn("user", 0, given="", gave="")
    assert "grammar.brief" == code_of(lambda: writer.brief("user", "late"), LedgerError)
    writer.seal("completed")
    assert 1 == verified(path)


def test_a_text_too_long_or_of_half_characters_is_refused_and_the_run_goes_on(
    store: Store, path: Path
) -> None:
    writer = begin(store)
    long = "\U0001f600" * (MAX_PART_BYTES // 4)
    writer.brief("user", long)
    for text, code in ((long + "x", "canonical.size"), ("\ud800", "canonical.text")):
        acts: list[Callable[[], object]] = [
            lambda text=text: writer.brief("user", text),
            lambda text=text: writer.turn("user", None, gave=text),
            lambda text=text: writer.voice("user").say(SendMessage(text), to="assistant"),
        ]
        before = state_of(writer)
        assert [code] * 3 == [code_of(act, CanonicalError) for act in acts]
        assert before == state_of(writer)
    writer.voice("user").say(SendMessage(long), to="assistant")
    writer.seal("completed")
    assert 1 == verified(path)


def test_a_part_text_is_measured_in_bytes() -> None:
    assert 2**20 == len(part_text("0" * 32, "x" * 2**20).text)
    assert "canonical.size" == code_of(lambda: part_text("0" * 32, "ü" * (2**19 + 1)), CanonicalError)


def test_a_value_that_has_no_form_is_refused_and_the_run_goes_on(store: Store, path: Path) -> None:
    class Order(msgspec.Struct, tag_field="kind", tag="shop.order"):
        price: Any

    writer = begin(store)
    before = state_of(writer)
    for price in (0.1, float("nan"), float("inf"), 2**53, {"ü": 1}, "\ud800", {1: 2}):
        with pytest.raises(CanonicalError):
            writer.voice("assistant").say(Order(price), to="platform")
    assert before == state_of(writer)
    assert "action.unknown" == writer.voice("assistant").say(Order(1), to="platform").decision.rule
    writer.seal("completed")
    assert 1 == verified(path)


# What goes wrong


class _Stopped(Exception):  # noqa: N818 - stands for anything
    pass


def test_a_writer_stopped_in_a_decision_writes_no_more_and_the_run_goes_on(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = begin(store)
    writer.voice("assistant").say(ZOE, to="platform")

    def stop(*_arguments: object) -> None:
        raise _Stopped

    monkeypatch.setattr(writer.run, "rule", stop)
    with pytest.raises(_Stopped):
        writer.voice("assistant").say(ListAllProductTypes(), to="platform")
    for act in (
        lambda: writer.voice("assistant").say(ZOE, to="platform"),
        lambda: writer.brief("user", ""),
        lambda: writer.turn("user", None),
        lambda: writer.revoke_key("outsider", OUTSIDER.public),
        lambda: writer.seal("completed"),
    ):
        assert "run.over" == code_of(act, LedgerError)
    writer.flush()
    assert 3 == store.size(1)
    resumed = Writer.resume(store, SECRET, 1)
    assert 1 == resumed.run.members["assistant"].n
    resumed.voice("assistant").say(ListAllProductTypes(), to="platform")
    resumed.seal("completed")
    assert 1 == verified(path)


def test_a_sealed_run_takes_nothing_more(store: Store) -> None:
    writer = small_run(store)
    assert "run.over" == code_of(lambda: writer.seal("completed"), LedgerError)
    assert "run.over" == code_of(lambda: writer.voice("user").say(ZOE, to=None), LedgerError)


def test_on_a_full_disk_nothing_is_answered_and_nothing_is_lost(store: Store, path: Path) -> None:
    writer = begin(store, group=1)
    connection = store._connection  # noqa: SLF001 - the limit is one of the connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    said: list[tuple[bytes, str]] = []
    with pytest.raises(LedgerError) as caught:  # noqa: PT012 - how many fit is SQLite's affair
        for _ in range(1000):
            said.append(signed(writer.run, "outsider", ZOE))
            writer.admit(*said[-1])
    assert "ledger.write" == caught.value.code
    kept = store.size(1)
    assert "ledger.write" == code_of(lambda: writer.admit(*said[-1]), LedgerError)
    assert kept == store.size(1)
    connection.execute("PRAGMA max_page_count = 1000000")
    assert "accepted" == writer.admit(*said[-1]).decision.outcome
    assert kept + 2 == store.size(1)
    writer.seal("completed")
    assert 1 == verified(path)


def test_a_seal_that_could_not_be_kept_is_kept_with_its_checkpoint_later(store: Store, path: Path) -> None:
    writer = begin(store)
    play(writer)
    with closing(sqlite3.connect(path, isolation_level=None)) as tool:
        store._connection.execute("PRAGMA busy_timeout = 10")  # noqa: SLF001 - not to wait
        tool.execute("BEGIN IMMEDIATE")
        assert "ledger.busy" == code_of(lambda: writer.seal("completed"), LedgerError)
    writer.flush()
    assert 1 == verified(path)


# Going on


def test_a_run_resumed_after_each_record_becomes_the_uninterrupted_one(tmp_path: Path) -> None:
    def acts() -> list[Callable[[Writer], object]]:
        return [
            lambda writer: writer.brief("user", "cancel"),
            lambda writer: writer.voice("user").say(SendMessage("please"), to="assistant"),
            lambda writer: writer.turn("assistant", 0, given="please", gave="yes"),
            lambda writer: writer.voice("assistant").say(
                actions.CancelPendingOrder("#ann-lamp", "no longer needed"), to="platform", key="once"
            ),
            lambda writer: writer.change_key(*signed_key(writer.run, "outsider", "add", key_of("second"))),
            lambda writer: writer.revoke_key("outsider", OUTSIDER.public),
            lambda writer: writer.admit(*signed(writer.run, "outsider", ZOE, signer=key_of("second"))),
            lambda writer: writer.revoke_key("outsider", key_of("second").public),
            lambda writer: writer.voice("assistant").say(
                actions.CancelPendingOrder("#ann-lamp", "no longer needed"), to="platform", key="once"
            ),
            lambda writer: writer.seal("completed"),
        ]

    with ledger(tmp_path / "a.db") as store:
        writer = begin(store)
        for act in acts():
            act(writer)
        expected = exported(store)
    for act in acts():
        with ledger(tmp_path / "b.db") as store:
            writer = Writer.resume(store, SECRET, 1) if store.runs() else begin(store)
            act(writer)
            writer.flush()
    with Store.read(tmp_path / "b.db") as store:
        assert expected == exported(store)


def test_two_writers_of_one_run_do_not_mix(store: Store, path: Path) -> None:
    one = begin(store, group=1)
    two = Writer.resume(store, SECRET, 1, group=1)
    one.voice("assistant").say(ZOE, to="platform")
    assert "ledger.conflict" == code_of(
        lambda: two.voice("assistant").say(ListAllProductTypes(), to="platform"), LedgerError
    )
    one.seal("completed")
    assert 1 == verified(path)


def test_what_cannot_be_gone_on_with_is_refused(store: Store, path: Path, tmp_path: Path) -> None:
    sealed, opened = small_run(store), begin(store, trial=1)
    opened.voice("assistant").say(ZOE, to="platform")
    opened.flush()
    assert sealed.id
    assert "run.sealed" == code_of(lambda: Writer.resume(store, SECRET, 1), LedgerError)
    assert "run.unknown" == code_of(lambda: Writer.resume(store, SECRET, 3), LedgerError)
    assert "run.foreign" == code_of(lambda: Writer.resume(store, OTHER, 2), LedgerError)
    store.close()
    changes = [
        ("run.damaged", "UPDATE records SET body = replace(body, 'zoe', 'ann') WHERE kind = 'message'"),
        ("run.damaged", "UPDATE records SET sig = zeroblob(64) WHERE kind = 'message'"),
        ("run.damaged", "DELETE FROM records WHERE kind = 'decision'"),
        ("run.damaged", "UPDATE records SET body = '{' WHERE place = 2 << 31"),
        ("run.damaged", "UPDATE runs SET id = replace(id, substr(id, 1, 4), 'ffff')"),
        ("run.facts", "DELETE FROM blobs"),
        ("store.damaged", "UPDATE records SET kind = CAST(x'ff' AS TEXT)"),
    ]
    for code, change in changes:
        other = tmp_path / "other.db"
        shutil.copy(path, other)
        with closing(sqlite3.connect(other, isolation_level=None)) as tool:
            names = tool.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
            for (name,) in names:
                tool.execute(f"DROP TRIGGER {name}")
            tool.execute(change)
        with ledger(other) as damaged:
            assert code == code_of(lambda damaged=damaged: Writer.resume(damaged, SECRET, 2), LedgerError), (
                change
            )
        for made in tmp_path.glob("other.db*"):
            made.unlink()


def test_a_decision_that_changes_nothing_has_the_digest_of_nothing(store: Store) -> None:
    assert NO_CHANGE == begin(store).voice("assistant").say(ZOE, to="platform").decision.delta


def test_blobs_are_kept_with_the_first_records(store: Store) -> None:
    begin(store)
    for blob in (facts_blob(facts()), task_blob(TASK)):
        assert blob.lines == store.blob(blob.digest)
