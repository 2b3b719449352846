"""The HTTP face of a host.

    GET  /                    what is offered                        anybody, or who has an access token
    POST /runs                opens a run: an envelope of a request  the same; answered with the run's token
    POST /runs/ID/messages    says something: an envelope of a message       the run's token
    POST /runs/ID/end         does no more: an envelope of a request         the run's token
    GET  /runs/ID             the first answer and the last                  the run's token
    GET  /runs/ID/view        the acts that the party sees, as they happen   the run's token

A token decides who is listened to, so that nobody uses up another's share; what
is said counts by its signature alone. Whatever goes wrong is answered with a
fault {code, text, hint} and its status; nothing is recorded then.

Not here: what becomes of a message (`seat`), connections (`server`).

Source: ASGI 3; the stream follows the HTML standard, "Server-sent events".
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from .wire import MESSAGE_TYPE, REQUEST_TYPE, Fault, Leaving, Opening, read_envelope, read_request

if TYPE_CHECKING:
    from .host import Host
    from .seat import Seat

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]

JSON: Final = "application/json"
LINES: Final = "application/x-ndjson"
EVENTS: Final = "text/event-stream"
_BEAT_SECONDS = 15.0
_PLAIN = {
    404: ("serve.unknown", "there is nothing at this address", "see docs/SERVE.md for the addresses"),
    405: ("serve.method", "this address takes another method", "see docs/SERVE.md for the addresses"),
}


def app_of(host: Host, access: Sequence[str] = ()) -> App:
    """The ASGI application of a host; with ``access`` tokens, only who shows one may open runs."""
    return App(host, access)


class App:
    """An ASGI application in which no reader is waited for longer than the host's limits say."""

    def __init__(self, host: Host, access: Sequence[str]) -> None:
        self._host = host
        self._access = [token.encode() for token in access]
        self._openings = 0
        self._starlette = Starlette(
            routes=[
                Route("/", self._about, methods=["GET"]),
                Route("/runs", self._open, methods=["POST"]),
                Route("/runs/{run}", self._standing, methods=["GET"]),
                Route("/runs/{run}/messages", self._message, methods=["POST"]),
                Route("/runs/{run}/end", self._leave, methods=["POST"]),
                Route("/runs/{run}/view", self._view, methods=["GET"]),
            ],
            exception_handlers={Fault: _faulted, HTTPException: _plain, Exception: _broken},
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""

        async def patient(message: Scope) -> None:
            async with asyncio.timeout(self._host.limits.write_seconds):
                await send(message)

        await self._starlette(scope, receive, patient)

    async def _about(self, request: Request) -> Response:
        self._host.gate.stranger(_address(request))
        self._admit(request)
        return _json(msgspec.json.encode(self._host.about()))

    async def _open(self, request: Request) -> Response:
        self._host.gate.stranger(_address(request))
        self._admit(request)
        with self._opening():
            data = await self._body(request, self._host.limits.opening_bytes)
            envelope = read_envelope(data, REQUEST_TYPE)
            opening = read_request(envelope)
            if not isinstance(opening, Opening):
                raise Fault(422, "serve.form", "the request opens no run", "send a request of kind `open`")
            seat, is_new = await self._host.open(opening, envelope)
        return _json(seat.first, 201 if is_new else 200)

    async def _standing(self, request: Request) -> Response:
        seat = self._seat(request)
        return _json(b'{"first":%b,"last":%b}' % (seat.first, seat.last))

    async def _message(self, request: Request) -> Response:
        return await self._said(request, MESSAGE_TYPE)

    async def _leave(self, request: Request) -> Response:
        return await self._said(request, REQUEST_TYPE)

    async def _said(self, request: Request, payload_type: str) -> Response:
        seat = self._seat(request)
        if seat.is_busy:
            what = "another message of the party is being answered"
            raise Fault(429, "serve.busy", what, "wait for it, then send the same again", seconds=0.0)
        seat.is_busy = True
        try:
            data = await self._body(request, self._host.limits.request_bytes)
            envelope = read_envelope(data, payload_type)
            leaving = None if payload_type == MESSAGE_TYPE else read_request(envelope)
            if leaving is not None and not isinstance(leaving, Leaving):
                raise Fault(422, "serve.form", "the request ends no run", "send a request of kind `end`")
            answer = await asyncio.wrap_future(seat.call(envelope, leaving, len(data)))
        finally:
            seat.is_busy = False
        return _json(answer)

    async def _view(self, request: Request) -> Response:
        seat = self._seat(request)
        if seat.streams >= self._host.limits.streams:
            what = f"the run is followed {seat.streams} times already"
            raise Fault(429, "serve.streams", what, "end one of the streams")
        as_events = EVENTS in request.headers.get("accept", "")
        lines = _followed(seat, _first(request), as_events=as_events)
        media = EVENTS if as_events else LINES
        return StreamingResponse(lines, media_type=media, headers={"cache-control": "no-store"})

    def _seat(self, request: Request) -> Seat:
        """The seat of a run, for who shows the run's token."""
        run = request.path_params["run"]
        shown = _bearer(request)
        if not hmac.compare_digest(shown, self._host.token(run).encode()):
            self._host.gate.stranger(_address(request))
            hint = "send `Authorization: Bearer …` with the token that the run's opening was answered with"
            raise Fault(401, "serve.token", "this is not the token of that run", hint)
        seat = self._host.seat(run)
        if seat is None:
            self._host.gate.stranger(_address(request))
            hint = "it ended, or the host was started anew: ask its operator for the record"
            raise Fault(404, "serve.unknown", "the run is not here any more", hint)
        self._host.gate.party(seat.bucket)
        return seat

    def _admit(self, request: Request) -> None:
        shown = _bearer(request)
        if self._access and not any(hmac.compare_digest(shown, token) for token in self._access):
            hint = "send `Authorization: Bearer …` with a token that the operator gave you"
            raise Fault(401, "serve.token", "this is no access token of the host", hint)

    @contextmanager
    def _opening(self) -> Generator[None]:
        if self._openings >= self._host.limits.openings:
            raise Fault(503, "serve.full", "too many runs are being opened at once", "try again", seconds=1.0)
        self._openings += 1
        try:
            yield
        finally:
            self._openings -= 1

    async def _body(self, request: Request, limit_bytes: int) -> bytes:
        """A request's body, if it is JSON, comes in time and isn't too large."""
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media != JSON:
            raise Fault(415, "serve.type", "the body is not said to be JSON", f"send `Content-Type: {JSON}`")
        stated = request.headers.get("content-length", "")
        size = int(stated) if stated.isdecimal() and len(stated) < 20 else 0
        data = bytearray()
        try:
            async with asyncio.timeout(self._host.limits.read_seconds):
                chunks = request.stream() if size <= limit_bytes else None
                async for chunk in chunks or _nothing():
                    data += chunk
                    size = max(size, len(data))
                    if size > limit_bytes:
                        break
        except TimeoutError:
            what = f"the body did not come within {self._host.limits.read_seconds:g} s"
            raise Fault(408, "serve.slow", what, "send it in one go") from None
        except ClientDisconnect:
            raise Fault(400, "serve.form", "the body breaks off", "send all of it") from None
        if size > limit_bytes:
            what = f"the body is over the limit of {limit_bytes} bytes"
            raise Fault(413, "serve.size", what, "send less at once")
        return bytes(data)


async def _nothing() -> AsyncIterator[bytes]:
    for chunk in ():
        yield chunk


async def _followed(seat: Seat, first: int, *, as_events: bool) -> AsyncIterator[bytes]:
    """The acts of a view from the one at place `first` on, as they happen, then how the run ended."""
    seat.streams += 1
    try:
        at = first
        while True:
            bell, ended = seat.bell, seat.is_over
            while at < len(seat.view):
                yield _line({"at": at, "act": seat.view[at]}, at, as_events=as_events)
                at += 1
            if ended:
                yield _line({"at": at, "end": seat.ended}, at, as_events=as_events)
                return
            try:
                await asyncio.wait_for(bell.wait(), _BEAT_SECONDS)
            except TimeoutError:
                yield b":\n\n" if as_events else b"\n"  # shows a reader that left
    finally:
        seat.streams -= 1


def _line(document: dict[str, Any], at: int, *, as_events: bool) -> bytes:
    data = msgspec.json.encode(document)
    return b"id: %d\ndata: %b\n\n" % (at, data) if as_events else data + b"\n"


def _first(request: Request) -> int:
    """From which act on a view is asked for: `?from=`, or the one after the last that was read."""
    last = request.headers.get("last-event-id")
    stated = request.query_params.get("from", "0") if last is None else last
    if not (stated.isdecimal() and stated.isascii() and len(stated) < 10):
        hint = "give `?from=` a number from 0"
        raise Fault(400, "serve.form", "the place to go on from is no number", hint)
    return int(stated) + (last is not None)


def _bearer(request: Request) -> bytes:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip().encode() if scheme.lower() == "bearer" else b""


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else ""


def _json(data: bytes, status: int = 200) -> Response:
    return Response(data, status, media_type=JSON, headers={"cache-control": "no-store"})


async def _faulted(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, Fault)
    response = _json(error.document(), error.status)
    if error.seconds is not None:
        response.headers["retry-after"] = str(int(error.seconds) + 1)
    return response


async def _plain(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    other = ("serve.http", str(error.detail).lower(), "see docs/SERVE.md for what can be asked")
    fault = Fault(error.status_code, *_PLAIN.get(error.status_code, other))
    return await _faulted(request, fault)


async def _broken(request: Request, error: Exception) -> Response:
    del error
    hint = "tell the host's operator"
    return await _faulted(request, Fault(500, "serve.internal", "the request can't be answered", hint))
