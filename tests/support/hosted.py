"""A host on a free port of this machine, in a thread, over a ledger of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any, NamedTuple

from played_run import builtin

from tollbook.ledger.secret import ensure_secret
from tollbook.tasks.serve.app import app_of
from tollbook.tasks.serve.host import Ended, Host
from tollbook.tasks.serve.limits import Limits, Rate
from tollbook.tasks.serve.scribe import Scribe
from tollbook.tasks.serve.server import listening, serve
from tollbook.tasks.session import DEFAULT_NAME, Session, secret_path_of

FAST = Rate(1_000_000, 1_000_000)
OPEN = Limits(party=FAST, parties=FAST, address=FAST, strangers=FAST)
"""No rates, so that a test is not slowed down."""


class Hosted(NamedTuple):
    url: str
    port: int
    host: Host
    ended: list[Ended]
    session: Session


@contextmanager
def hosted(
    folder: Path,
    tasks: Sequence[str] = ("t4.buyer_zopa",),
    limits: Limits = OPEN,
    access: Sequence[str] = (),
    **more: Any,
) -> Generator[Hosted]:
    """A host of these built-in tasks, until the end of the block; every run is sealed by then."""
    session = Session(folder / "tollbook.db", secret_path_of(folder / "tollbook.db"), DEFAULT_NAME)
    secret = ensure_secret(session.secret_path)
    loaded = [builtin(name) for name in tasks]
    ended: list[Ended] = []
    with Scribe(lambda: session.store_to_write(secret)) as scribe:
        host = Host(scribe, secret, session.name, loaded, limits, tell=ended.append, **more)
        made = listening("127.0.0.1", 0)
        port = made.getsockname()[1]
        loop = asyncio.new_event_loop()
        stops: Queue[Callable[[], None]] = Queue()
        serving = serve(host, app_of(host, access), made, stops.put)
        thread = Thread(target=loop.run_until_complete, args=(serving,))
        thread.start()
        stop = stops.get(timeout=10)
        try:
            yield Hosted(f"http://127.0.0.1:{port}", port, host, ended, session)
        finally:
            loop.call_soon_threadsafe(stop)
            thread.join(30)
            loop.close()
            made.close()
