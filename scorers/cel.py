"""Compiling and running CEL: what the runtime's oddities are turned into.

    source, scope  →  Program(reach)      compiled once
    document       →  Activation          converted once
    Program, Activation  →  plain value | Failure

An error of an expression comes back from the runtime as a value whose plain
value is a text, or as an exception where it took more than 10,000 loop steps or
gave what Python can't hold: all become a `Failure`.

The runtime is imported when the first expression is compiled.

Not here: what a view holds (`view`), what a predicate's value means (`score`).

Source: cel-expr-python 0.1.3, the Python face of google/cel-cpp; its oddities were tried.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, NamedTuple, cast

from ..protocol.errors import ScoreError
from .profile import Reach, objection, reach
from .syntax import Checked, read

Activation = Any
"""A document as the runtime holds it."""

_DRAW: ContextVar[Callable[[str, int, int], int]] = ContextVar("draw")  # the runtime's functions are static

MAX_EXPRESSION = 2_000
"""The most characters of one expression, as its author wrote it."""

_MAX_NESTING = 32
_LIBRARIES = ("bindings", "lists", "math", "optional", "sets", "strings", "two-var-comprehensions")
_STATUS = re.compile(r"[A-Z_]+: ")
_UNDECLARED = re.compile(r"undeclared reference to '([^']*)'")
_PLACE = re.compile(r"(?:[A-Z_]+: )?ERROR: <input>:(\d+):\d+: (.*)")

# The static type of each name; what a place doesn't see isn't declared there, and doesn't compile.
_SHAPES: Mapping[str, str] = {
    "acts": "acts",
    "case": "record",
    "did": "kinds",
    "events": "kinds",
    "facts": "index",
    "final": "rows",
    "heard": "kinds",
    "i": "int",
    "initial": "rows",
    "it": "any",
    "known": "rows",
    "mandate": "record",
    "me": "text",
    "message": "any",
    "oracle": "record",
    "read": "seqs",
    "refused": "kinds",
    "tick": "int",
}


class Scope(NamedTuple):
    """What the expressions of one place see: names, and whether they may draw from the seed."""

    names: tuple[str, ...]
    draws: bool = False


JUDGE = Scope(tuple(name for name in _SHAPES if name not in ("i", "it", "me", "message")))
"""The names of the case view, which predicates see."""

RESERVED = frozenset(_SHAPES)
"""The names that mean something somewhere; a let can't have one of them."""


class Failure(NamedTuple):
    """An expression that gave no value: why, in one line."""

    text: str


class _UncompiledError(Exception):
    """What the compiler says, and at which line (0 for none)."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line
        self.text = text


class Program:
    """A compiled expression."""

    def __init__(self, expression: Any, checked: Checked) -> None:  # noqa: ANN401 - the library's own type
        self._expression = expression
        self.checked = checked
        self.reach: Reach = reach(checked)

    def run(self, activation: Activation) -> object:
        """The plain value for one activation, or a `Failure`."""
        try:
            value = self._expression.eval(activation)
            plain = value.plain_value()
            _own_nulls(plain)
            # An error's plain value is a text like any other.
            if isinstance(plain, str) and value.type() == _cel().Type.ERROR:
                return Failure(_one_line(_STATUS.sub("", plain, count=1)))
        except SystemError:  # inside a list or a map the runtime loses its own words
            return Failure("an optional value, which nothing unwraps")
        except (RuntimeError, TypeError, ValueError, OverflowError) as error:
            return Failure(_exception(str(error)))
        return plain


def compile_source(source: str, scope: Scope = JUDGE, extra: Iterable[str] = ()) -> Program:
    """The program of an expression over what its place sees, and further names of any type.

    Raises:
        ScoreError: `predicate.compile`, `predicate.profile`; the text begins with the line, if known.
    """
    try:
        return _compile(source, scope, tuple(sorted(extra)))
    except _UncompiledError as error:
        where = f"line {error.line}: " if error.line else ""
        raise ScoreError("predicate.compile", where + error.text, _hint(error.text, scope, extra)) from None


def compile_bound(lets: Sequence[tuple[str, str]], body: str, scope: Scope = JUDGE) -> Program:
    """The program of an expression inside `cel.bind`s, the first let outermost.

    Each expression compiles by itself already, so what fails here is how they fit.

    Raises:
        ScoreError: as `compile_source`; the text names the let.
    """
    opened = "".join(f"cel.bind({name}, (\n{source}\n),\n" for name, source in lets)
    try:
        return _compile(f"{opened}(\n{body}\n){')' * len(lets)}", scope, ())
    except _UncompiledError as error:
        raise ScoreError("predicate.compile", _where(lets, error.line) + error.text) from None


def activation(document: Mapping[str, Any]) -> Activation:
    """The names and their values as the runtime holds them; any program may run on it that sees no others.

    It is read when a program first asks for a name, so the document must not change any more.
    """
    return _environment(JUDGE, ()).Activation({name: document[name] for name in _SHAPES if name in document})


@contextmanager
def drawing(draw: Callable[[str, int, int], int]) -> Generator[None]:
    """Within it, `draw(label, low, high)` of places that may draw is this function."""
    token = _DRAW.set(draw)
    try:
        yield
    finally:
        _DRAW.reset(token)


def _drawn(label: str, low: int, high: int) -> int:
    return _DRAW.get()(label, low, high)


def _own_nulls(plain: object) -> None:
    """Take the reference to None that the runtime hands out without taking it, one for each null of a value.

    Else Python 3.11, which counts them, ends in `none_dealloc` once some thousand runs are scored.
    """
    left = [plain]
    while left:
        item = left.pop()
        if item is None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(None))
        elif isinstance(item, list):
            left += cast("list[object]", item)
        elif isinstance(item, dict):
            left += cast("dict[object, object]", item).values()


@cache
def _cel() -> Any:  # noqa: ANN401 - a module
    return import_module("cel_expr_python.cel")  # only here: commands that score nothing don't need it


@cache
def _environment(scope: Scope, extra: tuple[str, ...]) -> Any:  # noqa: ANN401 - the library's own type, known when imported
    cel = _cel()
    kind = cel.Type
    record = kind.Map(kind.STRING, kind.DYN)
    rows = kind.Map(kind.STRING, kind.List(kind.DYN))
    shapes = {
        "acts": kind.List(kind.DYN),
        "any": kind.DYN,
        "index": kind.Map(kind.STRING, record),
        "int": kind.INT,
        "kinds": kind.Map(kind.STRING, rows),
        "record": record,
        "rows": rows,
        "seqs": kind.Map(kind.STRING, kind.Map(kind.STRING, kind.INT)),
        "text": kind.STRING,
    }
    libraries = ", ".join(f"{{name: {name}}}" for name in _LIBRARIES)
    config = cel.NewEnvConfigFromYaml(f"extensions: [{libraries}]")
    names = {name: shapes[_SHAPES[name]] for name in scope.names}
    overload = cel.Overload("draw_text", kind.INT, [kind.STRING, kind.INT, kind.INT], impl=_drawn)
    draws = [cel.FunctionDecl("draw", [overload])] if scope.draws else []
    return cel.NewEnv(config=config, variables={**names, **dict.fromkeys(extra, kind.DYN)}, functions=draws)


@lru_cache(maxsize=4_096)  # a mutation is mostly the reference over again
def _compile(source: str, scope: Scope, extra: tuple[str, ...]) -> Program:
    try:
        expression = _environment(scope, extra).compile(source)
    except (RuntimeError, TypeError, ValueError) as error:
        raise _uncompiled(str(error)) from None
    checked = read(expression.serialize())
    problem = objection(checked)
    if problem is not None:
        raise ScoreError("predicate.profile", problem)
    return Program(expression, checked)


def _uncompiled(text: str) -> _UncompiledError:
    if "recursion" in text:
        return _UncompiledError(0, f"nesting is over the runtime's limit of {_MAX_NESTING}")
    found = _PLACE.search(text)
    problem = found[2] if found else _STATUS.sub("", text, count=1)
    for noise in (" [INVALID_ARGUMENT]", " (in container '')"):
        problem = problem.removesuffix(noise)
    return _UncompiledError(int(found[1]) if found else 0, _one_line(problem))


def _hint(text: str, scope: Scope, extra: Iterable[str]) -> str | None:
    """What to try where a name isn't declared."""
    found = _UNDECLARED.search(text)
    if found is None:
        return None
    names = [*scope.names, *extra]
    seen = f"what may be used here: {', '.join(sorted(names)) or 'nothing but literals'}"
    name = found[1].partition(".")[0]
    close = [] if name in _SHAPES else get_close_matches(name, names, 1)
    return f"did you mean `{close[0]}`?" if close else seen


def _where(lets: Sequence[tuple[str, str]], line: int) -> str:
    """Whose line of a bound source this is: every let takes a line before and one after its own."""
    for name, source in lets:
        lines = source.count("\n") + 1
        if line <= lines + 2:
            return f"let `{name}`, line {line - 1}: "
        line -= lines + 2
    return f"line {line - 1}: "


def _exception(text: str) -> str:
    if "Iteration budget" in text:
        return "more than 10,000 loop steps"
    if "Unable to convert" in text:
        return "an optional value, which nothing unwraps"
    return _one_line(_STATUS.sub("", text, count=1))


def _one_line(text: str, limit: int = 200) -> str:
    """A text of the runtime, which may quote a run's own texts, as one printable line."""
    line = " ".join(text[:MAX_EXPRESSION].split())
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"
