"""What holds a run fast from outside: pinned keys and checkpoints.

    pinned      a key that the reader brought, not the file, or one that such a key vouched for in the run
    anchored    the run agrees with a checkpoint from outside, or with its own
                under a pinned ledger key; otherwise a cut tail can't be seen

A run's own notes are judged here too: first its checkpoint, which must be the
one that its ledger would print, then notes of other kinds, told by their first
line, which name the run root.

Not here: the form of notes (`notes`).

Source: C2SP tlog-checkpoint; RFC 9162 2.1.4 (consistency).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from ..protocol.canonical import admit_any, base64_text
from ..protocol.errors import CanonicalError, KeyRefusedError, NoteError
from .notes import MAX_NOTE_BYTES, Vkey, parse_checkpoint, verify_note, vkey_of
from .run import Objection, Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OTHER_NOTES = ("tollbook.environment/1", "tollbook.receipt/1")
"""The first lines of notes that are no checkpoint."""


class Pins(NamedTuple):
    """What the reader brought: keys (by name, or bare), and checkpoints as signed notes."""

    vkeys: tuple[Vkey, ...] = ()
    keys: frozenset[bytes] = frozenset()
    checkpoints: tuple[str, ...] = ()

    def standing(self, run: Run) -> dict[str, str]:
        """For each party, and the ledger by its name, `pinned` or `self-asserted`."""
        if not self.keys and not self.vkeys:
            return dict.fromkeys((*run.members, run.opened.ledger.name), "self-asserted")
        named = self._named()
        # Each later key of a party was added by one before it, so the first one vouches for all.
        found = {
            member.id: self._stands(member.id, member.held[:1], named)
            or self._stands(member.id, member.held, named)
            for member in run.members.values()
        }
        found[run.opened.ledger.name] = self.vouches_for_ledger(run)
        return {name: "pinned" if stood else "self-asserted" for name, stood in found.items()}

    def vouches_for_ledger(self, run: Run) -> bool:
        """Whether the key of the run's ledger is pinned."""
        return self._stands(run.opened.ledger.name, [run.ledger_key], self._named())

    def _named(self) -> set[tuple[str, bytes]]:
        return {(vkey.name, vkey.key) for vkey in self.vkeys}

    def _stands(self, name: str, keys: Sequence[bytes], named: set[tuple[str, bytes]]) -> bool:
        return bool(keys) and all(key in self.keys or (name, key) in named for key in keys)


NO_PINS = Pins()


def check_notes(run: Run, notes: Sequence[str], pins: Pins, *, sealed: bool) -> tuple[list[Objection], bool]:
    """What is wrong with a run's notes and the reader's checkpoints, and whether the run is anchored."""
    objections = list(_check_pins(run, pins))
    held = bool(notes) and not _is_other(notes[0])
    if sealed and not held:
        objections.append(Objection("checkpoint.missing", "the sealed run has no checkpoint by its ledger"))
    for place, note in enumerate(notes):
        if _is_other(note):
            objections += _check_other(run, note)
        elif place == 0:
            objections += _check_own(run, note)
        else:
            objections.append(Objection("bundle.form", f"note {place + 1} is of no kind that belongs here"))
    outside = [note for note in pins.checkpoints if note.startswith(origin_of(run) + "\n")]
    for note in outside:
        objections += _check_outside(run, note)
    return objections, not objections and (bool(outside) or (held and pins.vouches_for_ledger(run)))


def origin_of(run: Run) -> str:
    """The origin line of a run's checkpoints."""
    return f"{run.opened.ledger.name}/run/{run.id}"


def _is_other(note: str) -> bool:
    return note.partition("\n")[0] in OTHER_NOTES


def _check_pins(run: Run, pins: Pins) -> Iterator[Objection]:
    held = {member.id: member.held for member in run.members.values()}
    held[run.opened.ledger.name] = [run.ledger_key]
    for vkey in pins.vkeys:
        if vkey.name in held and vkey.key not in held[vkey.name]:
            code = "checkpoint.key" if vkey.name == run.opened.ledger.name else "key.pinned"
            yield Objection(code, f"`{vkey.name}` has another key than the one you pinned")


def _check_own(run: Run, note: str) -> Iterator[Objection]:
    """What a run's checkpoint has that its ledger would not have printed."""
    if (bad := _unsigned(run, note)) is not None:
        yield Objection("checkpoint.signature", bad)
    origin, _, rest = note.rpartition("\n\n")[0].partition("\n")
    size, _, root = rest.partition("\n")
    if origin != origin_of(run):
        yield Objection("checkpoint.origin", "the checkpoint is not one of this run")
    if size != str(run.size):
        yield Objection(
            "checkpoint.size", f"the checkpoint counts `{size[:20]}` records, the run has {run.size}"
        )
    if root != base64_text(run.root()):
        yield Objection("checkpoint.root", "the checkpoint's root is not that of the records")


def _check_other(run: Run, note: str) -> Iterator[Objection]:
    if (bad := _unsigned(run, note)) is not None:
        yield Objection("note.signature", bad)
    second = note.rpartition("\n\n")[0].partition("\n")[2]
    try:
        document: object = admit_any(second.encode(), MAX_NOTE_BYTES)
    except (CanonicalError, UnicodeEncodeError) as error:
        yield Objection("note.form", f"a note's second line is not canonical: {error}")
        return
    if not isinstance(document, dict):
        yield Objection("note.form", "a note's second line is no object")
    elif cast("dict[str, object]", document).get("root") != run.root().hex():
        yield Objection("note.root", "a note names another root than the run's")


def _check_outside(run: Run, note: str) -> Iterator[Objection]:
    bad = _unsigned(run, note)
    if bad is not None:
        yield Objection("checkpoint.signature", bad)
        return
    try:
        checkpoint = parse_checkpoint(note.rpartition("\n\n")[0] + "\n")
    except NoteError as error:
        yield Objection("checkpoint.form", error.text)
        return
    if checkpoint.size > run.size:
        yield too_short(checkpoint.size, run.size)
    elif checkpoint.root != run.root(checkpoint.size):
        what = f"the first {checkpoint.size} records are not those of your checkpoint"
        yield Objection("checkpoint.inconsistent", what)


def too_short(expected: int, size: int) -> Objection:
    """A log of `size` records against a checkpoint of `expected`."""
    return Objection("checkpoint.size", f"log shorter than checkpoint size {expected}: it has {size} records")


def _unsigned(run: Run, note: str) -> str | None:
    """Why the note is not signed by the run's ledger, or None."""
    ledger = run.opened.ledger
    try:
        verify_note(note, vkey_of(ledger.name, run.ledger_key))
    except (NoteError, KeyRefusedError) as error:
        return f"a note is not signed by the ledger's key {ledger.key}: {error.text}"
    return None
