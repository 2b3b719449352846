"""Values that are worked out when a run is played: expressions, and texts with expressions in them.

    expression   CEL, in its place's scope, with its place's lets      ─► any value
    value        plain, or a text: `=…` is an expression               ─► the value
    text         `{expr}` is filled in (`template`)     ─► a text

An expression compiles once for a task and runs on one activation after the
other. What it gives is plain JSON of integers and texts; an error, or a value
of another kind, is an `Unformed` with its place.

Not here: which names a place sees (`places`).

Source: the task format, its first paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, cast

from ...protocol.canonical import MAX_INTEGER
from ...protocol.errors import ScoreError
from ...scorers.cel import (
    MAX_EXPRESSION,
    RESERVED,
    Activation,
    Asked,
    CompileError,
    Failure,
    Program,
    Scope,
    asked_by,
    compile_source,
    reads_of,
)
from ...scorers.failures import advice
from ...scorers.lets import CircleError, Lets
from ...scorers.predicates import WORDS
from .faults import Faults, FirstFault
from .template import Hole, UnclosedError, money_text, pieces_of

Json = Any

_HINT: Final = "look at its parts one by one: each can be a `let`"
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


class Unformed(Exception):  # noqa: N818 - caught by who plays, and told as a silence, an end or an error
    """A value that could not be worked out: where, why, and what to try; ``within`` as in `TaskError`."""

    def __init__(self, place: str, text: str, hint: str | None = None, within: int = 0) -> None:
        super().__init__(f"{place}: {text}")
        self.place = place
        self.within = within
        self.text = text
        self.hint = hint


class Expression(NamedTuple):
    """A compiled expression, its place in the file, and the line of that place where it begins, from 1."""

    place: str
    program: Program
    within: int = 1

    def value(self, held: Activation) -> Json:
        """What it gives.

        Raises:
            Unformed: it gives an error, or what has no plain form.
        """
        value = self.program.run(held)
        if isinstance(value, Failure):
            raise self.unformed(value.text, advice(value.text) or _HINT)
        flaw = _flaw(value)
        if flaw is not None:
            raise self.unformed(f"it gives {flaw}", "give numbers, texts, lists and maps")
        return value

    def holds(self, held: Activation) -> bool:
        """Whether it is true.

        Raises:
            Unformed: it is neither true nor false.
        """
        value = self.value(held)
        if not isinstance(value, bool):
            raise self.unformed(f"it gives {_kind(value)}, where true or false decides", "compare it")
        return value

    def elements(self, held: Activation, most: int) -> list[Json]:
        """The elements of the list that it gives.

        Raises:
            Unformed: it is no list, or of more than `most` elements.
        """
        value = self.value(held)
        if not isinstance(value, list):
            hint = "give a list; `lists.range(3)` is [0, 1, 2]"
            raise self.unformed(f"it gives {_kind(value)}, and a list is gone through", hint)
        items = cast("list[Json]", value)
        if len(items) > most:
            problem = f"its list of {len(items):,} is over the limit of {most:,}"
            raise self.unformed(problem, "go through fewer elements")
        return items

    def unformed(self, text: str, hint: str | None) -> Unformed:
        """That its value can't be used, and why."""
        return Unformed(self.place, text, hint, self.within)


class Text(NamedTuple):
    """A text with expressions in it: pieces of text, and (expression, whether it is money)."""

    place: str
    pieces: tuple[str | tuple[Expression, bool], ...]

    def value(self, held: Activation) -> str:
        """The text, filled in.

        Raises:
            Unformed: an expression gives an error, or what is no text, number or truth value.
        """
        filled = (each if isinstance(each, str) else self._filled(*each, held) for each in self.pieces)
        return "".join(filled)

    def _filled(self, expression: Expression, money: bool, held: Activation) -> str:  # noqa: FBT001
        value = expression.value(held)
        if money:
            if type(value) is not int:
                problem = f"`:money` prints a number of minor units, not {_kind(value)}"
                raise expression.unformed(problem, "drop `:money`, or give a number")
            return money_text(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, str)):
            return str(value)
        hint = "fill in a text, a number, or true or false"
        raise expression.unformed(f"a text can't hold {_kind(value)}", hint)


Value = Callable[[Activation], Json]
"""A value of the file, ready to be worked out. Raises `Unformed`."""


class Maker:
    """Compiles the values of one place of the file: its scope, its lets."""

    def __init__(
        self,
        scope: Scope,
        place: str,
        lets: Mapping[str, str] | None = None,
        *,
        faults: Faults | None = None,
        places: Mapping[str, str] | None = None,
    ) -> None:
        """For the place at this path. ``made`` are the expressions compiled so far.

        ``faults`` is where faults are noted; without it the first one is raised. ``places``
        are the places of lets that don't stand at ``place``.

        Raises:
            TaskError: `task.name`, for a let that can't have its name; `task.expression`.
        """
        self.made: list[Expression] = []
        self.faults = FirstFault() if faults is None else faults
        self._scope = scope
        own = {name: f"{place}.let.{name}".removeprefix(".") for name in lets or {}}
        self._places = {**own, **(places or {})}
        self._sources = self._named(lets or {})
        alone = [self._alone(source, self._places[name]) for name, source in self._sources.items()]
        self._lets = None if None in alone else Lets(self._sources, scope)
        self.lets = self._bound_lets()
        self.let_places = frozenset(self._places.values())

    def expression(self, source: str, place: str) -> Expression:
        """The expression at a place; one with a fault gives null.

        Raises:
            TaskError: `task.expression`.
        """
        program = self._compile(source, place)
        if program is None:
            return Expression(place, _nothing())
        self.made.append(Expression(place, program))
        return self.made[-1]

    @property
    def asked(self) -> Asked:
        """What the expressions compiled so far ask for."""
        return asked_by(expression.program for expression in self.made)

    @property
    def reads(self) -> frozenset[str]:
        """What the expressions compiled so far read of what their place sees."""
        return reads_of(expression.program for expression in self.made)

    def value(self, raw: Json, place: str) -> Value:
        """A value at a place: plain, filled in, or worked out.

        Raises:
            TaskError: `task.expression`, `task.text`.
        """
        if isinstance(raw, str):
            if raw.startswith("="):
                return self.expression(raw[1:], place).value
            text = self.text(raw, place)
            is_plain = all(isinstance(piece, str) for piece in text.pieces)
            return _constant(text) if is_plain else text.value
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
        try:
            for piece in pieces_of(raw):
                if isinstance(piece, str):
                    pieces.append(piece)
                    continue
                pieces.append((self._hole(piece, place), piece.is_money))
        except UnclosedError as error:
            hint = "close it, or write `{{` for a brace that is only a brace"
            self.faults.note("task.text", place, "a `{` without its `}`", hint, within=error.line + 1)
        return Text(place, tuple(pieces))

    def _hole(self, hole: Hole, place: str) -> Expression:
        """The expression of a text's hole, whose lines are counted from the text's first."""
        before, made = len(self.faults.found), len(self.made)
        expression = self.expression(hole.source, place)
        for fault in self.faults.found[before:]:
            fault.within += hole.line
        expression = expression._replace(within=1 + hole.line)
        self.made[made:] = [expression] if len(self.made) > made else []
        return expression

    def _named(self, lets: Mapping[str, str]) -> dict[str, str]:
        """The lets that can have their names; of others that is noted, and what asks for them is left out."""
        named: dict[str, str] = {}
        for name, source in lets.items():
            is_taken = name in WORDS or name in RESERVED
            if not is_taken and _NAME.fullmatch(name) is not None:
                named[name] = source
                continue
            form = "use a to z, 0 to 9 and `_`, a letter first"
            hint = "rename it: CEL or the case view has that word" if is_taken else form
            self.faults.note("task.name", self._places[name], f"`{name}` can't be a let's name", hint)
        self._refused = [name for name in lets if name not in named]
        while lost := [name for name, source in named.items() if self._asks_for_refused(source)]:
            self._refused += lost
            named = {name: source for name, source in named.items() if name not in lost}
        return named

    def _asks_for_refused(self, source: str) -> bool:
        """Whether an expression seems to ask for a let whose name is refused: that is told already."""
        return any(re.search(rf"(?<![\w.]){re.escape(name)}\b(?!\()", source) for name in self._refused)

    def _bound_lets(self) -> dict[str, Expression]:
        """Each let with those that it uses around it, used ones first: a fault is told where it stands."""
        if self._lets is None:
            return {}
        try:
            order = self._lets.order
        except CircleError as error:
            place = self._places[error.circle[0]]
            self.faults.note("task.expression", place, error.text, error.hint)
            self._lets = None
            return {}
        programs = {name: self._compile(self._sources[name], self._places[name]) for name in order}
        return {
            name: Expression(self._places[name], program)
            for name, program in programs.items()
            if program is not None
        }

    def _compile(self, source: str, place: str) -> Program | None:
        """The program with its lets; by itself where the lets have faults."""
        if self._lets is None or len(source) > MAX_EXPRESSION:
            return self._alone(source, place)
        try:
            return self._lets.program(source)
        except ScoreError as error:
            self._note(error, place, source)
        return None

    def _alone(self, source: str, place: str) -> Program | None:
        if len(source) > MAX_EXPRESSION:
            problem = f"an expression of {len(source):,} characters is over the limit of {MAX_EXPRESSION:,}"
            self.faults.note("task.expression", place, problem, "give parts of it names under `let`")
            return None
        try:
            return compile_source(source, self._scope, self._sources)
        except ScoreError as error:
            self._note(error, place, source)
        return None

    def _note(self, error: ScoreError, place: str, source: str) -> None:
        if self._asks_for_refused(source):
            return
        if not isinstance(error, CompileError):
            self.faults.note("task.expression", place, error.text, error.hint or _HINT, within=1)
            return
        at = self._places.get(error.let, place)
        hint = error.hint or _HINT
        self.faults.note("task.expression", at, error.problem, hint, within=max(1, error.line))


@cache
def _nothing() -> Program:
    """Stands for an expression with a fault: nothing is played while there is one."""
    return compile_source("null")


def _constant(text: Text) -> Value:
    plain = "".join(cast("tuple[str, ...]", text.pieces))
    return lambda _held: plain


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
    if isinstance(value, bool):
        return "true or false"
    kinds = ((type(None), "null"), (int, "a number"), (str, "a text"), (list, "a list"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "a map")
