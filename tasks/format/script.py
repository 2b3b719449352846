"""Scripts: what the counterparties answer, compiled.

    script.P = {on, let, rule: [{on, when, do}]}  ──►  Script(on, rules)

Not here: who plays them (`tollbook.tasks.play`).

Source: the task format, `[script.P]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...protocol.world import World
from ...scorers.cel import Asked
from ...scorers.lets import near
from .acts import Act, ActMaker
from .faults import Faults
from .file import Rule, ScriptEntry
from .values import Expression, Maker

START = "start"
"""Stands in `on` for the start of a run."""


class ScriptRule(NamedTuple):
    """A rule of a script: the kinds it answers (None for all of the script's), when, and the acts."""

    place: str
    on: frozenset[str] | None
    when: Expression | None
    do: tuple[Act, ...]


class Script(NamedTuple):
    """A counterparty's script."""

    on: frozenset[str]
    rules: tuple[ScriptRule, ...]
    asked: Asked
    reads: frozenset[str]


def compile_script(entry: ScriptEntry, place: str, world: World, maker: Maker, acts: ActMaker) -> Script:
    """The script at a place.

    Notes `task.script`, for a kind that there isn't, or that the script isn't called on.
    """
    on = _kinds(entry.on, f"{place}.on", world, maker.faults)

    def compiled(rule: Rule, where: str) -> ScriptRule:
        only = None if rule.on is None else _kinds(rule.on, f"{where}.on", world, maker.faults)
        if only is not None and not only <= on:
            names = ", ".join(f"`{kind}`" for kind in sorted(only - on))
            hint = f"add it to `{place}.on`"
            maker.faults.note("task.script", f"{where}.on", f"the script isn't called on {names}", hint)
        when = None if rule.when is None else maker.expression(rule.when, f"{where}.when")
        return ScriptRule(where, only, when, acts.acts(rule.do, f"{where}.do"))

    if not entry.rule:
        hint = "write `rule = [{ do = … }]`"
        maker.faults.note("task.script", f"{place}.rule", "a script without a rule", hint)
    rules = (compiled(rule, f"{place}.rule[{at}]") for at, rule in enumerate(entry.rule))
    return Script(on, tuple(rules), maker.asked, maker.reads)


def _kinds(on: str | Sequence[str], place: str, world: World, faults: Faults) -> frozenset[str]:
    kinds = [on] if isinstance(on, str) else list(on)
    for kind in kinds:
        if kind != START and kind not in world.kinds:
            known = [*world.kinds, START]
            hint = near(kind, known, f"there are {', '.join(known)}")
            faults.note("task.script", place, f"the market has no act `{kind}`", hint)
    return frozenset(kinds)
