"""A host under 5,000 hostile requests of every kind, honest parties between them: they are answered."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import threading
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import msgspec
import pytest
from hosted import OPEN, Hosted, hosted

from tollbook.ledger.anchor import NO_PINS
from tollbook.ledger.store import Store
from tollbook.ledger.verify import verify_store
from tollbook.protocol.bodies import Agent as Stated
from tollbook.protocol.draws import Draws
from tollbook.protocol.keys import SigningKey, pae, signature_text
from tollbook.tasks.format.task import load_task
from tollbook.tasks.play.casting import Part, cast
from tollbook.tasks.serve.client import Client, Run
from tollbook.tasks.serve.limits import Limits, Rate
from tollbook.tasks.serve.wire import MESSAGE_TYPE, write_envelope
from tollbook.tasks.shelf import find_task

TASK = "t4.buyer_zopa"
ME = Stated(model="", name="victim", settings={}, version="1")
LOOK = msgspec.Raw(b'{"kind":"listing.get","listing":"l1"}')
JSON = {"Content-Type": "application/json"}


class Foe:
    """Sends what it likes, as one who has seen another party's traffic, and holds a run of its own."""

    def __init__(self, made: Hosted, victim: Run, own: Run, seed: str) -> None:
        self.made = made
        self.victim = victim
        self.own = own
        self.draws = Draws(seed, "hostile")
        self.told: Counter[str] = Counter()
        self.connection = HTTPConnection("127.0.0.1", made.port, timeout=20)
        self.captured = victim.envelope(LOOK, None)

    def attack(self) -> None:
        """One request, of some kind."""
        kind = KINDS[self.draws.integer(0, len(KINDS) - 1)]
        kind(self)

    def ask(
        self, method: str, path: str, body: bytes | None = None, token: str | None = None, **headers: str
    ) -> None:
        fields = {**JSON, **headers}
        if token is not None:
            fields["Authorization"] = f"Bearer {token}"
        try:
            self.connection.request(method, path, body, fields)
            response = self.connection.getresponse()
            data = response.read()
        except (HTTPException, OSError):
            self.connection.close()
            self.told["connection lost"] += 1
            return
        document = json.loads(data)
        self.told[f"{response.status} {document.get('code', 'answered')}"] += 1
        assert response.status < 500 or response.status == 503, data

    def say(self, body: bytes, run: Run | None = None) -> None:
        run = run or self.own
        self.ask("POST", f"/runs/{run.id}/messages", body, self.made.host.token(self.own.id))

    def raw(self, data: bytes) -> None:
        address = ("127.0.0.1", self.made.port)
        with contextlib.suppress(OSError), socket.create_connection(address, 0.05) as other:
            other.sendall(data)
            if self.draws.integer(0, 1):
                other.recv(1024)
        self.told["raw"] += 1

    def bytes(self, size: int) -> bytes:
        return bytes(self.draws.integer(0, 255) for _ in range(size))

    def forged(self) -> bytes:
        """Its own next message, by a key that isn't its own."""
        envelope = json.loads(self.own.envelope(LOOK, None))
        data = pae("message", b64decode(envelope["payload"]))
        sig = signature_text(SigningKey.from_seed(bytes(32)).sign(data))
        return json.dumps({**envelope, "signatures": [{"sig": sig}]}).encode()

    def deep(self) -> bytes:
        action = b'{"kind":"listing.get","listing":' + b"[" * 500 + b"]" * 500 + b"}"
        sig = signature_text(bytes(64))
        return write_envelope(MESSAGE_TYPE, action, sig)


KINDS: list[Callable[[Foe], None]] = [
    lambda foe: foe.say(foe.captured),              # another's message, in a run of one's own
    lambda foe: foe.say(foe.captured, foe.victim),  # in the other's, with a wrong token
    lambda foe: foe.say(foe.forged()),
    lambda foe: foe.say(foe.deep()),
    lambda foe: foe.say(foe.bytes(foe.draws.integer(0, 400))),
    lambda foe: foe.say(b'{"payload":"' + b"A" * 100_000 + b'"}'),
    lambda foe: foe.say(b"[" * 50_000),
    lambda foe: foe.say(b" " * 2_200_000),
    lambda foe: foe.say(b64encode(foe.bytes(60))),
    lambda foe: foe.ask("POST", "/runs", foe.captured),
    lambda foe: foe.ask("POST", "/runs", foe.bytes(100)),
    lambda foe: foe.ask("POST", f"/runs/{foe.victim.id}/end", foe.captured, "x" * 5_000),
    lambda foe: foe.ask("POST", f"/runs/{foe.own.id}/messages", foe.captured, foe.made.host.token(foe.own.id),
                        **{"Content-Type": "text/xml"}),
    lambda foe: foe.ask("GET", f"/runs/{foe.victim.id}"),
    lambda foe: foe.ask("GET", f"/runs/{foe.victim.id}/view", None, foe.made.host.token(foe.own.id)),
    lambda foe: foe.ask("GET", "/runs/../../etc/passwd"),
    lambda foe: foe.ask("PUT", "/", b"{}"),
    lambda foe: foe.ask("GET", "/" + "a" * 4_000),
    lambda foe: foe.raw(foe.bytes(50)),
    lambda foe: foe.raw(b"POST /runs HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"),
    lambda foe: foe.raw(b"POST /runs HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: a\r\n\r\nffffffff\r\n"),
    lambda foe: foe.raw(b"GET / HTTP/1.1\r\nA: " + b"b" * 20_000),
]  # fmt: skip


def under_attack(folder: Path, count: int, limits: Limits) -> tuple[Counter[str], int]:
    """What hostile requests were told, and the growth of memory in bytes; all honest runs were played."""
    task = load_task(find_task(TASK).text)
    told: Counter[str] = Counter()
    with hosted(folder, limits=limits) as made, Client(made.url) as client:
        victim = client.open(TASK, "linear", bytes(range(32)), ME, "victim")
        own = client.open(TASK, "linear", bytes(range(1, 33)), ME, "own")
        victim.say({"kind": "listing.get", "listing": "l1"})
        foes = [Foe(made, victim, own, f"{n:064x}") for n in range(4)]
        threads = [
            threading.Thread(target=lambda foe=foe: [foe.attack() for _ in range(count // len(foes))])
            for foe in foes
        ]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for thread in threads:
            thread.start()
        honest = 0
        while any(thread.is_alive() for thread in threads) or honest < 2:
            agent = cast(task, Part())("")
            run = client.open(TASK, "linear", bytes(range(2, 34)), agent.stated, f"honest{honest}")
            assert run.play(agent)["outcome"] == "completed"
            honest += 1
        for foe in foes:
            foe.connection.close()
            told += foe.told
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert victim.say({"kind": "listing.get", "listing": "l1"})["decision"]["outcome"] == "accepted"
        assert {victim.id, own.id} <= made.host.live.keys()
        victim.end()
        own.end()
        sizes = {run.id: run.checkpoint.size for run in (victim, own) if run.checkpoint is not None}
    assert [1000] * honest == [ended.score for ended in made.ended if ended.agent == "reference"]
    with Store.read(made.session.ledger_path) as store:
        runs = store.runs()
        assert honest + 2 == len(runs)
        assert sizes == {run: store.size(number) for number, run in runs if run in sizes}
    for audit in verify_store(made.session.ledger_path, runs, NO_PINS):
        assert [] == audit.findings
    return told, grown * 1024


RATES = Limits(
    party=Rate(200, 400), address=Rate(200, 200), strangers=Rate(300, 300), parties=Rate(1_000, 1_000)
)
ALL = {
    "413 serve.size",
    "403 signature.invalid",
    "409 message.n",
    "400 serve.form",
    "401 serve.token",
    "404 serve.unknown",
    "405 serve.method",
    "415 serve.type",
    "422 canonical.depth",
}


@pytest.mark.parametrize(
    ("limits", "codes"),
    [(OPEN, ALL), pytest.param(RATES, {"429 serve.rate"}, marks=pytest.mark.long)],
)
def test_5000_hostile_requests(tmp_path: Path, limits: Limits, codes: set[str]) -> None:
    told, grown = under_attack(tmp_path, 5_000, limits)
    assert 5_000 == sum(told.values())
    assert set() == codes - told.keys()
    assert not any(each.startswith("2") for each in told), told
    assert grown < 200 * 2**20
