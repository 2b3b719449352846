"""What the predicates say of one case view.

    credit = value of the predicate, 0 unless all that it needs hold in full
    points = Σ weight × credit, at most what each true cap leaves      of 1,000, an exact fraction

    value    true · false · [part, whole] · error · undecided

An error is a defect of the predicate: no credit, and reported; in a cap it
counts as true. What asks for a withheld part is undecided, and where a weight
or a cap hangs on that there are no points.

Not here: whether the run may be judged at all (`score`).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, cast

from ..protocol.canonical import MAX_INTEGER
from .cel import Asked, Failure, Program, activation
from .growth import LIMIT, NOMINAL, Lengths, Path, lengths_at, work
from .orders import steady
from .predicates import PredicateSet, Stage
from .profile import ANY_FIELD
from .view import View

Value = bool | tuple[int, int] | None
"""What a predicate gives: ``(part, whole)`` with 0 ≤ part ≤ whole; None where it gives nothing."""

UNDECIDED = "part.withheld"
"""The error of a verdict that a withheld part leaves open."""


class Verdict(NamedTuple):
    """A predicate's value for one run.

    ``value`` is None where ``error`` says why there is none. ``unmet`` are the
    needs that made it false; ``seqs`` the records that it rests on.
    """

    id: str
    stage: Stage
    weight: int
    value: Value
    error: str | None
    unmet: tuple[str, ...]
    seqs: tuple[int, ...]

    @property
    def undecided(self) -> bool:
        """Whether a withheld part leaves the value open."""
        return self.error == UNDECIDED

    @property
    def credit(self) -> Fraction:
        """The share of the weight that it earns."""
        return Fraction(*self.value) if isinstance(self.value, tuple) else Fraction(self.value is True)


class Flag(NamedTuple):
    """A cap's value for one run: true where its expression gave an error, None where undecided."""

    id: str
    points: int
    value: bool | None
    error: str | None


class Defect(NamedTuple):
    """An expression that gave an error: a fault of the file, not of the run."""

    place: str
    text: str


class Judgement(NamedTuple):
    """The verdicts on one view. ``points`` is None where a withheld part leaves them open."""

    points: Fraction | None
    verdicts: tuple[Verdict, ...]
    flags: tuple[Flag, ...]
    defects: tuple[Defect, ...]


def judge(predicates: PredicateSet, view: View) -> Judgement:
    """What the predicates and caps say of a case view."""
    programs = predicates.programs
    held = _Held(view, predicates.asked)
    found: dict[str, Verdict] = {}
    for name in predicates.order:
        found[name] = _verdict(predicates, name, found, _value(programs.predicates[name], held))
    defects = [
        Defect(f"predicate `{verdict.id}`", verdict.error)
        for verdict in (found[name] for name in predicates.predicates)
        if verdict.error is not None and not verdict.undecided
    ]
    for name in predicates.order:
        seqs = _seqs(programs.seqs.get(name), held)
        if isinstance(seqs, Failure):
            defects.append(Defect(f"seqs of predicate `{name}`", seqs.text))
        else:
            # What a need rests on is why the predicate failed with it.
            inherited = (seq for need in found[name].unmet for seq in found[need].seqs)
            found[name] = found[name]._replace(seqs=tuple(sorted({*seqs, *inherited})))
    verdicts = [found[name] for name in predicates.predicates]
    flags: list[Flag] = []
    for name, program in programs.caps.items():
        flag = _flag(name, predicates.caps[name].points, _value(program, held))
        flags.append(flag)
        if flag.value and flag.error is not None:
            defects.append(Defect(f"cap `{name}`", flag.error))
    return Judgement(_points(verdicts, flags), tuple(verdicts), tuple(flags), tuple(defects))


class _Held:
    """A view as the runtime holds it, and how long what it holds is, as far as was asked."""

    def __init__(self, view: View, asked: Asked) -> None:
        self.view = view
        self._activation = activation(view.document, asked)
        self._lengths: dict[Path, Lengths] = {}

    def run(self, program: Program) -> object:
        """What a program gives, or a `Failure`: where it might take too much memory, before it is run."""
        lengths = tuple(map(self._lengths_at, program.weight.paths))
        most = _work(program, lengths) if any(each != NOMINAL for each in lengths) else 0
        if most > LIMIT:
            return Failure("it may take too much memory over lists or texts as long as these")
        return steady(program, self._activation, most)

    def _lengths_at(self, path: Path) -> Lengths:
        """The lengths under a path: nominal, or up to a power of two, so that few are told apart."""
        lengths = self._lengths.get(path)
        if lengths is None:
            own, inner = lengths_at(self.view.document, path)
            lengths = (_rounded(own, NOMINAL[0]), _rounded(inner, NOMINAL[1]))
            self._lengths[path] = lengths
        return lengths


def _rounded(length: int, least: int) -> int:
    return least if length <= least else 1 << (length - 1).bit_length()


@lru_cache(maxsize=4_096)
def _work(program: Program, lengths: tuple[Lengths, ...]) -> int:
    return work(program.checked, dict(zip(program.weight.paths, lengths, strict=True)))


def _points(verdicts: list[Verdict], flags: list[Flag]) -> Fraction | None:
    if any(flag.value is None for flag in flags) or any(each.undecided and each.weight for each in verdicts):
        return None
    points = sum((each.weight * each.credit for each in verdicts), Fraction(0))
    return min([points, *(Fraction(flag.points) for flag in flags if flag.value)])


def _verdict(
    predicates: PredicateSet, name: str, found: Mapping[str, Verdict], value: Value | Failure
) -> Verdict:
    """The verdict with its needs: one that fails outweighs one that is undecided, whatever the order."""
    predicate = predicates.predicates[name]
    error = None
    if isinstance(value, Failure):
        value, error = None, value.text
    unmet: tuple[str, ...] = ()
    if error == UNDECIDED or (error is None and value is not False):
        needs = [found[need] for need in predicate.needs]
        unmet = tuple(need.id for need in needs if need.credit != 1 and not need.undecided)
        if unmet:
            value, error = False, None
        elif any(need.undecided for need in needs):
            value, error = None, UNDECIDED
    return Verdict(name, predicate.stage, predicate.weight, value, error, unmet, ())


def _flag(name: str, points: int, value: Value | Failure) -> Flag:
    if isinstance(value, Failure):
        return Flag(name, points, None if value.text == UNDECIDED else True, value.text)
    if isinstance(value, tuple):
        return Flag(name, points, value=True, error="it gives a fraction, and a cap is true or false")
    return Flag(name, points, value, None)


def _value(program: Program, held: _Held) -> Value | Failure:
    if _hangs_on_withheld(program, held.view):
        return Failure(UNDECIDED)
    value = held.run(program)
    if isinstance(value, (bool, Failure)):
        return value
    if not isinstance(value, list):
        return Failure(f"it gives {_name_of(value)}, not true, false or [part, whole]")
    pair = cast("list[object]", value)
    if len(pair) != 2 or not all(type(item) is int for item in pair):
        return Failure("it gives a list that is not [part, whole], two integers")
    part, whole = cast("list[int]", pair)
    if not 0 < whole <= MAX_INTEGER:
        return Failure(f"it gives [{part}, {whole}], and a whole is from 1 to 2^53 − 1")
    return min(max(part, 0), whole), whole


def _seqs(program: Program | None, held: _Held) -> tuple[int, ...] | Failure:
    """The records named, each once, in order; none where a withheld part is asked for."""
    if program is None or _hangs_on_withheld(program, held.view):
        return ()
    found: set[int] = set()
    left = [held.run(program)]
    while left:
        item = left.pop()
        if isinstance(item, Failure):
            return item
        if isinstance(item, list):
            left += cast("list[object]", item)
        elif type(item) is int and item >= 0:
            found.add(item)
        elif item is not None:
            return Failure(f"it gives {_name_of(item)} where the seq of a record should be")
    return tuple(sorted(found))


def _hangs_on_withheld(program: Program, view: View) -> bool:
    if not view.withheld:
        return False
    fields = program.reach.fields
    return any(
        name in program.reach.free and (ANY_FIELD in fields or not missing.isdisjoint(fields))
        for name, missing in view.withheld.items()
    )


def _name_of(value: object) -> str:
    for kind, name in ((str, "a text"), (bool, "a boolean"), (int, "an integer"), (dict, "a map")):
        if isinstance(value, kind):
            return name
    return "null" if value is None else "a value of another type"
