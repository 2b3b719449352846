"""Extension: a product domain, an action and a row type that are no part of the package, each played.

    a Python file, EXTENSION = Extension(worlds, cases) ─► registered ─► each case a run ─► verified, replayed

A product domain is start rows; a world with an action or a row type more is a subclass of a market
(`JoinedWorld`), registered under a name of its own. Nothing of the package changes, and what is released
can't be replaced.

The file is run as it stands, so it's for its author and for those who trust them. Who verifies such a run
needs the same file: without it, the world is unknown and no decision can be made again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ...protocol.errors import UsageError, WorldError
from ...protocol.world import Maker, StartRows, World, latest, register, world_of
from ..play.environment import code_digest
from .report import Claim, Report, replay_claims, table_of
from .stage import NAME, begin, beginning, found, ledger_at

if TYPE_CHECKING:
    from pathlib import Path

    from ...ledger.writer import Writer
    from .stage import Played

BASE = "commerce"
"""The market that extensions are compared with."""

Say = Callable[[str, str | None, msgspec.Struct], str | dict[str, list[dict[str, Any]]]]
"""Says an act: (party, to, action) → the rows shown, by table; or the name of the rule that refused it."""


class Case(NamedTuple):
    """One run of an extension; ``play`` says acts, and gives whether all came as it should."""

    name: str
    adds: str
    world: str
    rows: StartRows
    parties: Mapping[str, str]
    play: Callable[[Say], bool]


class Extension(NamedTuple):
    """Worlds to be registered, each by its name and version, and the cases to be played."""

    worlds: Mapping[tuple[str, int], Maker]
    cases: Sequence[Case]


class _Done(NamedTuple):
    case: Case
    run: Played
    again: str
    as_it_should: bool


def load(path: Path) -> Extension:
    """The extension of a Python file, which is run.

    Raises:
        UsageError: `study.extension`, there is none in it.
        OSError: the file can't be read.
    """
    name = f"tollbook_extension_{sha256(path.read_bytes()).hexdigest()[:16]}"
    if name in _LOADED:  # its worlds are registered already
        return _LOADED[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise _none_in(path, "it is not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # where msgspec looks up the names of annotations
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise _none_in(path, f"{type(error).__name__}: {error}") from error
    extension = getattr(module, "EXTENSION", None)
    if not isinstance(extension, Extension):
        raise _none_in(path, "it has no `EXTENSION`")
    _LOADED[name] = extension
    return extension


_LOADED: dict[str, Extension] = {}
"""By the name of its module, which follows from the file's bytes."""


def study(folder: Path, extension: Extension) -> Report:
    """Plays an extension's cases, in ledgers below the folder."""
    before = code_digest()
    for (name, version), make in extension.worlds.items():
        register(name, version, make)
    done = [_played(folder, place, case) for place, case in enumerate(extension.cases, 1)]
    good = sum(each.as_it_should for each in done)
    code_digest.cache_clear()
    return Report(
        study="extension",
        title="Extension: a product domain, an action, a row type",
        claims=(
            Claim("each case came as it should", good == len(done), f"{good} of {len(done)}"),
            Claim("no module of the package changed", code_digest() == before, "the same code digest"),
            Claim("a released market can't be replaced", _is_kept(BASE), "world.taken"),
            *replay_claims([each.run for each in done], [each.again for each in done]),
        ),
        runs=[each.run for each in done],
        figures={"cases": [_figures(each) for each in done]},
        tables=[
            table_of(
                ("case", "adds", "world", "rows", "actions", "as it should"),
                [
                    (
                        each.case.name, each.case.adds, each.case.world,
                        ", ".join(_more(each.case.world, "tables")) or "–",
                        ", ".join(_more(each.case.world, "kinds")) or "–",
                        "yes" if each.as_it_should else "NO",
                    )
                    for each in done
                ],
            )
        ],
        notes=(f"Rows and actions are those that `{BASE}` hasn't.",),
    )  # fmt: skip


def _none_in(path: Path, why: str) -> UsageError:
    hint = "it should say `EXTENSION = Extension(worlds, cases)`, of `tollbook.tasks.studies.extension`"
    return UsageError("study.extension", f"there is no extension in `{path}`: {why}", hint)


def _played(folder: Path, place: int, case: Case) -> _Done:
    what = beginning(f"extension.{case.name}", case.rows, case.parties, case.world)
    results: list[tuple[bool, str]] = []
    for name in (f"extension{place}.db", f"again{place}.db"):
        with ledger_at(folder / name) as store:
            writer = begin(store, what, name=NAME)
            good = case.play(_speaker(writer))
            results.append((good, writer.seal("completed")))
    with ledger_at(folder / f"extension{place}.db") as store:
        run = found(store, 1).played
    return _Done(case, run, results[1][1], results[0][0])


def _speaker(writer: Writer) -> Say:
    def say(party: str, to: str | None, action: msgspec.Struct) -> str | dict[str, list[dict[str, Any]]]:
        ruling = writer.voice(party).say(action, to=to)
        if ruling.decision.rule is not None:
            return ruling.decision.rule
        return {} if ruling.shown is None else msgspec.to_builtins(ruling.shown.value)

    return say


def _more(world: str, what: str) -> list[str]:
    """The tables, or the kinds of action, that a world has and `BASE` hasn't."""
    own: Mapping[str, object] = getattr(world_of(latest(world)), what)
    base: Mapping[str, object] = getattr(world_of(latest(BASE)), what)
    return [name for name in own if name not in base]


def _figures(done: _Done) -> dict[str, object]:
    case = done.case
    return {
        "case": case.name,
        "adds": case.adds,
        "world": case.world,
        "tables": _more(case.world, "tables"),
        "actions": _more(case.world, "kinds"),
        "good": done.as_it_should,
    }


def _is_kept(name: str) -> bool:
    """Whether a market of this name is refused."""

    def make(_params: Mapping[str, object]) -> World:
        raise AssertionError

    try:
        register(name, latest(name).version + 1, make)
    except WorldError as error:
        return error.code == "world.taken"
    return False
