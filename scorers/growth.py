"""How much an expression may make before it gives its value: a bound from its tree, before any run.

    bound of a node = {length, bound of its elements, range of a number}     1 = an element, or 32 characters
    work            = Σ over calls: times that it may be run × what it makes or goes through

The runtime stops after 10,000 loop steps and counts nothing else: a range of
thirty million, a text doubled by each of twenty lets or a list gathered by
`map`, which copies it at every step, take gigabytes on the way. So each part of a
document is taken for a list of so many elements, or a text as large, and what
could then take more than `NOMINAL_LIMIT` is refused; so is a range whose end
nothing bounds. `work` with the true lengths says whether a document is too large.

Not here: the memory of the document itself; steps, which the runtime counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, cast

from .syntax import DYN, Call, Checked, Const, Fold, Made, Name, Node, Select

NOMINAL: Final = (100, 25)
"""The lengths of a part that only a run knows, and in it: the runtime's steps allow two loops over it."""

NOMINAL_LIMIT: Final = 5_000_000
"""The most work of an expression that compiles; those of tasks stay below 20,000."""

LIMIT: Final = 8_000_000
"""The most work over a document, whatever its size: about 250 MB and a quarter of a second."""

_RANGE: Final = (
    "`lists.range` up to a number that only a run knows",
    "bound it: `lists.range(math.least(20, n))`",
)
_WORK: Final = (
    "it may make lists or texts that take too much memory",
    "filter lists first, and don't put them, or texts, together again and again",
)
_STEPS: Final = 10_000
_CHARACTERS: Final = 32
_MOST_LITERAL: Final = 2_000
_MOST: Final = 10**12

# Calls that look at a part, or at nothing but numbers.
_LIGHT: Final = frozenset(
    {"!_", "-_", "@not_strictly_false", "_%_", "_&&_", "_*_", "_-_", "_/_", "_<=_", "_<_", "_>=_", "_>_"}
    | {"_||_", "_?_:_", "bool", "dyn", "hasValue", "int", "optional.none", "optional.of", "or", "orValue"}
    | {"size", "type", "value", "math.@max", "math.@min", "optional.ofNonZeroValue"}
)
_PICKS: Final = frozenset({"_[_]", "_[?_]", "_?._", "first", "last"})
_COMPARES: Final = frozenset(
    {"@in", "_!=_", "_==_", "contains", "endsWith", "indexOf", "lastIndexOf", "startsWith"}
)
_PAIRS: Final = frozenset({"distinct", "sets.contains", "sets.equivalent", "sets.intersects"})


Path = tuple[str, ...]
"""What an expression asks of its document by name: `did.refund.open` is three names."""


class Bound(NamedTuple):
    """The most that a value may be.

    ``item`` bounds its elements, None: as itself. A number is from ``least`` to
    ``most``, None: unknown.
    """

    length: int
    item: Bound | None = None
    least: int | None = None
    most: int | None = None


_SCALAR: Final = Bound(0)


Lengths = tuple[int, int]
"""How long a part of a document is, and the longest that is in it."""


class Weight(NamedTuple):
    """What an expression may take where each part of its document is `NOMINAL`; and which parts it asks for.

    ``bounded`` is false where a range has no end that is known.
    """

    work: int
    bounded: bool
    paths: tuple[Path, ...]


def weigh(checked: Checked) -> Weight:
    """What an expression may take."""
    asked: dict[Path, None] = {}

    def nominal(path: Path) -> Lengths:
        asked[path] = None
        return NOMINAL

    found = _Work(checked, nominal)
    found.of(checked.root, {}, 1)
    return Weight(found.total, not found.unbounded, tuple(asked))


def excess(weight: Weight) -> tuple[str, str] | None:
    """Why an expression may take too much, and what to try; or None."""
    if not weight.bounded:
        return _RANGE
    return _WORK if weight.work > NOMINAL_LIMIT else None


def work(checked: Checked, lengths: Mapping[Path, Lengths]) -> int:
    """The most work where what is under a path isn't longer than is said of it."""
    found = _Work(checked, lengths.__getitem__)
    found.of(checked.root, {}, 1)
    return found.total


def lengths_at(document: Mapping[str, Any], path: Path) -> Lengths:
    """How long the list, map or text is that a document holds under a path, and the longest in it."""
    value: object = document.get(path[0])
    for name in path[1:]:
        if not isinstance(value, dict):
            break
        value = cast("dict[str, object]", value).get(name)
    left: list[object] = []
    own = _length(value, left)
    most = 0
    for item in left:  # grows on the way
        most = max(most, _length(item, left))
    return own, most


def _length(value: object, inside: list[object]) -> int:
    """The length of a value; what is in it is put with the rest."""
    kind = type(value)
    if kind is str:
        return _units(len(cast("str", value)))
    if kind is dict:
        inside += cast("dict[str, object]", value).values()
    elif kind is list:
        inside += cast("list[object]", value)
    else:
        return 0
    return len(cast("list[object]", value))


class _Work:
    """Goes through a tree once, and sums up what it may make."""

    def __init__(self, checked: Checked, document: Callable[[Path], Lengths]) -> None:
        self._types = checked.types
        self._document = document
        self.total = 0
        self.unbounded = False

    def of(self, node: Node, names: Mapping[str, Bound], times: int) -> Bound:
        """The bound of a node that is run so many times."""
        if isinstance(node, Fold):
            return self._fold(node, names, times)
        if isinstance(node, Call):
            return self._call(node, [self.of(each, names, times) for each in node.args], times)
        if isinstance(node, Made):
            return self._made([self.of(each, names, times) for each in node.items], times)
        if isinstance(node, Const):
            return Bound(_units(self._characters(node)), None, node.number, node.number)
        path = _path(node, names)
        if path is not None:
            own, inner = self._document(path)
            return self._typed(node, Bound(own, Bound(inner)))
        if isinstance(node, Name):
            return self._typed(node, names[node.name])
        of = self.of(node.operand, names, times)
        return _SCALAR if node.tested else self._typed(node, of.item or of)

    def _characters(self, const: Const) -> int:
        if const.text is not None:
            return len(const.text)
        return _MOST_LITERAL if self._types.get(const.id, DYN).name == "bytes" else 0

    def _typed(self, node: Node, bound: Bound) -> Bound:
        """A bound with what the static type says: numbers have no length."""
        if self._types.get(node.id, DYN).name in ("int", "bool"):
            return bound._replace(length=0, item=None)
        return bound

    def _made(self, items: list[Bound], times: int) -> Bound:
        self._spend(times, len(items))
        return Bound(len(items), _either(items) if items else _SCALAR)

    def _fold(self, fold: Fold, names: Mapping[str, Bound], times: int) -> Bound:
        over = self.of(fold.over, names, times)
        start = self.of(fold.start, names, times)
        steps = min(over.length, _STEPS)
        inner = min(times * steps, _STEPS)
        element = over.item or over
        inside = {**names, fold.first: element, fold.accumulator: start}
        if fold.second:
            inside[fold.second] = element
        self.of(fold.condition, inside, inner)
        step = self.of(fold.step, inside, inner)
        end = start
        if steps and step.length > start.length:
            length = _capped(start.length + steps * (step.length - start.length))
            end = Bound(length, _either([start, step]).item)
            self._spend(inner, end.length // 2)  # every step copies what was gathered
        return self.of(fold.result, {**names, fold.accumulator: end}, times)

    def _call(self, call: Call, args: list[Bound], times: int) -> Bound:
        function = call.function
        if function == "lists.range":
            return self._range(args[0], times)
        if function in _PICKS:
            return self._typed(call, args[0].item or args[0])
        known = _ARITHMETIC.get(function)
        if known is not None and (function != "_+_" or self._types.get(call.id, DYN).name == "int"):
            return Bound(0, None, *known(args))
        if function == "_?_:_":
            return _either(args[1:])
        if function in _LIGHT:
            return self._typed(call, _either(args))
        if function in _COMPARES:
            self._spend(times, sum(arg.length for arg in args) // 4)
            return _SCALAR
        if function in _PAIRS and not (function == "distinct" and self._is_plain(call.args[0])):
            self._spend(times, args[0].length * args[-1].length)
        return self._typed(call, self._copy(call, args, times))

    def _is_plain(self, node: Node) -> bool:
        """Whether a list is known to hold what `distinct` looks up, instead of comparing each with each."""
        kind = self._types.get(node.id, DYN)
        return any(parameter.name in ("bool", "int", "string") for parameter in kind.parameters)

    def _copy(self, call: Call, args: list[Bound], times: int) -> Bound:
        """A list or text made of what a call is given; of unknown calls, all of it together."""
        first = args[0] if args else _SCALAR
        inner = first.item or first
        length, item = sum(arg.length for arg in args), _either([arg.item or arg for arg in args])
        if call.function == "flatten":
            length, item = first.length * max(1, inner.length), inner.item
            if len(args) > 1:  # as deep as is asked for: no document is deeper than three lists
                length *= max(1, inner.length) ** 2
        elif call.function == "replace":
            length = first.length * max(1, _characters(call.args[2], args[2])) * 2
        elif call.function == "join":
            length = first.length * (inner.length + sum(arg.length for arg in args[1:]) + 1)
        elif call.function == "split":
            length, item = first.length * _CHARACTERS, Bound(first.length)
        elif call.function == "format":
            # A clause may ask for 1,000 places, or print a list.
            given = args[1]
            length = first.length * 1_000 + given.length * (given.item or given).length
        elif call.function in ("slice", "substring", "reverse", "sort", "distinct", "@sortByAssociatedKeys"):
            length, item = first.length, first.item
        self._spend(times, length)
        return Bound(_capped(length), item)

    def _range(self, end: Bound, times: int) -> Bound:
        if end.most is None:
            self.unbounded = True
            return Bound(0, _SCALAR)
        length = max(0, end.most)
        self._spend(times, length)
        return Bound(length, Bound(0, None, 0, length))

    def _spend(self, times: int, each: int) -> None:
        self.total = _capped(self.total + times * (each + 1))


def _either(bounds: list[Bound]) -> Bound:
    """The bound of what may be any of these."""
    if len(bounds) == 1:
        return bounds[0]
    if not bounds:
        return _SCALAR
    items = [bound.item for bound in bounds if bound.item is not None]
    loose = [bound for bound in bounds if bound.item is None and bound.length]
    leasts, mosts = [bound.least for bound in bounds], [bound.most for bound in bounds]
    return Bound(
        max(bound.length for bound in bounds),
        _either([*items, *loose]) if items else None,
        None if None in leasts else min(cast("list[int]", leasts)),
        None if None in mosts else max(cast("list[int]", mosts)),
    )


_Interval = tuple[int | None, int | None]


def _plus(args: list[Bound]) -> _Interval:
    (a, b) = args
    low = None if a.least is None or b.least is None else a.least + b.least
    return low, None if a.most is None or b.most is None else a.most + b.most


def _minus(args: list[Bound]) -> _Interval:
    (a, b) = args
    low = None if a.least is None or b.most is None else a.least - b.most
    return low, None if a.most is None or b.least is None else a.most - b.least


def _product(args: list[Bound]) -> _Interval:
    (a, b) = args
    if a.least is None or b.least is None or min(a.least, b.least) < 0:
        return None, None
    return 0, None if a.most is None or b.most is None else a.most * b.most


def _least(args: list[Bound]) -> _Interval:
    mosts = [arg.most for arg in args if arg.most is not None]
    low = _either(args).least
    return low, min(mosts) if mosts else None


def _greatest(args: list[Bound]) -> _Interval:
    leasts = [arg.least for arg in args if arg.least is not None]
    return max(leasts) if leasts else None, _either(args).most


def _size(args: list[Bound]) -> _Interval:
    return 0, args[0].length


_ARITHMETIC: Final[Mapping[str, Callable[[list[Bound]], _Interval]]] = {
    "_*_": _product,
    "_+_": _plus,
    "_-_": _minus,
    "math.@max": _greatest,
    "math.@min": _least,
    "size": _size,
}


def _path(node: Node, names: Mapping[str, Bound]) -> Path | None:
    """The names by which a node asks for a part of the document, or None."""
    if isinstance(node, Name):
        return None if node.name in names else (node.name,)
    if isinstance(node, Select) and not node.tested:
        above = _path(node.operand, names)
        return None if above is None else (*above, node.field)
    return None


def _characters(node: Node, bound: Bound) -> int:
    """The characters of a text: of a literal, exactly."""
    if isinstance(node, Const) and node.text is not None:
        return len(node.text)
    return bound.length * _CHARACTERS


def _units(characters: int) -> int:
    return -(-characters // _CHARACTERS)


def _capped(number: int) -> int:
    return min(number, _MOST)
