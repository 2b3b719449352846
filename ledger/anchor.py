"""What holds a run fast from outside: pinned keys and checkpoints.

    pinned      a key that the reader brought, not the file
    anchored    the run agrees with a checkpoint from outside, or with its own
                under a pinned ledger key; otherwise a cut tail can't be seen

Not here: the form of notes (`notes`).

Source: C2SP tlog-checkpoint; RFC 9162 2.1.4 (consistency).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..protocol.errors import KeyRefusedError, NoteError
from .notes import Checkpoint, Vkey, parse_checkpoint, verify_note, vkey_of
from .run import Objection, Run

if TYPE_CHECKING:
    from collections.abc import Sequence


class Pins(NamedTuple):
    """What the reader brought: keys (by name, or bare), and checkpoints as signed notes."""

    vkeys: tuple[Vkey, ...] = ()
    keys: frozenset[bytes] = frozenset()
    checkpoints: tuple[str, ...] = ()

    def standing(self, run: Run) -> dict[str, str]:
        """For each party, and the ledger by its name, `pinned` or `self-asserted`."""
        named = {(vkey.name, vkey.key) for vkey in self.vkeys}

        def stands(name: str, keys: Sequence[bytes]) -> str:
            held = bool(keys) and all(key in self.keys or (name, key) in named for key in keys)
            return "pinned" if held else "self-asserted"

        found = {member.id: stands(member.id, member.keys) for member in run.members.values()}
        found[run.opened.ledger.name] = stands(run.opened.ledger.name, [run.ledger_key])
        return found


NO_PINS = Pins()


def check_notes(run: Run, notes: Sequence[str], pins: Pins, *, sealed: bool) -> tuple[list[Objection], bool]:
    """What is wrong with a run's notes and the reader's checkpoints, and whether the run is anchored."""
    objections = _check_pins(run, pins)
    own = [note for note in notes if note.startswith(origin_of(run) + "\n")]
    if sealed and not own:
        objections.append(Objection("checkpoint.missing", "the sealed run has no checkpoint by its ledger"))
    for note in notes:
        objection = _check_note(run, note, sealed=sealed, own=note in own)
        if objection is not None:
            objections.append(objection)
    outside = [note for note in pins.checkpoints if note.startswith(origin_of(run) + "\n")]
    for note in outside:
        objection = _check_outside(run, note)
        if objection is not None:
            objections.append(objection)
    pinned = pins.standing(run)[run.opened.ledger.name] == "pinned"
    anchored = not objections and (bool(outside) or (sealed and pinned))
    return objections, anchored


def origin_of(run: Run) -> str:
    """The origin line of a run's checkpoints."""
    return f"{run.opened.ledger.name}/run/{run.id}"


def _check_pins(run: Run, pins: Pins) -> list[Objection]:
    held = {member.id: member.keys for member in run.members.values()}
    held[run.opened.ledger.name] = [run.ledger_key]
    return [
        Objection("checkpoint.key" if vkey.name == run.opened.ledger.name else "key.pinned",
                  f"`{vkey.name}` has another key than the one you pinned")
        for vkey in pins.vkeys
        if vkey.name in held and vkey.key not in held[vkey.name]
    ]


def _check_note(run: Run, note: str, *, sealed: bool, own: bool) -> Objection | None:
    text = _signed_text(run, note)
    if isinstance(text, Objection):
        return text
    if not own:
        return None
    checkpoint = _parse(text)
    if isinstance(checkpoint, Objection):
        return checkpoint
    if checkpoint.size > run.size or (sealed and checkpoint.size != run.size):
        return Objection("checkpoint.size", f"the checkpoint counts {checkpoint.size} records, the run has {run.size}")
    if checkpoint.root != run.root(checkpoint.size):
        return Objection("checkpoint.root", "the checkpoint's root is not that of the records")
    return None


def _check_outside(run: Run, note: str) -> Objection | None:
    text = _signed_text(run, note)
    if isinstance(text, Objection):
        return text
    checkpoint = _parse(text)
    if isinstance(checkpoint, Objection):
        return checkpoint
    if checkpoint.size > run.size:
        return Objection("checkpoint.size", f"log shorter than checkpoint size {checkpoint.size}: it has {run.size} records")
    if checkpoint.root != run.root(checkpoint.size):
        return Objection("checkpoint.inconsistent", f"the first {checkpoint.size} records are not those of your checkpoint")
    return None


def _signed_text(run: Run, note: str) -> str | Objection:
    ledger = run.opened.ledger
    try:
        return verify_note(note, vkey_of(ledger.name, run.ledger_key))
    except (NoteError, KeyRefusedError) as error:
        return Objection("checkpoint.signature", f"a note is not signed by the ledger's key {ledger.key}: {error.text}")


def _parse(text: str) -> Checkpoint | Objection:
    try:
        return parse_checkpoint(text)
    except NoteError as error:
        return Objection("checkpoint.form", error.text)
