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
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, NamedTuple, cast

from ..protocol.errors import ScoreError
from .failures import advice, failed
from .growth import LIMIT, Weight, excess, weigh
from .profile import ANY_FIELD, Reach, objection, reach
from .syntax import Checked, read
from .wording import Said, refused

# The runtime's functions are static; what they come to depends on the run.
_DRAW: ContextVar[Callable[[str, int, int], int]] = ContextVar("draw")
_MARKET: ContextVar[Callable[[str], Any]] = ContextVar("market")

MAX_EXPRESSION = 2_000
"""The most characters of one expression, as its author wrote it."""

_DEAR = frozenset({"figures", "result"})
_LIBRARIES = ("bindings", "lists", "math", "optional", "sets", "strings", "two-var-comprehensions")

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
    "market": "any",
    "me": "text",
    "message": "any",
    "oracle": "record",
    "read": "seqs",
    "refused": "kinds",
    "tick": "int",
}


class Scope(NamedTuple):
    """What the expressions of one place see: names, whether they may draw from the seed, or ask the market.

    ``why`` tells of other names why they aren't seen there.
    """

    names: tuple[str, ...]
    draws: bool = False
    asks: bool = False
    why: tuple[tuple[str, str], ...] = ()


_ANSWERED = "only a script answers a message"
_PASSED = "only steps and rows with `each` go through elements"
_ASKED = "only a policy is shown what the market shows whom it asks"

JUDGE = Scope(
    tuple(name for name in _SHAPES if name not in ("i", "it", "market", "me", "message")),
    why=(
        *(("i", _PASSED), ("it", _PASSED), ("market", _ASKED)),
        *(("me", _ANSWERED), ("message", _ANSWERED)),
    ),
)
"""The names of the case view, which predicates see."""

RESERVED = frozenset(_SHAPES)
"""The names that mean something somewhere; a let can't have one of them."""


Asked = Mapping[str, tuple[str, ...] | None]
"""The names of a document that are asked for, each with the fields taken from it; None for all of it."""


class Failure(NamedTuple):
    """An expression that gave no value: why, in one line."""

    text: str


class CompileError(ScoreError):
    """An expression that doesn't compile: the ``problem``, and its ``line`` from 1 (0 for none).

    ``let`` is the let whose line it is, or empty for the expression itself.
    """

    def __init__(self, said: Said, let: str = "") -> None:
        where = (f"let `{let}`, " if let else "") + (f"line {said.line}: " if said.line else "")
        super().__init__("predicate.compile", where + said.text, said.hint)
        self.problem = said.text
        self.line = said.line
        self.let = let


class _UncompiledError(Exception):
    """What the compiler says, in its own words."""


class Activation:
    """A document as the runtime holds it.

    The runtime keeps all that programs make on one of its own activations until that is gone, so one
    is left for a new one in time.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._renew()

    def taking(self, work: int) -> Any:  # noqa: ANN401 - the library's own type
        """The runtime's own activation, for a program that may take so much."""
        if self._work + work > LIMIT:
            self._renew()
        self._work += work
        return self._held

    def _renew(self) -> None:
        self._held = _environment(JUDGE, ()).Activation(self._document)
        self._work = 0


class Program:
    """A compiled expression. ``weight`` is what it may take of memory."""

    def __init__(self, expression: Any, serialized: bytes) -> None:  # noqa: ANN401 - the library's own type
        self._expression = expression
        self.serialized = serialized
        self.checked: Checked = read(serialized)
        self.reach: Reach = reach(self.checked)
        self.weight: Weight = weigh(self.checked)

    def run(self, activation: Activation, work: int = 0) -> object:
        """The plain value for one activation, or a `Failure`. It may take ``work``, if over its weight."""
        try:
            value = self._expression.eval(activation.taking(max(work, self.weight.work)))
            plain = value.plain_value()
            _own_nulls(plain)
            # An error's plain value is a text like any other.
            if isinstance(plain, str) and value.type() == _cel().Type.ERROR:
                return Failure(_one_line(failed(plain)))
        except SystemError:  # inside a list or a map the runtime loses its own words
            return Failure("an optional value, which nothing unwraps")
        except (RuntimeError, TypeError, ValueError, OverflowError) as error:
            return Failure(_exception(str(error)))
        except MemoryError:
            return Failure("out of memory")
        return plain


def compile_source(source: str, scope: Scope = JUDGE, extra: Iterable[str] = ()) -> Program:
    """The program of an expression over what its place sees, and further names of any type.

    Raises:
        CompileError: `predicate.compile`; the text begins with the line, if known.
        ScoreError: `predicate.profile`.
    """
    names = tuple(sorted(extra))
    try:
        return _compile(source, scope, names)
    except _UncompiledError as error:
        raise CompileError(_said(error, scope, names)) from None


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
        said = _said(error, scope, ())
        let, line = _whose(lets, said.line)
        raise CompileError(said._replace(line=line), let) from None


def revived(serialized: bytes) -> Program | None:
    """The program of a tree in the runtime's own bytes; None where these are nested too deeply for it."""
    try:
        expression = _environment(Scope((), draws=True, asks=True), ()).deserialize(serialized)
    except RuntimeError:  # protobuf reads a hundred messages, one in the other, which CEL may well nest
        return None
    return Program(expression, serialized)


def activation(document: Mapping[str, Any], asked: Asked | None = None) -> Activation:
    """The names and their values as the runtime holds them; any program may run on it that sees no others.

    It is read when a program first asks for a name, so the document must not
    change any more. ``asked`` is what the programs to come ask for: the rest of
    a large document is then never looked at.
    """
    if asked is None:
        return Activation({name: document[name] for name in _SHAPES if name in document})
    return Activation({name: _part(document[name], asked[name]) for name in asked if name in document})


def asked_by(programs: Iterable[Program]) -> Asked:
    """What any of these programs asks for."""
    found: dict[str, set[str] | None] = {}
    for name, field in sorted({each for program in programs for each in program.reach.asked}, key=str):
        known = found.setdefault(name, set())
        if field is None or known is None:
            found[name] = None
        else:
            known.add(field)
    return {name: None if fields is None else tuple(sorted(fields)) for name, fields in found.items()}


def reads_of(programs: Iterable[Program]) -> frozenset[str]:
    """What these programs ask of a case view: its names, and the fields that are dear to make."""
    found: set[str] = set()
    for program in programs:
        fields = program.reach.fields
        found |= program.reach.free & RESERVED
        found |= _DEAR if ANY_FIELD in fields else _DEAR & fields
    return frozenset(found)


def _part(value: Any, fields: tuple[str, ...] | None) -> Any:  # noqa: ANN401 - whatever the document holds
    if fields is None or not isinstance(value, dict):
        return value
    held = cast("dict[str, Any]", value)
    return {field: held[field] for field in fields if field in held}


@contextmanager
def drawing(draw: Callable[[str, int, int], int]) -> Generator[None]:
    """Within it, `draw(label, low, high)` of places that may draw is this function."""
    token = _DRAW.set(draw)
    try:
        yield
    finally:
        _DRAW.reset(token)


@contextmanager
def asking(market: Callable[[str], Any]) -> Generator[None]:
    """Within it, `market(name)` of places that may ask the market is this function."""
    token = _MARKET.set(market)
    try:
        yield
    finally:
        _MARKET.reset(token)


def _answered(name: str) -> Any:  # noqa: ANN401 - whatever the market says
    return _MARKET.get()(name)


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
    overload = cel.Overload("market_text", kind.DYN, [kind.STRING], impl=_answered)
    asks = [cel.FunctionDecl("market", [overload])] if scope.asks else []
    names.update(dict.fromkeys(extra, kind.DYN))
    return cel.NewEnv(config=config, variables=names, functions=[*draws, *asks])


@lru_cache(maxsize=4_096)  # a mutation is mostly the reference over again
def _compile(source: str, scope: Scope, extra: tuple[str, ...]) -> Program:
    try:
        expression = _environment(scope, extra).compile(source)
    except (RuntimeError, TypeError, ValueError) as error:
        raise _UncompiledError(str(error)) from None
    program = Program(expression, expression.serialize())
    problem = objection(program.checked)
    if problem is not None:
        raise ScoreError("predicate.profile", problem, advice(problem))
    too_much = excess(program.weight)
    if too_much is not None:
        raise ScoreError("predicate.profile", *too_much)
    return program


def _said(error: _UncompiledError, scope: Scope, extra: Sequence[str]) -> Said:
    said = refused(str(error), [*scope.names, *extra], dict(scope.why))
    return said._replace(text=_one_line(said.text))


def _whose(lets: Sequence[tuple[str, str]], line: int) -> tuple[str, int]:
    """Which let a line of a bound source is of, and its number there."""
    # Every let takes a line before and one after its own.
    for name, source in lets:
        lines = source.count("\n") + 1
        if 0 < line <= lines + 2:
            return name, line - 1
        line -= lines + 2
    return "", max(0, line - 1)


def _exception(text: str) -> str:
    if "Iteration budget" in text:
        return "more than 10,000 loop steps"
    if "Unable to convert" in text:
        return "an optional value, which nothing unwraps"
    return _one_line(failed(text))


def _one_line(text: str, limit: int = 200) -> str:
    """A text of the runtime, which may quote a run's own texts, as one printable line."""
    line = " ".join(text[:MAX_EXPRESSION].split())
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"
