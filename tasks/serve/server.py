"""The host on a socket: connections that are counted, and not waited for.

    connection ─► one too many: 503 ─ no request for a while, no reader: closed ─ no HTTP: 400
               ─► the application

uvicorn waits without end for a request's head, and for a reader that doesn't
read; this doesn't.

Source: RFC 9112 (HTTP/1.1); RFC 9110 15 (status codes).
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ...protocol.errors import UsageError
from .wire import Fault

if TYPE_CHECKING:
    from .app import App
    from .host import Host
    from .limits import Limits

_HEAD_BYTES = 16 * 2**10
_GRACE_SECONDS = 5


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; port 0 is any that is free.

    Raises:
        UsageError: `usage.address`, it can't be had.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with ExitStack() as stack:
            made = stack.enter_context(socket.socket(family, kind, protocol))
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
            made.listen(128)
            stack.pop_all()
    except OSError as error:
        what = f"`{host}` port {port} can't be listened at: {(error.strerror or str(error)).lower()}"
        raise UsageError("usage.address", what, "give another `--host` or `--port`") from None
    return made


async def serve(
    host: Host, app: App, made: socket.socket, ready: Callable[[Callable[[], None]], None]
) -> None:
    """Serves until SIGINT or SIGTERM, or until it is told to stop, then gives open runs up.

    ``ready`` is called once, with what is to be called, in the loop's thread, to stop it.
    """
    config = uvicorn.Config(
        cast("Any", app),
        http=_protocol(host.limits),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        h11_max_incomplete_event_size=_HEAD_BYTES,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    server = _Server(config)
    loop = asyncio.get_running_loop()
    with suppress(RuntimeError, ValueError):  # not the main thread: who runs the loop says when to stop
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, server.stop)
    ready(server.stop)
    server.before_end = host.close
    await server.serve(sockets=[made])


class _Server(uvicorn.Server):
    """A server that is stopped by who runs it, and ends the runs before it closes the connections."""

    before_end: Callable[[], Any]

    def stop(self) -> None:
        """Ends serving."""
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Signals are the caller's."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Has every run sealed, and its party told, first."""
        await self.before_end()
        await super().shutdown(sockets)


def _protocol(limits: Limits) -> type[H11Protocol]:
    """The protocol of uvicorn under these limits."""

    class Impatient(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            super().connection_made(transport)
            self._idle_of: object = self
            if len(self.connections) > limits.connections:
                hint = "close some, then try again"
                transport.write(_bare(Fault(503, "serve.full", "there are too many connections", hint)))
                transport.close()
            self._watch_later()

        def connection_lost(self, exc: Exception | None) -> None:
            self._watching.cancel()
            super().connection_lost(exc)

        def send_400_response(self, msg: str) -> None:
            hint = "send HTTP/1.1, with a head of up to 16 KiB"
            self.transport.write(_bare(Fault(400, "serve.http", msg.lower().rstrip("."), hint)))
            self.transport.close()

        def _watch_later(self) -> None:
            self._watching = self.loop.call_later(limits.read_seconds, self._watch)

        def _watch(self) -> None:
            """Lets go of a connection on which, from one look to the next, nothing was asked."""
            is_idle = self.cycle is None or self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]
            if self.transport.is_closing() or (is_idle and self._idle_of is self.cycle):
                self.transport.abort()
                return
            self._idle_of = self.cycle if is_idle else self
            self._watch_later()

    return Impatient


def _bare(fault: Fault) -> bytes:
    """A whole answer, where no request could be read."""
    body = fault.document()
    head = (
        f"HTTP/1.1 {fault.status} {HTTPStatus(fault.status).phrase}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body
