"""A run as its records give it: who may speak, what was said, what it changed.

    open brief* (message decision | turn | key)* seal?

`Run` is fed one record after the other, by whoever writes a run and by
whoever checks one, so the door that admits a message and the audit that
judges it are one piece of code. It keeps at most 38 bytes a record (leaf,
addressee, place) beside the state and the parties.

Not here: where records are kept (`store`, `bundle`); what a finding is worth
(`audit`); how messages are made (`writer`).
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from ..protocol.canonical import admit_any
from ..protocol.engine import Ruling, admit_kind, decide, read_action
from ..protocol.errors import CanonicalError, DoorError, KeyRefusedError
from ..protocol.keys import check_public, key_bytes, pae, signature_bytes, verify
from ..protocol.merkle import EMPTY_ROOT, Frontier
from ..protocol.tables import Facts, State
from .records import ZERO, check_nested, leaf_of

if TYPE_CHECKING:
    from ..protocol.bodies import KeyChange, Message, Open
    from ..protocol.world import World

LEAF_BYTES = 32
_UNFIT = ("key.form", "key.small_order", "key.not_canonical")


class Objection(NamedTuple):
    """Why something isn't good at this place of the run: a finding's code and text."""

    code: str
    text: str


class Member:
    """One party as the run stands.

    ``keys`` are those it holds now, ``held`` all that it has had; ``n`` is its
    next number, ``said`` the place of each record that used one, ``asked`` the
    first record that its next `seen` may name.
    """

    __slots__ = ("asked", "held", "id", "keys", "n", "role", "said")

    def __init__(self, party: str, role: str, keys: list[bytes]) -> None:
        self.id = party
        self.role = role
        self.keys = keys
        self.held = keys
        self.n = 0
        self.asked = 0
        self.said = array("I")


class Chain:
    """Leaves one after the other: what links a run's records and makes its root.

    ``size`` counts the records linked, ``prev`` is the last one's leaf in hex.
    """

    def __init__(self) -> None:
        """A chain without records."""
        self.size: int = 0
        self.prev = ZERO
        self.id = ZERO
        self._leaves = bytearray()
        self._last_root: tuple[int, bytes] = (0, EMPTY_ROOT)

    def link(self, kind: str, body: bytes, sig: str | None) -> None:
        """Appends a record to the chain."""
        self.link_leaf(leaf_of(self.size, kind, self.prev, body, sig))

    def link_leaf(self, leaf: bytes) -> None:
        """Appends a record by its leaf."""
        self._leaves += leaf
        self.prev = leaf.hex()
        if self.size == 0:
            self.id = self.prev
        self.size += 1

    def leaf(self, seq: int) -> bytes:
        """The leaf of a linked record."""
        return bytes(self._leaves[LEAF_BYTES * seq : LEAF_BYTES * (seq + 1)])

    def leaves(self) -> list[bytes]:
        """The leaves of all records."""
        return [self.leaf(seq) for seq in range(self.size)]

    def root(self, size: int | None = None) -> bytes:
        """The tree root over the first `size` records, over all by default."""
        size = self.size if size is None else size
        # A run's notes and its audit ask for the same root, each hash of which is as dear as a record's.
        if self._last_root[0] != size:
            self._last_root = (size, Frontier(self.leaf(seq) for seq in range(size)).root())
        return self._last_root[1]


class Run(Chain):
    """The state of a run up to its last record."""

    def __init__(self, opened: Open, world: World | None, facts: Facts | None) -> None:
        """A run at its ``open``, whose record is yet to be linked.

        ``world`` and ``facts`` are None where the rules or the start rows aren't
        at hand; nothing can be ruled on then.
        """
        super().__init__()
        self.opened = opened
        self.world = world
        self.state = State(facts) if facts is not None else None
        self.ledger_key = _bytes_of(opened.ledger.key)
        self.members = {
            party.id: Member(party.id, party.role, [_bytes_of(party.key)]) for party in opened.parties
        }
        self.roles = {party.id: party.role for party in opened.parties}
        self._held = {self.ledger_key} | {key for member in self.members.values() for key in member.keys}
        self.ledger_n = 0
        self._places = {party.id: place for place, party in enumerate(opened.parties, 1)}
        self._addressees = array("H")  # by record, up to the last one that has an addressee

    def opening(self) -> Objection | None:
        """What is wrong with the parties and keys that ``open`` lists, or None."""
        keys = [self.opened.ledger.key, *(party.key for party in self.opened.parties)]
        objections = [found for found in map(refused_key, keys) if found is not None]
        if objections:
            return min(objections, key=lambda found: _UNFIT.index(found.code))
        if len(set(keys)) != len(keys):
            return Objection("key.duplicate", "one key stands for two parties, or for the ledger and a party")
        if len(self.members) != len(self.opened.parties):
            return Objection("key.duplicate", "two parties have one id")
        return None

    def brief(self, party: str) -> Objection | None:
        """Notes that the next record briefs `party`."""
        member = self.members.get(party)
        if member is None:
            return Objection("brief.party", f"`{party}` is not a party of this run")
        member.asked = self.size
        return None

    def door(self, message: Message) -> Objection | None:
        """Why the message can't be the next record (signature aside), or None."""
        member = self.members.get(message.sender)
        if member is None:
            return Objection("message.from", f"`{message.sender}` is not a party of this run")
        if message.n != member.n:
            return Objection("message.n", f"n is {message.n}, the next of `{member.id}` is {member.n}")
        return self._seen(member.asked, message.seen)

    def _seen(self, asked: int, seen: tuple[int, str]) -> Objection | None:
        seq, leaf = seen
        if leaf == self.prev and seq == self.size - 1:  # what nearly every message has seen
            return None
        if not asked <= seq < self.size:
            return Objection("message.seen", f"seen is record {seq}, expected {asked} to {self.size - 1}")
        if self.leaf(seq).hex() != leaf:
            return Objection("message.seen", f"seen names another record {seq} than this run has")
        return None

    def signed(self, kind: str, body: bytes, sig: str | None, keys: list[bytes]) -> Objection | None:
        """Why a record's signature isn't good under one of the keys, or None."""
        if sig is None:
            return Objection("signature.missing", f"the {kind} is not signed")
        if not keys:
            return Objection("key.unknown", f"who signs the {kind} holds no key any more")
        try:
            signature = signature_bytes(sig)
        except DoorError as error:
            return Objection(error.code, error.text)
        data = pae(kind, body)
        if any(verify(key, signature, data) for key in keys):
            return None
        return Objection("signature.invalid", f"the {kind} is not signed by a key that may")

    def read_action(self, message: Message) -> Any:  # noqa: ANN401 - one of the world's actions
        """The message's typed action, or None; see `engine.read_action`."""
        raw = bytes(message.action)
        if self.world is not None:
            try:
                action = read_action(self.world, raw)
            except CanonicalError:
                check_nested(raw, 2)
                raise
            if action is not None:
                return action
        check_nested(raw, 2)  # what has a type has its depth by it
        if self.world is None:
            admit_any(raw)
            admit_kind(raw)
        return None

    def rule(self, message: Message, action: Any, seq: int) -> Ruling:  # noqa: ANN401
        """Rules on the message linked at `seq`, whose decision comes next."""
        assert self.world is not None, "nothing can be ruled on without rules"
        assert self.state is not None, "nothing can be ruled on without start rows"
        return decide(self.world, self.state, message, action, seq, self.roles, self.reached)

    def ruled(self, message: Message, seq: int, *, accepted: bool) -> None:
        """Notes that the message at `seq` has its decision in the next record."""
        member = self.members[message.sender]
        member.n += 1
        member.said.append(seq)
        member.asked = seq + 1
        if accepted and message.to is not None:
            addressees = self._addressees
            while len(addressees) < seq:
                addressees.append(0)
            # Without start rows a decision is taken at its word, which may be that nobody was reached.
            addressees.append(self._places.get(message.to, 0))

    def reached(self, seq: int, party: str) -> bool:
        """Whether record `seq` is an accepted message sent to `party`."""
        return seq < len(self._addressees) and self._addressees[seq] == self._places[party]

    def turn(self, party: str, n: int | None) -> Objection | None:
        """Why a turn can't come next, or None."""
        member = self.members.get(party)
        if member is None:
            return Objection("turn.party", f"`{party}` is not a party of this run")
        if n is not None and n > member.n:
            return Objection("turn.n", f"n is {n}, the next of `{party}` is {member.n}")
        return None

    def key(self, change: KeyChange, body: bytes, sig: str | None) -> Objection | None:
        """Applies a key record that comes next, or says what is wrong with it and changes nothing."""
        member = self.members.get(change.party)
        if member is None:
            return Objection("key.unknown", f"`{change.party}` is not a party of this run")
        by_ledger = change.by == "ledger"
        signers = [self.ledger_key] if by_ledger else member.keys
        expected = self.ledger_n if by_ledger else member.n
        if not signers:
            return Objection("key.unknown", f"`{member.id}` holds no key any more")
        objection = refused_key(change.key) or self._unfit_change(member, change)
        if objection is None and change.n != expected:
            objection = Objection("message.n", f"n is {change.n}, the next is {expected}")
        objection = (
            objection
            or self._seen(0 if by_ledger else member.asked, change.seen)
            or self.signed("key", body, sig, signers)
        )
        if objection is None:
            self._change(member, change)
        return objection

    def _unfit_change(self, member: Member, change: KeyChange) -> Objection | None:
        key = key_bytes(change.key)
        if change.change == "revoke":
            if key not in member.keys:
                return Objection("key.revoke", f"`{member.id}` does not hold the key to revoke")
        elif key in self._held:
            return Objection("key.duplicate", "the key is or was held in this run")
        elif change.by == "ledger":
            return Objection("key.revoke", "the ledger may revoke a key, not add one")
        return None

    def _change(self, member: Member, change: KeyChange) -> None:
        key = key_bytes(change.key)
        if change.change == "revoke":
            member.keys = [held for held in member.keys if held != key]
        else:
            self._held.add(key)
            member.keys = [*member.keys, key]
            member.held = [*member.held, key]
        if change.by == "ledger":
            self.ledger_n += 1
        else:
            member.n += 1
            member.said.append(self.size)


def refused_key(text: str) -> Objection | None:
    """Why a key's text must not be registered, or None."""
    try:
        check_public(key_bytes(text))
    except KeyRefusedError as error:
        return Objection(error.code, error.text)
    return None


def _bytes_of(text: str) -> bytes:
    """The key's bytes, or bytes that verify nothing where its text is no key (`opening` says so)."""
    try:
        return key_bytes(text)
    except KeyRefusedError:
        return b""
