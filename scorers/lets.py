"""Names for the judge: which an expression uses, and in what order they are put around it.

    ordered(uses)            →  every name after those that it uses
    Lets(lets).program(expr) →  cel.bind(a, …, cel.bind(b, …, expr)) with just the lets that it needs

Which names an expression uses is read from its compiled tree, so a name inside
a text, or one that a macro binds anew, is not a use.

Not here: what an expression may hold (`profile`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import Final

from ..protocol.errors import ScoreError
from .cel import JUDGE, CompileError, Program, Scope, compile_bound, compile_source
from .wording import Said

MAX_LETS: Final = 16
"""The most lets that one expression may use; the runtime nests no deeper than 32."""


class CircleError(ScoreError):
    """Names that use each other; ``circle`` begins and ends with the same one."""

    def __init__(self, code: str, circle: Sequence[str]) -> None:
        names = " → ".join(f"`{each}`" for each in circle)
        super().__init__(code, f"each uses the next: {names}", "break the circle")
        self.circle = tuple(circle)


class Lets:
    """Puts around an expression the lets that it uses, and before them those that they use."""

    def __init__(self, lets: Mapping[str, str], scope: Scope = JUDGE) -> None:
        self._lets = lets
        self._scope = scope

    def program(self, source: str) -> Program:
        """The program of an expression with its lets.

        Raises:
            ScoreError: `predicate.compile`, `predicate.profile`, `predicate.cycle`, `predicate.lets`.
        """
        wanted = set(self._used(source))
        order = self.order if wanted else ()
        for name in reversed(order):
            if name in wanted:
                wanted.update(self._uses[name])
        if len(wanted) > MAX_LETS:
            problem = f"{len(wanted)} lets are used, over the limit of {MAX_LETS}"
            raise ScoreError("predicate.lets", problem, "write some of them where they are used")
        bound = [(name, self._lets[name]) for name in order if name in wanted]
        return compile_bound(bound, source, self._scope)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The names, each after those that it uses.

        Raises:
            ScoreError: as `program`.
        """
        return ordered(self._uses, "predicate.cycle")

    @cached_property
    def _uses(self) -> dict[str, tuple[str, ...]]:
        uses: dict[str, tuple[str, ...]] = {}
        for name, source in self._lets.items():
            try:
                uses[name] = self._used(source)
            except CompileError as error:
                raise CompileError(Said(error.line, error.problem, error.hint), name) from None
            except ScoreError as error:
                raise ScoreError(error.code, f"let `{name}`: {error.text}", error.hint) from None
        return uses

    def _used(self, source: str) -> tuple[str, ...]:
        free = compile_source(source, self._scope, self._lets).reach.free
        return tuple(name for name in self._lets if name in free)


def ordered(uses: Mapping[str, Sequence[str]], code: str) -> tuple[str, ...]:
    """The names, each after all that it uses.

    Raises:
        CircleError: `code`, for a circle.
        ScoreError: `code`, for a name that there isn't.
    """
    order: list[str] = []
    path: list[str] = []

    def visit(name: str) -> None:
        if name in order:
            return
        if name in path:
            raise CircleError(code, (*path[path.index(name) :], name))
        path.append(name)
        for used in uses[name]:
            if used not in uses:
                raise ScoreError(code, f"`{name}` needs `{used}`, and there is none", near(used, uses))
            visit(used)
        order.append(path.pop())

    for name in uses:
        visit(name)
    return tuple(order)


def near(name: str, known: Mapping[str, object] | Sequence[str], otherwise: str | None = None) -> str | None:
    """The hint for a misspelt name: the nearest that there is, or something else to try."""
    found = get_close_matches(name, list(known), 1)
    return f"did you mean `{found[0]}`?" if found else otherwise
