"""The predicate file: what a run is judged by, as data.

    load(text)  →  PredicateSet{oracle, let, predicate, cap}  →  digest, programs

    id = "…"        title = "…"       view = 1
    [oracle]        name = "what it says"           the right answers that an expression may ask for
    [let]           name = "expression"             put where it is used, in any order
    [predicate.id]  stage, weight, expr, needs [id], seqs, note
    [cap.id]        expr, points 250, note

Weights sum to 1,000. ``seqs`` is an expression that lists the records a verdict
rests on. A let is put around the expressions that use it, so an error in one
reaches only those.

Not here: running them (`verdict`), the language (`cel`) and its limits (`profile`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar

import msgspec

from ..protocol.canonical import digest
from ..protocol.errors import ScoreError
from . import profile
from .cel import MAX_EXPRESSION, RESERVED, Asked, Program, asked_by, reads_of
from .lets import Lets, near, ordered

S = TypeVar("S", bound=msgspec.Struct)

FULL: Final = 1_000
"""The points of a run of which every predicate holds."""

VIEW_VERSION: Final = 1
MAX_FILE_BYTES: Final = 64 * 1024

Stage = Literal["search", "evidence", "choice", "execution", "authority"]
STAGES: Final[tuple[Stage, ...]] = ("search", "evidence", "choice", "execution", "authority")

_ID = re.compile(r"[a-z][a-z0-9_]{0,63}")
WORDS = frozenset(
    {"as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let"}
    | {"loop", "namespace", "null", "package", "return", "true", "var", "void", "while"}
    | {"bool", "bytes", "double", "dyn", "int", "list", "map", "null_type", "optional_type", "string"}
    | {"type", "uint"}
)
"""The words of CEL and the names of its types, which can't be names."""


class Predicate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question about a run: in full it is worth ``weight`` points."""

    stage: Stage
    weight: Annotated[int, msgspec.Meta(ge=0, le=FULL)]
    expr: str
    needs: tuple[str, ...] = ()
    seqs: str | None = None
    note: str | None = None


class Cap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A flag: where it is true, the score is at most ``points``."""

    expr: str
    points: Annotated[int, msgspec.Meta(ge=0, le=FULL)] = 250
    note: str | None = None


class _File(msgspec.Struct, forbid_unknown_fields=True):
    id: Annotated[str, msgspec.Meta(min_length=1, max_length=128, pattern=r"^[!-~]+(?!\n)$")]
    view: int
    title: str | None = None
    oracle: dict[str, str] = {}
    let: dict[str, str] = {}
    predicate: dict[str, Any] = {}
    cap: dict[str, Any] = {}


class Programs(NamedTuple):
    """The compiled expressions of a predicate set, by the id of what they belong to."""

    predicates: dict[str, Program]
    seqs: dict[str, Program]
    caps: dict[str, Program]


class PredicateSet:
    """Predicates and caps, checked for form; their expressions are compiled when first used.

    ``order`` puts each predicate after those that it needs.
    """

    def __init__(  # noqa: PLR0913 - the sections of a file
        self,
        id: str,  # noqa: A002 - the field's name in the file
        predicates: Mapping[str, Predicate],
        *,
        caps: Mapping[str, Cap] | None = None,
        lets: Mapping[str, str] | None = None,
        oracle: Mapping[str, str] | None = None,
        title: str | None = None,
    ) -> None:
        """A set of these.

        Raises:
            ScoreError: `predicate.name`, `predicate.length`, `predicate.weights`, `predicate.needs`.
        """
        self.id = id
        self.title = title
        self.predicates = dict(predicates)
        self.caps = dict(caps or {})
        self.lets = dict(lets or {})
        self.oracle = dict(oracle or {})
        self._check_names()
        self._check_lengths()
        total = sum(predicate.weight for predicate in self.predicates.values())
        if total != FULL:
            hint = "change the weights: 0 is for what is only reported beside"
            raise ScoreError("predicate.weights", f"the weights of `{id}` sum to {total}, not {FULL}", hint)
        self.order = ordered({name: each.needs for name, each in self.predicates.items()}, "predicate.needs")

    @cached_property
    def digest(self) -> str:
        """The scorer digest: of all here that may change a score, in hex."""
        fields = ("stage", "weight", "expr", "needs", "seqs")
        return digest(
            {
                "cap": {name: [cap.expr, cap.points] for name, cap in self.caps.items()},
                "let": self.lets,
                "oracle": self.oracle,
                "predicate": {
                    name: {field: getattr(predicate, field) for field in fields}
                    for name, predicate in self.predicates.items()
                },
                "profile": profile.VERSION,
                "view": VIEW_VERSION,
            }
        )

    @cached_property
    def programs(self) -> Programs:
        """The compiled expressions.

        Raises:
            ScoreError: `predicate.compile`, `predicate.profile`, `predicate.oracle`,
                `predicate.cycle`, `predicate.lets`; the text begins with the place.
        """
        lets = Lets(self.lets)
        predicates: dict[str, Program] = {}
        seqs: dict[str, Program] = {}
        for name, predicate in self.predicates.items():
            predicates[name] = self._compile(lets, f"predicate `{name}`", predicate.expr)
            if predicate.seqs is not None:
                seqs[name] = self._compile(lets, f"seqs of predicate `{name}`", predicate.seqs)
        caps = {name: self._compile(lets, f"cap `{name}`", cap.expr) for name, cap in self.caps.items()}
        return Programs(predicates, seqs, caps)

    @cached_property
    def reads(self) -> frozenset[str]:
        """What the expressions ask of a case view: its names, and the fields that are dear to make."""
        return reads_of(self._all_programs())

    @cached_property
    def asked(self) -> Asked:
        """What the expressions take from a case view, to the second name."""
        return asked_by(self._all_programs())

    @cached_property
    def local(self) -> tuple[str, ...]:
        """The predicates and caps outside the portable core, in file order."""
        judges = {**self.programs.predicates, **self.programs.caps}
        return tuple(name for name, program in judges.items() if program.reach.library)

    def _all_programs(self) -> Iterator[Program]:
        for group in self.programs:
            yield from group.values()

    def _compile(self, lets: Lets, place: str, source: str) -> Program:
        try:
            program = lets.program(source)
            self._check_oracle(program.reach.oracle)
        except ScoreError as error:
            raise ScoreError(error.code, f"{place}: {error.text}", error.hint) from None
        return program

    def _check_oracle(self, asked: frozenset[str]) -> None:
        for name in sorted(asked):
            if name not in self.oracle:
                hint = near(name, self.oracle, "name it under `[oracle]`")
                raise ScoreError("predicate.oracle", f"`oracle` has no `{name}`", hint)

    def _check_names(self) -> None:
        sections = {"let": self.lets, "oracle": self.oracle, "predicate": self.predicates, "cap": self.caps}
        hint = "use a to z, 0 to 9 and `_`, a letter first, and no word of CEL or of the case view"
        for section, names in sections.items():
            for name in names:
                taken = section == "let" and (name in WORDS or name in RESERVED)
                if taken or _ID.fullmatch(name) is None:
                    raise ScoreError("predicate.name", f"`{name}` can't name a {section}", hint)
        for name in self.caps:
            if name in self.predicates:
                problem = f"`{name}` names a predicate and a cap"
                raise ScoreError("predicate.name", problem, "rename one of them")

    def _check_lengths(self) -> None:
        sources = {f"let `{name}`": source for name, source in self.lets.items()}
        for name, predicate in self.predicates.items():
            sources[f"predicate `{name}`"] = predicate.expr
            sources[f"seqs of predicate `{name}`"] = predicate.seqs or ""
        sources.update({f"cap `{name}`": cap.expr for name, cap in self.caps.items()})
        for place, source in sources.items():
            if len(source) > MAX_EXPRESSION:
                problem = f"{place}: {len(source)} characters are over the limit of {MAX_EXPRESSION}"
                raise ScoreError("predicate.length", problem, "give parts of it names under `[let]`")


def load(text: str) -> PredicateSet:
    """The predicates of a file's text.

    Raises:
        ScoreError: `predicate.size`, `predicate.toml`, `predicate.field`, `predicate.view`,
            and as `PredicateSet`.
    """
    size = len(text.encode(errors="surrogatepass"))
    if size > MAX_FILE_BYTES:
        problem = f"a predicate file of {size} bytes is over the limit of {MAX_FILE_BYTES}"
        raise ScoreError("predicate.size", problem)
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ScoreError("predicate.toml", f"a predicate file is not TOML: {error}") from None
    file = _convert(document, _File, "the file")
    if file.view != VIEW_VERSION:
        hint = f"write `view = {VIEW_VERSION}`"
        raise ScoreError("predicate.view", f"there is no case view version {file.view}", hint)
    # msgspec calls every key of a table `[...]`, so each entry is converted under its own name.
    return PredicateSet(
        file.id,
        {name: _convert(entry, Predicate, f"predicate `{name}`") for name, entry in file.predicate.items()},
        caps={name: _convert(entry, Cap, f"cap `{name}`") for name, entry in file.cap.items()},
        lets=file.let,
        oracle=file.oracle,
        title=file.title,
    )


def _convert(value: object, kind: type[S], place: str) -> S:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        problem = str(error).removeprefix("Object ")
        unknown = re.search(r"unknown field `([^`]*)`", problem)
        known = kind.__struct_fields__
        hint = near(unknown[1], known, f"its fields are {', '.join(known)}") if unknown else None
        raise ScoreError("predicate.field", f"{place}: {problem[:1].lower()}{problem[1:]}", hint) from None
