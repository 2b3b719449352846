"""A receipt: what a run was worth, in one signed line, and what another scoring changes of it.

    receipt = "tollbook.receipt/1" LF canonical{…} LF
              … = run, root, task, case, trial, checks, scorer, predicates, caps, score
    signed    a C2SP note over that text by the ledger's key; a stranger's receipt is the text alone

    diff(receipt, score)  →  the score before and after, and which verdicts moved, at which records

Only a scored run has a receipt. A text has one spelling: what is parsed is
what would be printed.

Not here: keeping receipts (`tollbook.ledger.store`); whose key to trust (the reader's pins).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, Literal, NamedTuple

import msgspec

from ..ledger.findings import CHECKS, Check
from ..ledger.notes import MAX_NOTE_BYTES, Vkey, parse_note, sign_note, verify_note
from ..protocol.canonical import MAX_INTEGER, Hex, Id, Index, Integer, admit, encode_typed
from ..protocol.errors import CanonicalError, NoteError, ScoreError
from ..protocol.keys import SigningKey
from .predicates import FULL
from .score import Score
from .verdict import Value, Verdict

HEADER: Final = "tollbook.receipt/1\n"

Stated = bool | tuple[Integer, Integer] | Literal["error", "undecided"]
"""A predicate's value as a receipt states it."""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A predicate or a cap, and its value."""

    id: Id
    value: Stated


class Receipt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a scored run was worth. ``checks`` are those that were done; ``score`` is exact, of 1,000."""

    caps: tuple[Entry, ...]
    case: Id | None
    checks: tuple[Check, ...]
    predicates: tuple[Entry, ...]
    root: Hex
    run: Hex
    # Not a bounded integer in the union: msgspec 0.23 then crashes the garbage collector.
    score: int | tuple[Integer, Integer]
    scorer: Hex
    task: Hex | None
    trial: Index

    @property
    def value(self) -> Fraction:
        """The score as a fraction."""
        return Fraction(self.score) if isinstance(self.score, int) else Fraction(*self.score)


class Move(NamedTuple):
    """A predicate or cap that says something else than before; None where there was or is no such one."""

    id: str
    before: Stated | None
    after: Stated | None
    seqs: tuple[int, ...]


class Difference(NamedTuple):
    """What another scoring of the same run changed. ``after`` is None where the run got no score."""

    run: str
    before: Fraction
    after: Fraction | None
    same_scorer: bool
    moves: tuple[Move, ...]

    @property
    def moved(self) -> bool:
        """Whether the score or a verdict changed."""
        return self.before != self.after or bool(self.moves)


_RECEIPT = msgspec.json.Decoder(Receipt)


def receipt_of(score: Score) -> Receipt:
    """The receipt of a scored run.

    Raises:
        ScoreError: `receipt.unscored`; `receipt.fraction`, a score that no two integers within 2^53 give.
    """
    if score.value is None or score.root is None or score.trial is None or score.scorer is None:
        raise ScoreError("receipt.unscored", f"run `{score.run[:12]}` has no score: {score.reason}")
    exact = score.value.as_integer_ratio()
    if max(exact) > MAX_INTEGER:
        hint = "let the fractions of the predicates have wholes that go into each other"
        problem = f"the score of run `{score.run[:12]}` is too fine to state"
        raise ScoreError("receipt.fraction", problem, hint)
    return Receipt(
        caps=tuple(Entry(flag.id, flag.value is True) for flag in score.caps),
        case=score.case,
        checks=tuple(check for check in CHECKS if score.checks[check] == "done"),
        predicates=tuple(Entry(verdict.id, _stated(verdict)) for verdict in score.predicates),
        root=score.root,
        run=score.run,
        score=exact[0] if exact[1] == 1 else exact,
        scorer=score.scorer,
        task=score.task_digest,
        trial=score.trial,
    )


def print_receipt(receipt: Receipt) -> str:
    """The text of a receipt: what is signed, and all of an unsigned one."""
    return f"{HEADER}{encode_typed(receipt).decode()}\n"


def sign_receipt(receipt: Receipt, name: str, signer: SigningKey) -> str:
    """The note over a receipt, by the ledger's key under the ledger's name.

    Raises:
        NoteError: as `sign_note`.
    """
    return sign_note(print_receipt(receipt), name, signer)


def parse_receipt(text: str) -> Receipt:
    """The receipt of a signed or an unsigned text; no signature is verified.

    Raises:
        NoteError: `note.size`, and of a signed text as `parse_note`.
        ScoreError: `receipt.form`.
    """
    if len(text) > MAX_NOTE_BYTES:
        raise NoteError("note.size", f"a receipt is over the limit of {MAX_NOTE_BYTES} bytes")
    return _parse(parse_note(text).text if "\n\n" in text else text)


def verify_receipt(note: str, vkey: Vkey) -> Receipt:
    """The receipt that the key has signed.

    Raises:
        NoteError: as `verify_note`.
        ScoreError: `receipt.form`.
    """
    return _parse(verify_note(note, vkey))


def diff(before: Receipt, after: Score) -> Difference:
    """What a new score of the same run says otherwise than an old receipt.

    Raises:
        ScoreError: `receipt.run`, they are of two runs.
    """
    if (before.run, before.root) != (after.run, after.root):
        problem = f"a receipt of run `{before.run[:12]}` is compared with a score of run `{after.run[:12]}`"
        raise ScoreError("receipt.run", problem, "compare receipts and scores of one run, sealed once")
    old: dict[str, Stated] = {entry.id: entry.value for entry in (*before.predicates, *before.caps)}
    new: dict[str, Stated] = {}
    for verdict in after.predicates:
        new[verdict.id] = _stated(verdict)
    for flag in after.caps:
        new[flag.id] = "undecided" if flag.value is None else flag.value
    seqs = {verdict.id: verdict.seqs for verdict in after.predicates}
    moves = [
        Move(name, old.get(name), new.get(name), seqs.get(name, ()))
        for name in dict.fromkeys([*new, *old])
        if old.get(name) != new.get(name)
    ]
    return Difference(after.run, before.value, after.value, before.scorer == after.scorer, tuple(moves))


def _stated(verdict: Verdict) -> Stated:
    value: Value = verdict.value
    if value is None:
        return "undecided" if verdict.undecided else "error"
    return value


def _parse(text: str) -> Receipt:
    if not text.startswith(HEADER) or not text.endswith("\n"):
        raise ScoreError("receipt.form", f"a text is not a receipt: it doesn't begin with `{HEADER.strip()}`")
    line = text[len(HEADER) : -1]
    try:
        receipt = admit(line.encode(), _RECEIPT, MAX_NOTE_BYTES)
    except (CanonicalError, UnicodeEncodeError) as error:
        raise ScoreError("receipt.form", f"a text is not a receipt: {error}") from None
    problem = _problem(receipt)
    if problem is not None:
        raise ScoreError("receipt.form", f"a text is not a receipt: {problem}")
    return receipt


def _problem(receipt: Receipt) -> str | None:
    """What no printed receipt could have stated, though its types admit it."""
    if isinstance(receipt.score, int):
        if not 0 <= receipt.score <= FULL:
            return "its score is not of 1000"
    else:
        numerator, denominator = receipt.score
        lowest = denominator > 1 and Fraction(numerator, denominator).as_integer_ratio() == receipt.score
        if not lowest or not 0 <= numerator <= FULL * denominator:
            return "its score is not a fraction in lowest terms, of 1000"
    if list(receipt.checks) != [check for check in CHECKS if check in receipt.checks]:
        return "its checks are not in order, each once"
    for entry in (*receipt.predicates, *receipt.caps):
        if isinstance(entry.value, tuple) and not 0 <= entry.value[0] <= entry.value[1] > 0:
            return f"the value of `{entry.id}` is not [part, whole]"
    return None
