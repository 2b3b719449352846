"""Values that are worked out when a run is played: expressions, and texts with expressions in them.

    expression   CEL, in its place's scope, with its place's lets      ─► any value
    value        plain, or a text: `=…` is an expression               ─► the value
    text         `{expr}` is filled in, `{expr:money}` 13000 as 130.00, `{{` a brace

An expression compiles once for a task and runs on one activation after the
other. What it gives is plain JSON of integers and texts; an error, or a value
of another kind, is an `Unformed` with its place.

Not here: which names a place sees (`places`).

Source: the task format, its first paragraph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, cast

from ...protocol.canonical import MAX_INTEGER
from ...protocol.errors import ScoreError, TaskError
from ...scorers.cel import MAX_EXPRESSION, RESERVED, Activation, Failure, Program, Scope
from ...scorers.lets import Lets
from ...scorers.predicates import WORDS

Json = Any

_MONEY: Final = ":money"


class Unformed(Exception):  # noqa: N818 - caught by who plays, and told as a silence, an end or an error
    """A value that could not be worked out: where, and why."""

    def __init__(self, place: str, text: str) -> None:
        super().__init__(f"{place}: {text}")
        self.place = place
        self.text = text


class Expression(NamedTuple):
    """A compiled expression and its place in the file."""

    place: str
    program: Program

    def value(self, held: Activation) -> Json:
        """What it gives.

        Raises:
            Unformed: it gives an error, or what has no plain form.
        """
        value = self.program.run(held)
        if isinstance(value, Failure):
            raise Unformed(self.place, value.text)
        flaw = _flaw(value)
        if flaw is not None:
            raise Unformed(self.place, f"it gives {flaw}")
        return value

    def holds(self, held: Activation) -> bool:
        """Whether it is true.

        Raises:
            Unformed: it is neither true nor false.
        """
        value = self.value(held)
        if not isinstance(value, bool):
            raise Unformed(self.place, "it is neither true nor false")
        return value

    def elements(self, held: Activation, most: int) -> list[Json]:
        """The elements of the list that it gives.

        Raises:
            Unformed: it is no list, or of more than `most` elements.
        """
        value = self.value(held)
        if not isinstance(value, list):
            raise Unformed(self.place, "it gives no list")
        items = cast("list[Json]", value)
        if len(items) > most:
            raise Unformed(self.place, f"its list of {len(items)} is over the limit of {most}")
        return items


class Text(NamedTuple):
    """A text with expressions in it: pieces of text, and (expression, whether it is money)."""

    place: str
    pieces: tuple[str | tuple[Expression, bool], ...]

    def value(self, held: Activation) -> str:
        """The text, filled in.

        Raises:
            Unformed: an expression gives an error, or what is no text, number or truth value.
        """
        return "".join(piece if isinstance(piece, str) else self._filled(*piece, held) for piece in self.pieces)

    def _filled(self, expression: Expression, money: bool, held: Activation) -> str:  # noqa: FBT001
        value = expression.value(held)
        if money:
            if type(value) is not int:
                raise Unformed(self.place, f"`:money` prints a number of minor units, not {_kind(value)}")
            return money_text(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, str)):
            return str(value)
        raise Unformed(self.place, f"a text can't hold {_kind(value)}")


Value = Callable[[Activation], Json]
"""A value of the file, ready to be worked out. Raises `Unformed`."""


class Maker:
    """Compiles the values of one place of the file: its scope, its lets."""

    def __init__(self, scope: Scope, place: str, lets: Mapping[str, str] | None = None) -> None:
        """For the place at this path. ``made`` are the expressions compiled so far.

        Raises:
            TaskError: `task.name`, for a let that can't have its name; `task.expression`.
        """
        self._scope = scope
        self._lets = Lets(lets or {}, scope)
        self.made: list[Expression] = []
        for name, source in (lets or {}).items():
            where = f"{place}.let.{name}"
            if name in WORDS or name in RESERVED:
                hint = "rename it: CEL or the case view has that word"
                raise TaskError("task.name", where, f"`{name}` can't be a let's name", hint)
            self._check_length(source, where)

    def expression(self, source: str, place: str) -> Expression:
        """The expression at a place.

        Raises:
            TaskError: `task.expression`.
        """
        if source.startswith("="):
            hint = "drop the `=`: this place always takes an expression"
            raise TaskError("task.expression", place, "an expression begins with `=`", hint)
        self._check_length(source, place)
        try:
            made = Expression(place, self._lets.program(source))
        except ScoreError as error:
            raise TaskError("task.expression", place, error.text, error.hint or _hint(source)) from None
        self.made.append(made)
        return made

    def value(self, raw: Json, place: str) -> Value:
        """A value at a place: plain, filled in, or worked out.

        Raises:
            TaskError: `task.expression`, `task.text`.
        """
        if isinstance(raw, str):
            if raw.startswith("="):
                return self.expression(raw[1:], place).value
            text = self.text(raw, place)
            return text.value if any(not isinstance(piece, str) for piece in text.pieces) else _constant(text)
        if isinstance(raw, dict):
            fields = cast("dict[str, Json]", raw)
            made = {name: self.value(item, f"{place}.{name}") for name, item in fields.items()}
            return lambda held: {name: item(held) for name, item in made.items()}
        if isinstance(raw, list):
            items = [self.value(item, f"{place}[{at}]") for at, item in enumerate(cast("list[Json]", raw))]
            return lambda held: [item(held) for item in items]
        return lambda _held: raw

    def text(self, raw: str, place: str) -> Text:
        """A text at a place.

        Raises:
            TaskError: `task.text`, for a brace without its other; `task.expression`.
        """
        pieces: list[str | tuple[Expression, bool]] = []
        for piece in _pieces(raw, place):
            if isinstance(piece, str):
                pieces.append(piece)
            else:
                source = piece[0]
                money = source.endswith(_MONEY)
                pieces.append((self.expression(source.removesuffix(_MONEY), place), money))
        return Text(place, tuple(pieces))

    def _check_length(self, source: str, place: str) -> None:
        if len(source) > MAX_EXPRESSION:
            problem = f"an expression of {len(source)} characters is over the limit of {MAX_EXPRESSION}"
            raise TaskError("task.expression", place, problem, "give parts of it names under `let`")


def money_text(minor: int) -> str:
    """Minor units as people write them: 13000 is `130.00`."""
    sign = "-" if minor < 0 else ""
    return f"{sign}{abs(minor) // 100}.{abs(minor) % 100:02d}"


def _constant(text: Text) -> Value:
    plain = "".join(cast("tuple[str, ...]", text.pieces))
    return lambda _held: plain


def _pieces(raw: str, place: str) -> list[str | tuple[str]]:
    """A text in pieces: plain ones, and the source of each expression in a tuple of its own."""
    pieces: list[str | tuple[str]] = []
    plain: list[str] = []
    at = 0
    while at < len(raw):
        if raw.startswith("{{", at):
            plain.append("{")
            at += 2
        elif raw[at] == "{":
            end = _closing(raw, at, place)
            pieces += ["".join(plain), (raw[at + 1 : end],)]
            plain = []
            at = end + 1
        else:
            plain.append(raw[at])
            at += 1
    return [*pieces, "".join(plain)]


def _closing(raw: str, start: int, place: str) -> int:
    """Where the brace opened at `start` is closed; braces and quotes within are the expression's own."""
    depth, quote = 0, ""
    at = start
    while at < len(raw):
        char = raw[at]
        if quote:
            at += char == "\\"
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "{}":
            depth += 1 if char == "{" else -1
            if depth == 0:
                return at
        at += 1
    hint = "write `{{` for a brace that is only a brace"
    raise TaskError("task.text", place, "a `{` without its `}`", hint)


def _hint(source: str) -> str | None:
    """What to try where an expression doesn't compile, for the mistakes that are made most."""
    if "_" in source and any(part[-1:].isdigit() for part in source.split("_")[:-1]):
        digits = source.replace("_", "")
        if any(char.isdigit() for char in digits):
            return "numbers in expressions have no `_`: write 9900 for 9_900"
    if "?" in source and "[" in source:
        return "both branches of `? :` have one type: write `[0, 1]` for false beside `[part, whole]`"
    return None


def _flaw(value: object) -> str | None:
    """What is wrong with a value as plain JSON of integers and texts, or None."""
    if value is None or isinstance(value, (bool, str)):
        return None
    if isinstance(value, int):
        return None if abs(value) <= MAX_INTEGER else "a number beyond ±(2^53 − 1)"
    if isinstance(value, list):
        return next(filter(None, map(_flaw, cast("list[object]", value))), None)
    if isinstance(value, dict):
        found = cast("dict[object, object]", value)
        if not all(isinstance(key, str) for key in found):
            return "a map whose keys are no texts"
        return next(filter(None, map(_flaw, found.values())), None)
    return "a value that is no number, text, list or map"


def _kind(value: object) -> str:
    names = {type(None): "null", bool: "true or false", int: "a number", str: "a text", list: "a list"}
    return names.get(type(value), "a map")
