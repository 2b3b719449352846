"""Runs over HTTP: the run of an agent in process, with its proofs; what is turned away; how runs end."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import re
import shutil
import socket
import subprocess
import time
from base64 import b64encode
from collections.abc import Callable, Generator
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import pytest
from hosted import OPEN, Hosted, hosted

from tollbook.ledger.store import Store
from tollbook.protocol.bodies import Agent as Stated
from tollbook.protocol.canonical import base64_bytes, encode, encode_typed
from tollbook.protocol.derive import party_seed
from tollbook.protocol.errors import DoorError, LedgerError, NoteError, ProofError
from tollbook.protocol.keys import SigningKey, key_text, pae, pae_of, signature_text
from tollbook.tasks.cli import main
from tollbook.tasks.format.task import load_task
from tollbook.tasks.play.casting import Part, cast
from tollbook.tasks.play.recorder import Ledger, record
from tollbook.tasks.serve.client import Client, Run
from tollbook.tasks.serve.limits import Limits, Rate
from tollbook.tasks.serve.wire import MESSAGE_TYPE, REQUEST_TYPE, Leaving, Opening, write_envelope
from tollbook.tasks.session import Session
from tollbook.tasks.shelf import find_task

TASK = "t4.buyer_zopa"
SEED = bytes(range(100, 132))
ME = Stated(model="", name="me", settings={}, version="1")
LOOK = {"kind": "listing.get", "listing": "l1"}


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Generator[Hosted]:
    with hosted(tmp_path_factory.mktemp("host"), (TASK, "t7.merchant_refund", "t4.merchant_zopa")) as made:
        yield made


@pytest.fixture
def client(market: Hosted) -> Generator[Client]:
    with Client(market.url) as made:
        yield made


def opened(client: Client, name: str, seed: bytes = SEED) -> Run:
    return client.open(TASK, "linear", seed, ME, name)


def records(hosted: Hosted, run: str) -> int:
    with Store.read(hosted.session.ledger_path) as store:
        return store.size(store.find(run)[0])


# The same run


@pytest.mark.parametrize(
    ("name", "word"),
    [
        (TASK, "reference"),
        ("t7.merchant_refund", "reference"),
        ("t4.merchant_zopa", "reference"),
        (TASK, "cheat:always_refuse"),
        (TASK, "cheat:flood_then_refuse"),
        ("t7.merchant_refund", "cheat:random_legal.3"),
        ("t4.merchant_zopa", "mutation:names_its_limit"),
    ],
)
def test_an_agent_gives_the_same_run_in_process_and_over_http(
    market: Hosted, client: Client, tmp_path: Path, name: str, word: str
) -> None:
    task = load_task(find_task(name).text)
    if word.startswith("mutation:"):
        word = f"mutation:{next(iter(task.mutations))}"
    case = list(task.file.case)[-1]
    secret = market.session.secret()
    with Session(tmp_path / "own.db", tmp_path / "own.secret", market.session.name).store_to_write(
        secret
    ) as store:
        seed_of = task.scenes.seed(case, 0)
        agent = cast(task, Part(word))(seed_of)
        own = record(Ledger(store, secret, market.session.name), task, case, 0, agent).audit.replayed
    assert own is not None
    seed = party_seed(secret, own.opened.nonce, task.actor)
    agent = cast(task, Part(word))(seed_of)
    end = client.open(name, case, seed, agent.stated).play(agent)
    assert own.root().hex() == end["root"]
    ended = market.ended[-1]
    assert (own.id, own.opened.trial, ()) == (ended.run, ended.trial, tuple(ended.findings))


def test_a_run_is_sealed_scored_noted_and_verifies(market: Hosted, client: Client) -> None:
    run = opened(client, "scored")
    run.say(LOOK)
    end = run.say({"kind": "purchase.decline", "reason": "too dear"})["end"]
    assert "completed" == end["outcome"]
    assert end["score"] is None, "a party isn't told what it is worth, unless the operator says so"
    with Store.read(market.session.ledger_path) as store:
        number, _ = store.find(run.id)
        assert 2 == len(store.notes(number))
        assert store.receipt(number) is not None
    words = ["--ledger", str(market.session.ledger_path), "verify", run.id]
    assert 0 == main(words)


def test_every_answer_goes_on_from_the_checkpoint_before(client: Client) -> None:
    run = opened(client, "proofs")
    sizes = [run.checkpoint.size] if run.checkpoint is not None else []
    for _ in range(3):
        answer = run.say(LOOK)
        assert run.checkpoint is not None
        sizes.append(run.checkpoint.size)
        kinds = [each["record"]["kind"] for each in answer["records"]]
        assert (["message", "decision"], sizes[-2]) == (kinds, answer["consistency"]["since"])
        assert answer["records"][1]["record"]["body"] == answer["decision"]
        assert run.checkpoint.size == answer["seen"][0] + 1
    assert sorted(set(sizes)) == sizes
    run.end()


def _record(answer: Any) -> None:
    answer["records"][0]["record"]["body"]["n"] += 1


def _proof(answer: Any) -> None:
    answer["records"][1]["proof"][0] = b64encode(bytes(32)).decode()


def _root(answer: Any) -> None:
    text, _, lines = answer["checkpoint"].partition("\n\n")
    origin, size, _ = text.split("\n")
    root = b64encode(bytes(32)).decode()
    answer["checkpoint"] = f"{origin}\n{size}\n{root}\n\n{lines}"


def _history(answer: Any) -> None:
    answer["consistency"]["proof"][-1] = b64encode(bytes(32)).decode()


def _unlinked(answer: Any) -> None:
    answer["consistency"] = None


def _older(answer: Any) -> None:
    answer["seen"][0] -= 1


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (ProofError, _record),
        (ProofError, _proof),
        (NoteError, _root),
        (ProofError, _history),
        (ProofError, _unlinked),
        (ProofError, _older),
    ],
)
def test_a_client_believes_no_answer_that_isnt_proven(
    client: Client, kind: type[Exception], change: Callable[[Any], None]
) -> None:
    run = opened(client, f"lies {change.__name__}".replace(" ", "-"))
    honest = client.ask

    def lying(*words: Any) -> Any:
        answer = copy.deepcopy(honest(*words))
        change(answer)
        return answer

    client.ask = lying  # type: ignore[method-assign]
    with pytest.raises(kind):
        run.say(LOOK)
    client.ask = honest  # type: ignore[method-assign]


def test_a_pinned_ledger_key_is_held_to(market: Hosted) -> None:
    with Client(market.url, ledger_key=SigningKey.from_seed(SEED).public) as client, pytest.raises(NoteError):
        opened(client, "pinned")


# Turned away


class Wire:
    """A run, and a way to send anything to its host."""

    def __init__(self, market: Hosted, run: Run) -> None:
        self.market = market
        self.run = run
        self.token = market.host.token(run.id)

    def send(
        self,
        path: str = "",
        body: bytes | None = b"{}",
        *,
        method: str = "POST",
        token: str | None = None,
        media: str = "application/json",
        **headers: str,
    ) -> tuple[int, Any, dict[str, str]]:
        connection = HTTPConnection("127.0.0.1", self.market.port, timeout=10)
        shown = self.token if token is None else token
        fields = {"Authorization": f"Bearer {shown}", "Content-Type": media, **headers}
        connection.request(method, path or f"/runs/{self.run.id}/messages", body, fields)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        return response.status, json.loads(data), dict(response.getheaders())

    def message(self, key: SigningKey | None = None, **changes: Any) -> bytes:
        """A message, right but for the changes to its body."""
        envelope = json.loads(
            self.run.envelope(msgspec.Raw(encode(changes.pop("action", LOOK))), changes.pop("to", None))
        )
        body = json.loads(base64_bytes(envelope["payload"]) or b"")
        payload = changes.pop("payload", None) or encode({**body, **changes})
        signer = key or SigningKey.from_seed(SEED)
        return write_envelope(MESSAGE_TYPE, payload, signature_text(signer.sign(pae("message", payload))))


OTHER = SigningKey.from_seed(bytes(range(32)))
NO_RUN = "0" * 64
DECLINE = {"kind": "purchase.decline", "reason": "0" * 64}
CANCEL = {"kind": "order.cancel", "order": "o1"}
UNSIGNED = {"payload": "e30=", "payloadType": "application/vnd.tollbook.message.v1+json", "signatures": []}

REFUSALS: list[tuple[int, str, Callable[[Wire], tuple[int, Any, dict[str, str]]]]] = [
    (400, "serve.form",         lambda w: w.send(body=b"no json")),
    (400, "serve.form",         lambda w: w.send(body=b"[" * 100_000)),
    (400, "serve.form",         lambda w: w.send(body=b"\xff\xfe")),
    (400, "serve.form",         lambda w: w.send(body=encode({**UNSIGNED, "payloadType": "text/plain"}))),
    (400, "serve.form",         lambda w: w.send(body=encode({**UNSIGNED, "payload": "e30"}))),
    (400, "serve.form",         lambda w: w.send(body=encode({**UNSIGNED, "more": 1}))),
    (401, "serve.token",        lambda w: w.send(body=w.message(), token="0" * 64)),
    (401, "serve.token",        lambda w: w.send(body=w.message(), token="")),
    (401, "serve.token",        lambda w: w.send(f"/runs/{'0' * 64}/messages", w.message())),
    (401, "serve.token",        lambda w: w.send(f"/runs/{w.run.id}", None, method="GET", token="x")),
    (404, "serve.unknown",      lambda w: w.send("/nowhere", w.message())),
    (404, "serve.unknown",      lambda w: w.send(f"/runs/{NO_RUN}/end", token=w.market.host.token(NO_RUN))),
    (405, "serve.method",       lambda w: w.send(method="DELETE")),
    (413, "serve.size",         lambda w: w.send(body=b" " * (OPEN.request_bytes + 1))),
    (413, "canonical.size",     lambda w: w.send(body=w.message(payload=b" " * 70_000))),
    (415, "serve.type",         lambda w: w.send(body=w.message(), media="text/plain")),
    (415, "serve.type",         lambda w: w.send(body=w.message(), media="")),
    (422, "canonical.form",     lambda w: w.send(body=w.message(payload=b"{}"))),
    (422, "canonical.spelling", lambda w: w.send(body=w.message(payload=b" " + _right(w)))),
    (422, "part.form",          lambda w: w.send(body=_with_part(w, "no hex"))),
    (422, "part.orphan",        lambda w: w.send(body=_with_part(w, "0" * 32))),
    (422, "part.missing",       lambda w: w.send(body=w.message(action=DECLINE))),
    (403, "signature.missing",  lambda w: w.send(body=encode(UNSIGNED))),
    (403, "signature.invalid",  lambda w: w.send(body=w.message(OTHER))),
    (403, "signature.form",     lambda w: w.send(body=_with_sig(w, "AAAA"))),
    (403, "signature.invalid",  lambda w: w.send(body=w.message(**{"from": "merchant", "n": 0}))),
    (403, "message.from",       lambda w: w.send(body=w.message(**{"from": "nobody"}))),
    (403, "serve.tool",         lambda w: w.send(body=w.message(action={"kind": "clock.advance"}))),
    (403, "serve.tool",         lambda w: w.send(body=w.message(action=CANCEL))),
    (409, "message.n",          lambda w: w.send(body=w.message(n=9))),
    (409, "message.seen",       lambda w: w.send(body=w.message(seen=[99, "0" * 64]))),
    (409, "message.seen",       lambda w: w.send(body=w.message(seen=[2, "0" * 64]))),
    (403, "serve.foreign",      lambda w: w.send(f"/runs/{w.run.id}/end", _leaving(w, "0" * 64))),
    (403, "signature.invalid",  lambda w: w.send(f"/runs/{w.run.id}/end", _leaving(w, w.run.id, OTHER))),
    (409, "message.seen",       lambda w: w.send(f"/runs/{w.run.id}/end", _leaving(w, w.run.id, seq=99))),
    (422, "serve.form",         lambda w: w.send(f"/runs/{w.run.id}/end", _opening(w))),
    (400, "serve.form",         lambda w: w.send(f"/runs/{w.run.id}/view?from=-1", None, method="GET")),
    (422, "serve.form",         lambda w: w.send("/runs", _leaving(w, w.run.id))),
    (403, "signature.invalid",  lambda w: w.send("/runs", _opening(w, signer=OTHER))),
    (403, "key.small_order",    lambda w: w.send("/runs", _opening(w, key=b64encode(bytes(32)).decode()))),
    (409, "serve.session",      lambda w: w.send("/runs", _opening(w, session="0" * 64))),
    (404, "serve.case",         lambda w: w.send("/runs", _opening(w, task="t9.none"))),
    (404, "serve.case",         lambda w: w.send("/runs", _opening(w, case="none"))),
    (422, "canonical.form",     lambda w: w.send("/runs", _opening(w, payload=b"{}"))),
    (413, "serve.size",         lambda w: w.send("/runs", b" " * (OPEN.opening_bytes + 1))),
]  # fmt: skip


def _right(wire: Wire) -> bytes:
    return base64_bytes(json.loads(wire.message())["payload"]) or b""


def _with_part(wire: Wire, salt: str) -> bytes:
    return encode({**json.loads(wire.message()), "parts": [{"field": "note", "salt": salt, "text": "a"}]})


def _with_sig(wire: Wire, sig: str) -> bytes:
    return encode({**json.loads(wire.message()), "signatures": [{"sig": sig}]})


def _leaving(wire: Wire, run: str, key: SigningKey | None = None, seq: int = 1) -> bytes:
    assert wire.run.checkpoint is not None
    payload = encode_typed(Leaving(run, (seq, wire.run.opened.nonce)))
    signer = key or SigningKey.from_seed(SEED)
    if seq == 1 and run == wire.run.id:
        payload = encode_typed(Leaving(run, (wire.run.checkpoint.size - 1, wire.run.seen[1])))
    return write_envelope(REQUEST_TYPE, payload, signature_text(signer.sign(pae_of(REQUEST_TYPE, payload))))


def _opening(wire: Wire, signer: SigningKey | None = None, payload: bytes = b"", **changes: str) -> bytes:
    key = SigningKey.from_seed(SEED)
    fields = {"case": "linear", "id": "x", "key": key_text(key.public), "session": wire.market.host.session}
    opening = Opening(agent=ME, **{**fields, "task": TASK, **changes})  # type: ignore[arg-type]
    payload = payload or encode_typed(opening)
    sig = signature_text((signer or key).sign(pae_of(REQUEST_TYPE, payload)))
    return write_envelope(REQUEST_TYPE, payload, sig)


@pytest.fixture(scope="module")
def wire(market: Hosted) -> Generator[Wire]:
    with Client(market.url) as client:
        run = opened(client, "refusals")
        yield Wire(market, run)
        run.end()


@pytest.mark.parametrize(("status", "code", "sent"), REFUSALS)
def test_what_is_turned_away_is_told_why_and_nothing_is_recorded(
    wire: Wire, status: int, code: str, sent: Callable[[Wire], tuple[int, Any, dict[str, str]]]
) -> None:
    before, playing = records(wire.market, wire.run.id), len(wire.market.host.live)
    found, answer, _ = sent(wire)
    assert (status, code) == (found, answer["code"])
    assert {"code", "text", "hint"} == answer.keys()
    assert answer["text"] == answer["text"].strip()
    assert answer["hint"]
    assert (before, playing) == (records(wire.market, wire.run.id), len(wire.market.host.live))
    assert 200 == wire.send(f"/runs/{wire.run.id}", None, method="GET")[0], "the honest are heard still"


def test_the_same_bytes_again_get_the_recorded_decision(market: Hosted, client: Client) -> None:
    run = opened(client, "again")
    wire = Wire(market, run)
    first, second = wire.message(), None
    _, one, _ = wire.send(body=first)
    run.taken(one)
    second = wire.message()
    _, two, _ = wire.send(body=second)
    before = records(market, run.id)
    assert (200, two) == wire.send(body=second)[:2], "the last one: the whole answer again"
    status, again, _ = wire.send(body=first)
    assert (200, True, one["decision"]) == (status, again["again"], again["decision"])
    assert [each["record"] for each in one["records"]] == [each["record"] for each in again["records"]]
    assert before == records(market, run.id)
    run.taken(two)
    run.end()
    assert 410 == wire.send(body=first)[0]


def test_a_foreign_party_is_not_heard_in_a_run_of_another(market: Hosted, client: Client) -> None:
    mine, theirs = opened(client, "mine"), client.open(TASK, "linear", bytes(range(32)), ME, "theirs")
    own, other = Wire(market, mine), Wire(market, theirs)
    assert 401 == own.send(f"/runs/{theirs.id}/messages", own.message())[0]
    assert 401 == own.send(f"/runs/{theirs.id}/view", None, method="GET")[0]
    assert "message.seen" == other.send(body=own.message())[1]["code"], "even if it had the token"
    for run in (mine, theirs):
        run.end()


def test_the_same_opening_gives_the_same_run_and_another_name_the_next_trial(client: Client) -> None:
    first, again, second = (opened(client, name) for name in ("trial-a", "trial-a", "trial-b"))
    assert first.id == again.id
    assert first.opened.trial + 1 == second.opened.trial
    for run in (first, second):
        run.end()


def code_of(told: tuple[int, Any, dict[str, str]]) -> tuple[int, str]:
    return told[0], told[1]["code"]


# How runs end


def test_a_party_may_stop(client: Client) -> None:
    run = opened(client, "stops")
    assert "agent_stopped" == run.end()["outcome"]
    with pytest.raises(DoorError) as caught:
        run.say(LOOK)
    assert "serve.over" == caught.value.code


def test_a_run_whose_party_is_silent_is_abandoned_and_verifies(tmp_path: Path) -> None:
    with hosted(tmp_path, limits=OPEN._replace(turn_seconds=0.2)) as made, Client(made.url) as client:
        run = opened(client, "silent")
        run.say(LOOK)
        time.sleep(0.6)
        last = client.ask("GET", f"/runs/{run.id}", made.host.token(run.id))["last"]
        assert "abandoned" == last["end"]["outcome"]
    assert ("abandoned", ()) == (made.ended[0].outcome, tuple(made.ended[0].findings))


def test_a_host_that_closes_gives_open_runs_up(tmp_path: Path) -> None:
    with hosted(tmp_path) as made, Client(made.url) as client:
        opened(client, "open")
    assert ["abandoned"] == [ended.outcome for ended in made.ended]


def test_garbage_doesnt_keep_a_run_alive(tmp_path: Path) -> None:
    with hosted(tmp_path, limits=OPEN._replace(turn_seconds=0.5)) as made, Client(made.url) as client:
        wire = Wire(made, opened(client, "garbage"))
        until = time.monotonic() + 5
        while not made.ended and time.monotonic() < until:
            wire.send(body=b"no json")
    assert "abandoned" == made.ended[0].outcome


def test_the_operator_may_have_scores_told(tmp_path: Path) -> None:
    with hosted(tmp_path, shows_score=True) as made, Client(made.url) as client:
        task = load_task(find_task(TASK).text)
        agent = cast(task, Part())("")
        assert [1000, 1] == client.open(TASK, "linear", SEED, agent.stated).play(agent)["score"]


def test_a_ledger_that_cant_be_written_ends_the_run_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise LedgerError("ledger.write", "the disk is full", "make room")

    with hosted(tmp_path) as made, Client(made.url) as client:
        wire = Wire(made, opened(client, "full"))
        monkeypatch.setattr(Store, "append", full)
        assert (503, "ledger.write") == code_of(wire.send(body=wire.message()))
        monkeypatch.undo()
        assert (503, "ledger.write") == code_of(wire.send(body=wire.message()))
    assert [] == made.ended
    with Store.read(made.session.ledger_path) as store:
        assert [None] == [row["outcome"] for row in store.overview()]


def test_two_messages_at_once_are_one_after_the_other(market: Hosted, client: Client) -> None:
    run = opened(client, "busy")
    wire = Wire(market, run)
    seat = market.host.seat(run.id)
    assert seat is not None
    seat.is_busy = True
    assert (429, "serve.busy") == code_of(wire.send(body=wire.message()))
    seat.is_busy = False
    run.end()


def test_what_an_opening_opened_is_forgotten_with_the_run(tmp_path: Path) -> None:
    with hosted(tmp_path, limits=OPEN._replace(ended_runs=1)) as made, Client(made.url) as client:
        first = opened(client, "first")
        first.end()
        assert first.id == opened(client, "first").id
        opened(client, "second").end()
        with pytest.raises(DoorError) as caught:
            opened(client, "first")
        assert "serve.over" == caught.value.code
        wire = Wire(made, first)
        assert "serve.unknown" == wire.send(f"/runs/{first.id}", None, method="GET")[1]["code"]


# Limits


def test_rates_are_told_with_when_to_come_back(tmp_path: Path) -> None:
    limits = OPEN._replace(party=Rate(0.5, 3))
    with hosted(tmp_path, limits=limits) as made, Client(made.url) as client:
        wire = Wire(made, opened(client, "fast"))
        told = [wire.send(f"/runs/{wire.run.id}", None, method="GET") for _ in range(5)]
        assert [200, 200, 200, 429, 429] == [status for status, _, _ in told]
        assert ("serve.rate", "2") == (told[-1][1]["code"], told[-1][2]["retry-after"])
        other = client.open(TASK, "linear", bytes(range(32)), ME)
        status, _, _ = Wire(made, other).send(f"/runs/{other.id}", None, method="GET")
        assert 200 == status, "others' share is theirs"


def test_strangers_take_nothing_from_the_parties(tmp_path: Path) -> None:
    with hosted(tmp_path, limits=OPEN._replace(address=Rate(0.1, 5))) as made, Client(made.url) as client:
        run = opened(client, "party")
        wire = Wire(made, run)
        codes = {wire.send(body=b"{}", token="x")[1]["code"] for _ in range(10)}
        assert {"serve.token", "serve.rate"} == codes
        assert run.say(LOOK)["decision"]["outcome"] == "accepted"


def test_there_is_room_for_so_many_runs(tmp_path: Path) -> None:
    with hosted(tmp_path, limits=OPEN._replace(runs=1)) as made, Client(made.url) as client:
        run = opened(client, "only")
        status, answer, headers = Wire(made, run).send("/runs", _opening(Wire(made, run)))
        assert (503, "serve.full") == (status, answer["code"])
        assert headers["retry-after"]
        run.end()
        opened(client, "next").end()


def test_a_run_holds_so_many_bytes(tmp_path: Path) -> None:
    with hosted(tmp_path, limits=OPEN._replace(run_bytes=1_800)) as made, Client(made.url) as client:
        run = opened(client, "large")
        say = {"kind": "message.send", "to": "merchant", "text": "x" * 500}
        run.say(say)
        with pytest.raises(DoorError) as caught:
            run.say(say)
        assert "serve.run_size" == caught.value.code
        run.end()


def test_an_access_token_lets_parties_in(tmp_path: Path) -> None:
    with hosted(tmp_path, access=["a-token-of-the-operator"]) as made:
        with Client(made.url) as client, pytest.raises(DoorError) as caught:
            client.about()
        assert "serve.token" == caught.value.code
        with Client(made.url, access="a-token-of-the-operator") as client:
            opened(client, "let in".replace(" ", "-")).end()


def test_a_body_that_doesnt_come_is_not_waited_for(tmp_path: Path) -> None:
    with hosted(tmp_path, limits=OPEN._replace(read_seconds=0.3)) as made, Client(made.url) as client:
        run = opened(client, "slow")
        with socket.create_connection(("127.0.0.1", made.port), timeout=5) as slow:
            head = f"POST /runs/{run.id}/messages HTTP/1.1\r\nHost: a\r\n"
            head += f"Authorization: Bearer {made.host.token(run.id)}\r\n"
            slow.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode())
            answer = slow.recv(4096)
            while b"}" not in answer:  # the head may come before the body
                answer += slow.recv(4096)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b'"serve.slow"' in answer
        run.say(LOOK)


@pytest.mark.parametrize("said", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"])
def test_a_connection_on_which_nothing_is_asked_is_closed(tmp_path: Path, said: bytes) -> None:
    with (
        hosted(tmp_path, limits=OPEN._replace(read_seconds=0.2)) as made,
        socket.create_connection(("127.0.0.1", made.port), timeout=5) as idle,
    ):
        idle.sendall(said)
        data = b""
        with contextlib.suppress(ConnectionResetError):
            while chunk := idle.recv(4096):
                data += chunk
    assert said.endswith(b"\r\n\r\n") == data.startswith(b"HTTP/1.1 200 ")


def test_what_is_no_http_is_told_so(market: Hosted) -> None:
    with socket.create_connection(("127.0.0.1", market.port), timeout=5) as other:
        other.sendall(b"\x16\x03\x01\x00\xa5garbage\r\n\r\n")
        answer = other.recv(4096)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert "serve.http" == json.loads(answer.partition(b"\r\n\r\n")[2])["code"]


def test_there_are_so_many_connections(tmp_path: Path) -> None:
    with hosted(tmp_path, limits=OPEN._replace(connections=2)) as made:
        held = [socket.create_connection(("127.0.0.1", made.port), timeout=5) for _ in range(3)]
        time.sleep(0.2)
        answer = held[-1].recv(4096)
        for each in held:
            each.close()
    assert answer.startswith(b"HTTP/1.1 503 ")


# The view


def followed(made: Hosted, run: Run, accept: str, query: str = "") -> list[str]:
    connection = HTTPConnection("127.0.0.1", made.port, timeout=10)
    headers = {"Authorization": f"Bearer {made.host.token(run.id)}", "Accept": accept}
    connection.request("GET", f"/runs/{run.id}/view{query}", headers=headers)
    text = connection.getresponse().read().decode()
    connection.close()
    return text.split("\n\n" if "event" in accept else "\n")


def test_a_view_is_followed_as_it_happens_and_holds_what_the_role_sees(
    market: Hosted, client: Client
) -> None:
    run = opened(client, "followed")
    lines: list[list[str]] = []
    follower = Thread(target=lambda: lines.append(followed(market, run, "application/x-ndjson")))
    follower.start()
    run.say(LOOK)
    offer = {"listing": "l1", "quantity": 1, "unit_price": 5_000, "note": "For me."}
    run.say({"kind": "negotiation.propose", **offer})
    run.end()
    follower.join(10)
    acts = [json.loads(line) for line in lines[0] if line]
    seen = [(act["act"]["from"], act["act"]["kind"]) for act in acts[:-1]]
    assert [
        ("buyer", "listing.get"),
        ("buyer", "negotiation.propose"),
        ("merchant", "negotiation.counter"),
    ] == seen
    assert {"at": 3, "end": "agent_stopped"} == acts[-1]
    assert not any("floor" in line for line in lines[0]), "the merchant's mandate is its own"
    events = followed(market, run, "text/event-stream", "?from=2")
    assert ["id: 2", "id: 3"] == [event.split("\n")[0] for event in events if event]
    assert json.loads(events[0].split("\n")[1].removeprefix("data: ")) == acts[2]


def test_a_run_is_followed_by_so_many(market: Hosted, client: Client) -> None:
    run = opened(client, "crowded")
    wire = Wire(market, run)
    held = []
    for _ in range(OPEN.streams):
        connection = HTTPConnection("127.0.0.1", market.port, timeout=10)
        connection.request("GET", f"/runs/{run.id}/view", headers={"Authorization": f"Bearer {wire.token}"})
        connection.getresponse()
        held.append(connection)
    assert "serve.streams" == wire.send(f"/runs/{run.id}/view", None, method="GET")[1]["code"]
    run.end()
    for connection in held:
        connection.close()


def test_limits_are_those_that_are_documented() -> None:
    assert (32, 2 * 2**20, 8 * 2**20) == (Limits().runs, Limits().request_bytes, Limits().run_bytes)


# The page

PAGE = Path(__file__).resolve().parents[4] / "docs" / "SERVE.md"
SHELL_TOOLS = ("bash", "base64", "curl", "jq", "openssl", "sha256sum")


@pytest.mark.skipif(not all(map(shutil.which, SHELL_TOOLS)), reason=f"takes {', '.join(SHELL_TOOLS)}")
def test_the_session_on_the_page_plays_as_it_stands(market: Hosted, tmp_path: Path) -> None:
    session = PAGE.read_text(encoding="utf-8").split("```sh\n")[1].split("```")[0]
    played = subprocess.run(
        ["bash", "-e", "-c", session],
        cwd=tmp_path,
        env={**os.environ, "url": market.url},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = played.stdout.splitlines()
    assert "Buy one desk lamp (listing l1)." in lines[0], played.stderr
    assert "desk lamp" == json.loads(lines[-2])["listing"][0]["title"]
    assert "completed" == json.loads(lines[-1])["outcome"]
    assert "curl" == market.ended[-1].agent
    assert [] == [*market.ended[-1].findings]


def test_the_page_names_every_code_of_the_host() -> None:
    page = PAGE.read_text(encoding="utf-8")
    source = "".join(path.read_text() for path in (PAGE.parents[1] / "tasks" / "serve").glob("*.py"))
    codes = set(re.findall(r'"(serve\.[a-z_]+)"', source))
    assert codes
    assert set() == {code for code in codes if f"`{code}`" not in page}
