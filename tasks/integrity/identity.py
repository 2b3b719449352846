"""Cases 4, 7 and 12: who speaks is told by keys alone, in this run and no other, from wherever they speak."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ...ledger.store import Store
from ...protocol.canonical import encode_typed
from ...protocol.derive import ledger_key, party_seed
from ...protocol.errors import DoorError
from ...protocol.keys import SigningKey, key_text, pae, signature_text
from ..format.task import load_task
from ..play.policies import PolicyAgent
from ..play.recorder import Ledger, record
from ..shelf import find_task
from .case import Claims, Shown
from .market import NAME, SECRET, Scratch, agreed, shelf

if TYPE_CHECKING:
    from ..format.task import Task

_TASK = "t4.buyer_zopa"


def impostor(folder: Path) -> Shown:
    """Case 4."""
    claims = Claims()
    market = Scratch(folder / "4.db", {**shelf(2), "agreement": {"deal": agreed(1, "ann")}})
    size, root = market.writer.run.size, market.root
    market.say("bob", "listing.get", listing="lamp")
    own = market.formed.message
    message = replace(
        own, sender="ann", n=0, seen=(market.writer.run.size - 1, market.writer.run.prev), to="shop"
    )
    body = encode_typed(message)
    for name, signer in (("the other's own key", "bob"), ("a key of nobody", None)):
        seed = bytes(32) if signer is None else party_seed(SECRET, market.writer.opened.nonce, signer)
        signature = signature_text(SigningKey.from_seed(seed).sign(pae("message", body)))
        claims.equal(f"signed by {name}", "signature.invalid", _turned_away(market, body, signature))
    claims.equal("records of it", size + 2, market.writer.run.size)
    claims.equal("state root", root, market.root)
    signature = signature_text(
        SigningKey.from_seed(party_seed(SECRET, market.writer.opened.nonce, "ann")).sign(pae("message", body))
    )
    ruling = market.writer.admit(body, signature)
    claims.equal("the same bytes, signed by the key that may", "accepted", ruling.decision.outcome)
    market.close()
    did = "one buyer sent a message in the other's name, every field of it right but the signature"
    return claims.shown(4, "who speaks for a party is told by its key, not by a name", did)


def sent_elsewhere(folder: Path) -> Shown:
    """Case 12."""
    claims = Claims()
    rows = {**shelf(2), "agreement": {"deal": agreed(1, "ann")}}
    first, second = (Scratch(folder / f"12.{trial}.db", rows, trial=trial) for trial in (0, 1))
    key = party_seed(SECRET, first.writer.opened.nonce, "ann")
    said: list[bytes] = []
    for kind, fields, to in (
        ("listing.get", {"listing": "lamp"}, None),
        ("agreement.settle", {"agreement": "deal"}, "shop"),
    ):
        first.say("ann", kind, to=to, **fields)
        said.append(first.formed.body)
    size, root = second.writer.run.size, second.root
    signer = SigningKey.from_seed(key)
    codes = [_turned_away(second, body, signature_text(signer.sign(pae("message", body)))) for body in said]
    claims.equal("turned away", ["message.seen", "message.n"], codes)
    own = SigningKey.from_seed(party_seed(SECRET, second.writer.opened.nonce, "ann"))
    resigned = _turned_away(second, said[0], signature_text(own.sign(pae("message", said[0]))))
    claims.equal("signed anew by the party itself", "message.seen", resigned)
    claims.equal("records of it", size, second.writer.run.size)
    claims.equal("state root", root, second.root)
    claims.note(from_run=first.id[:12], to_run=second.id[:12])
    for market in (first, second):
        market.close()
    did = "the messages of a run were sent to another trial of the same market, byte for byte"
    return claims.shown(12, "a message fits no other run", did)


def in_process_and_over_http(folder: Path) -> Shown:
    """Case 7."""
    claims = Claims()
    title = "in process and over HTTP an agent gives the same run"
    did = f"the reference of `{_TASK}` was played in process, and over HTTP with the same seed elsewhere"
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        claims.equal("installed", [], missing)
        claims.note(hint="install `tollbook[serve]`")
        return claims.shown(7, title, did)
    task = load_task(find_task(_TASK).text)
    case = next(iter(task.file.case))
    with _store(folder / "7.in.db") as store:
        agent = PolicyAgent("reference", task.reference)
        recorded = record(Ledger(store, SECRET, NAME), task, case, 0, agent)
    replayed = recorded.audit.replayed
    assert replayed is not None
    seed = party_seed(SECRET, replayed.opened.nonce, task.actor)
    root = _over_http(folder, task, case, seed)
    claims.note(run=replayed.id[:12], records=replayed.size)
    claims.equal("root", replayed.root().hex(), root)
    return claims.shown(7, title, did)


def _over_http(folder: Path, task: Task, case: str, seed: bytes) -> str:
    from ..serve.client import Client  # noqa: PLC0415 - without the extra there is no host to talk to

    agent = PolicyAgent("reference", task.reference)
    with _hosting(folder, task) as port, Client(f"http://127.0.0.1:{port}") as client:
        return client.open(task.file.id, case, seed, agent.stated).play(agent)["root"]


@contextmanager
def _hosting(folder: Path, task: Task) -> Generator[int]:
    from ..serve.app import app_of  # noqa: PLC0415 - brings in Starlette
    from ..serve.host import Host  # noqa: PLC0415 - as above
    from ..serve.scribe import Scribe  # noqa: PLC0415 - as above
    from ..serve.server import listening, serve  # noqa: PLC0415 - brings in uvicorn

    with Scribe(lambda: _store(folder / "7.http.db")) as scribe, listening("127.0.0.1", 0) as made:
        host = Host(scribe, SECRET, NAME, [task])
        stops: SimpleQueue[Callable[[], None]] = SimpleQueue()
        loop = asyncio.new_event_loop()
        serving = serve(host, app_of(host), made, stops.put)
        thread = Thread(target=loop.run_until_complete, args=(serving,))
        thread.start()
        stop = stops.get()
        try:
            yield made.getsockname()[1]
        finally:
            loop.call_soon_threadsafe(stop)
            thread.join()
            loop.close()


def _store(path: Path) -> Store:
    return Store.write(path, NAME, key_text(ledger_key(SECRET).public))


def _turned_away(market: Scratch, body: bytes, sig: str) -> str:
    try:
        market.writer.admit(body, sig)
    except DoorError as error:
        return error.code
    return "admitted"
