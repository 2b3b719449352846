"""A party outside, in Python: keeps key, count and checkpoint, signs what it says, checks what it is told.

    with Client("http://127.0.0.1:8470") as client:
        me = Agent(model="", name="mine", settings={}, version="1")
        run = client.open("t4.buyer_zopa", "linear", seed, me)
        run.play(agent)                                        an agent as `tollbook run` plays it, or
        run.say({"kind": "listing.get", "listing": "L1"})      act by act
        run.end()

`seed` is 32 bytes that only the party has: its key and the salts of its texts
follow from it, so the same seed says the same things in the same bytes.
Needs the standard library and the packages of Tollbook's core alone.

An answer is believed only with its proofs: the ledger's signature, that it
holds the records it is said to, and all that the answer before it held. What
isn't answered (a lost connection) is sent again, which changes nothing.

Not here: TLS certificates and proxies beyond what Python's client does.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self
from urllib.parse import urlsplit

import msgspec

from ...ledger.notes import Checkpoint, parse_checkpoint, verify_note, vkey_of
from ...ledger.parts import part_text
from ...ledger.records import Part, leaf_of_record
from ...protocol.bodies import Message, Open
from ...protocol.canonical import base64_bytes, encode, encode_typed
from ...protocol.derive import message_salt
from ...protocol.errors import DoorError, ProofError
from ...protocol.keys import SigningKey, key_bytes, key_text, pae, pae_of, signature_text
from ...protocol.merkle import verify_consistency, verify_inclusion
from ...protocol.world import World, part_fields, world_of
from ...scorers.acts import Watch
from ..play.agent import Answer, Asked, Setup, Tool
from ..play.play import action_of, typed
from .wire import MESSAGE_TYPE, REQUEST_TYPE, Leaving, Opening, write_envelope

if TYPE_CHECKING:
    from ...protocol.bodies import Agent as Stated
    from ..play.agent import Agent

Json = Any

_TRIES: Final = 8
_LONGEST_WAIT_SECONDS: Final = 10.0


class Offer(NamedTuple):
    """What a party is told of a task."""

    world: World
    tools: Sequence[str]
    roles: Mapping[str, str]
    actor: str


class Client:
    """A connection to a host."""

    def __init__(
        self, url: str, *, access: str | None = None, ledger_key: bytes | None = None, timeout: float = 60.0
    ) -> None:
        """``access`` is a token of the host's operator, ``ledger_key`` the key that its ledger must have."""
        parts = urlsplit(url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=timeout)
        self._base = parts.path.rstrip("/")
        self._access = access
        self._ledger_key = ledger_key

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def about(self) -> dict[str, Json]:
        """What the host offers."""
        return self.ask("GET", "/", self._access)

    def open(self, task: str, case: str, seed: bytes, stated: Stated, name: str = "0") -> Run:
        """Opens a run; the same again, with the same ``name``, gives the same run."""
        about = self.about()
        key = SigningKey.from_seed(seed)
        opening = Opening(stated, case, name, key_text(key.public), about["session"], task)
        payload = encode_typed(opening)
        sig = signature_text(key.sign(pae_of(REQUEST_TYPE, payload)))
        answer = self.ask("POST", "/runs", self._access, write_envelope(REQUEST_TYPE, payload, sig))
        return Run(self, seed, answer, self._ledger_key)

    def ask(self, method: str, path: str, token: str | None, body: bytes | None = None) -> dict[str, Json]:
        """What the host answers, once it does: it may ask to wait, and a connection may be lost.

        Raises:
            DoorError: the host's fault, with its code.
            OSError: there is no answer.
        """
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        tries = 1
        while True:
            try:
                self._connection.request(method, self._base + path, body, headers)
                response = self._connection.getresponse()
                data = response.read()
            except (HTTPException, OSError):
                self._connection.close()
                if tries == _TRIES:
                    raise
            else:
                if response.status not in (429, 503) or tries == _TRIES:
                    return _read(response.status, data)
                wait = response.headers.get("Retry-After", "1")
                time.sleep(min(float(wait), _LONGEST_WAIT_SECONDS))
            tries += 1


class Run:
    """A run of a host, as its party holds it. ``turn`` is what it is asked now; ``end`` how the run ended."""

    def __init__(
        self, client: Client, seed: bytes, answer: Mapping[str, Json], ledger_key: bytes | None = None
    ) -> None:
        self._client = client
        self._seed = seed
        self._key = SigningKey.from_seed(seed)
        self._token: str = answer["token"]
        self.id: str = answer["run"]
        self.opened = msgspec.convert(answer["records"][0]["record"]["body"], Open)
        self._ledger = vkey_of(self.opened.ledger.name, ledger_key or key_bytes(self.opened.ledger.key))
        self.checkpoint: Checkpoint | None = None
        begin = answer["begin"]
        self.setup = _setup(begin)
        own = {party.id: party.key for party in self.opened.parties}
        if own.get(self.setup.party) != key_text(self._key.public):
            raise ProofError("proof.key", f"the run has another key for `{self.setup.party}`")
        self.offer = Offer(
            world_of(self.opened.world),
            [tool.kind for tool in self.setup.tools],
            {party.id: party.role for party in self.opened.parties},
            self.setup.party,
        )
        self.watch = Mirror(self.offer.world, self.setup.party)
        self.turn: dict[str, Json] | None = None
        self.end_of: dict[str, Json] | None = None
        self.taken(answer)

    def play(self, agent: Agent) -> dict[str, Json]:
        """Has an agent play to the end; how it ended."""
        try:
            agent.begin(self.setup)
            while self.turn is not None:
                turn = self.turn
                seen = (turn["tick"], turn["turns_left"], turn["last"], turn["inbox"], self.watch)
                answer = agent.act(Asked(*seen, turn.get("market")))
                if answer.end is not None:
                    self.end()
                    break
                self._send(*action_of(self.offer, answer, self.offer.actor))
        finally:
            agent.close()
        assert self.end_of is not None
        return self.end_of

    def say(self, act: Mapping[str, Json], *, reply_to: int | None = None, key: str | None = None) -> Json:
        """Says an act {kind, …fields, to}; gives the host's answer, checked.

        Raises:
            Unformed: the fields are not those of the kind.
            DoorError: it was turned away.
            ProofError: the answer is not what the ledger holds.
        """
        fields = dict(act)
        if "to" not in fields:
            return self._send(*action_of(self.offer, Answer(act=fields), self.offer.actor), reply_to, key)
        to = fields.pop("to")
        return self._send(typed(self.offer.world, fields), to, reply_to, key)

    def end(self) -> dict[str, Json]:
        """Does no more in the run; how it ended."""
        payload = encode_typed(Leaving(self.id, self.seen))
        sig = signature_text(self._key.sign(pae_of(REQUEST_TYPE, payload)))
        self.taken(self._ask("POST", "/end", write_envelope(REQUEST_TYPE, payload, sig)))
        assert self.end_of is not None
        return self.end_of

    def envelope(
        self,
        action: msgspec.Struct | msgspec.Raw,
        to: str | None,
        reply_to: int | None = None,
        key: str | None = None,
    ) -> bytes:
        """The party's next message, signed, as it is sent; the texts of parts go beside it."""
        parts: tuple[Part, ...] = ()
        if not isinstance(action, msgspec.Raw):
            parts = tuple(
                Part(
                    field,
                    part_text(
                        message_salt(self._seed, self.opened.nonce, self.n, field), getattr(action, field)
                    ),
                )
                for field in part_fields(type(action))
            )
            digests = {part.field: part.text.digest for part in parts}
            action = msgspec.Raw(encode(msgspec.structs.replace(action, **digests)))
        message = Message(
            action=action,
            sender=self.setup.party,
            key=key,
            n=self.n,
            reply_to=reply_to,
            seen=self.seen,
            to=to,
        )
        body = encode_typed(message)
        sig = signature_text(self._key.sign(pae("message", body)))
        return write_envelope(MESSAGE_TYPE, body, sig, parts)

    def _send(
        self,
        action: msgspec.Struct | msgspec.Raw,
        to: str | None,
        reply_to: int | None = None,
        key: str | None = None,
    ) -> dict[str, Json]:
        answer = self._ask("POST", "/messages", self.envelope(action, to, reply_to, key))
        self.taken(answer)
        return answer

    def _ask(self, method: str, what: str, body: bytes | None = None) -> dict[str, Json]:
        return self._client.ask(method, f"/runs/{self.id}{what}", self._token, body)

    def taken(self, answer: Mapping[str, Json]) -> None:
        """Checks an answer and goes on from it."""
        checkpoint = parse_checkpoint(verify_note(answer["checkpoint"], self._ledger))
        size, root = checkpoint.size, checkpoint.root
        if checkpoint.origin != f"{self.opened.ledger.name}/run/{self.id}" or answer["seen"][0] != size - 1:
            raise ProofError("proof.origin", "the checkpoint is not of this run as it stands")
        for each in answer["records"]:
            record = each["record"]
            verify_inclusion(
                leaf_of_record(encode(record)), record["seq"], size, _nodes(each["proof"]), root
            )
        held, told = self.checkpoint, answer["consistency"]
        if held is not None:
            if told is None or told["since"] != held.size:
                raise ProofError("proof.size", "the answer doesn't go on from the checkpoint that is held")
            verify_consistency(held.size, held.root, size, root, _nodes(told["proof"]))
        self.checkpoint = checkpoint
        self.n: int = answer["n"]
        self.seen: tuple[int, str] = (answer["seen"][0], answer["seen"][1])
        self.turn, self.end_of = answer["turn"], answer["end"]
        self.watch.take(answer)


class Mirror(Watch):
    """A party's side of a run, kept up from the answers of a host."""

    def __init__(self, world: World, party: str) -> None:
        super().__init__(world, party)
        self._held: dict[str, dict[str, Json]] = {table: {} for table in world.tables}

    @property
    def known(self) -> dict[str, list[Json]]:
        """As `Watch.known`."""
        return {table: [rows[key] for key in sorted(rows)] for table, rows in self._held.items()}

    def take(self, answer: Mapping[str, Json]) -> None:
        """Notes the act that was answered, what it showed, and the acts that reached the party since."""
        turn = answer["turn"]
        if turn is None:
            return
        last: dict[str, Json] | None = turn["last"]
        if last is not None:
            self.file("did" if last["ok"] else "refused", last)
            self.acts.append(last)
        for table, row in answer.get("known", ()):
            self._held[table][row["id"]] = row
            if last is not None:
                self.read[table].setdefault(row["id"], last["seq"])
        for act in turn["inbox"]:
            self.file("heard", act)


def _read(status: int, data: bytes) -> dict[str, Json]:
    answer: dict[str, Json] = msgspec.json.decode(data)
    if status >= 400:
        raise DoorError(answer["code"], answer["text"], answer["hint"])
    return answer


def _setup(begin: Mapping[str, Json]) -> Setup:
    return Setup(
        party=begin["party"],
        role=begin["role"],
        brief=begin["brief"],
        mandate=begin["mandate"],
        tools=[Tool(tool["name"], tool["description"], tool["parameters"]) for tool in begin["tools"]],
        others=[(other["party"], other["role"]) for other in begin["others"]],
        turns=begin["turns"],
    )


def _nodes(texts: Sequence[str]) -> list[bytes]:
    return [base64_bytes(text) or b"" for text in texts]
