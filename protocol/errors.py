"""The one tree of errors.

    TollbookError
    ├── CanonicalError     bytes that are not the canonical form of a value
    ├── KeyRefusedError    a public key that must not be used
    ├── DoorError          a message turned away before it becomes a record
    ├── ProofError         a Merkle proof that does not prove
    ├── NoteError          a signed note or checkpoint that does not parse or verify
    ├── WorldError         a world, version or parameter that is not known
    ├── LedgerError        a store, run or secret that cannot be used
    ├── BundleError        an export that cannot be read
    ├── SourceError        a foreign file that cannot be imported
    ├── ScoreError         predicates that cannot be applied
    ├── TaskError          a task file, or a place in it, that cannot be played
    └── UsageError         a call that cannot be carried out as written

A market's refusal is not an error: it is a recorded decision. What an audit
finds is not an error either: it is a list of findings.
"""

from __future__ import annotations


class TollbookError(Exception):
    """Something that could not be done, with a stable code and a way out.

    ``code`` is stable (``canonical.float``); ``text`` is one lower-case line
    without a full stop, the user's values in backticks; ``hint`` says what to
    try, or is None.
    """

    def __init__(self, code: str, text: str, hint: str | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.hint = hint


class CanonicalError(TollbookError):
    """Bytes or a value outside the canonical profile."""


class KeyRefusedError(TollbookError):
    """A public key that verifies what its holder never signed, or no key at all."""


class DoorError(TollbookError):
    """A message turned away: not authentic, so not recorded."""


class ProofError(TollbookError):
    """A Merkle proof that does not prove what it is given for."""


class NoteError(TollbookError):
    """A signed note or checkpoint that does not parse or verify."""


class WorldError(TollbookError):
    """A world, a version of it, or a parameter that is not known."""


class LedgerError(TollbookError):
    """A store, a run or a secret that cannot be used as asked."""


class BundleError(TollbookError):
    """An export that cannot be read."""


class SourceError(TollbookError):
    """A foreign file, or a run in it, that cannot be imported."""


class ScoreError(TollbookError):
    """Predicates that cannot be applied to a run."""


class TaskError(TollbookError):
    """A task file that cannot be played, or a place in it that gives nothing."""

    def __init__(
        self, code: str, place: str, problem: str, hint: str | None = None, *, within: int = 0
    ) -> None:
        """An error at a place of the file, such as `case.linear.floor`; empty for the file as a whole.

        ``within`` is the line of the place's value that is meant, from 1, or 0; ``line`` that of the
        file, from 1, or 0 where nobody has looked for it yet.
        """
        text = f"{place}: {problem}" if place else problem
        super().__init__(code, _printable(text), None if hint is None else _printable(hint))
        self.place = place
        self.problem = _printable(problem)
        self.within = within
        self.line = 0

    def of_file(self, name: str) -> str:
        """The text with the file's name and the line: `t4.toml:57: case.linear.floor: …`."""
        return f"{name}:{self.line}: {self.text}" if self.line else f"{name}: {self.text}"


class UsageError(TollbookError):
    """A command or call that cannot be carried out as written."""


def _printable(text: str) -> str:
    """A text as one line of printable characters, whatever it quotes."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)
