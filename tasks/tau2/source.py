"""Recorded runs as their makers wrote them, in three forms.

    results  {simulations: [{id, task_id, messages, reward_info, …}], …}
    folder   results.json, and in simulations/ one file per simulation, listed in its `simulation_index`
    viewer   {task_id, task, run_info, reward_info, messages}, one run a file

A file is one of these or is refused whole. A run in it that can't be read is
a `Flawed` with its reason, and the others go on. Nothing is guessed: a text,
a call or an output is taken as it stands.

Not here: reading JSON (`document`), messages (`messages`), grades (`grading`);
what a run becomes in the ledger (`importer`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...protocol.errors import SourceError
from .document import list_of, object_of, read_json, shown, unreadable
from .grading import Graded, graded
from .messages import Conversation, Orphan, Said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_NAME = 128
_RESULTS = ("results.json", "results.json.gz")
_HINT = "give a results file, a folder with `results.json`, or a viewer export"


class Recording(NamedTuple):
    """One recorded run: ``messages`` is how many the source has, ``agents`` what it says of who played."""

    index: int  # pyright: ignore[reportIncompatibleMethodOverride] - a place, as `origin` names it
    name: str
    digest: str
    file: str
    task_id: str
    trial: int
    termination: str
    graded: Graded | None
    said: list[Said]
    orphans: list[Orphan]
    messages: int
    agents: dict[str, Any]


class Flawed(NamedTuple):
    """A run that can't be read, and why."""

    index: int  # pyright: ignore[reportIncompatibleMethodOverride] - a place, as `origin` names it
    name: str
    code: str
    text: str


class Source(NamedTuple):
    """What a file holds: its form and its runs in order."""

    form: str
    runs: list[Recording | Flawed]


class _File(NamedTuple):
    """Where runs stand: the file's digest and name, and what it says of who played."""

    digest: str
    name: str
    agents: dict[str, Any]


def read_source(path: Path) -> Source:
    """The recorded runs of a file or folder.

    Raises:
        SourceError: it can't be read, or is none of the three forms.
    """
    try:
        return _source(path)
    except OSError as error:
        raise unreadable(path, error) from None


def _source(path: Path) -> Source:
    if path.is_dir():
        return _folder(path)
    document, digest = read_json(path)
    fields = object_of(document) or {}
    simulations = list_of(fields.get("simulations"))
    if not simulations and list_of(fields.get("simulation_index")) and path.name in _RESULTS:
        return _folder(path.parent)
    if simulations is not None:
        file = _File(digest, path.name, object_of(fields.get("info")) or {})
        return Source("results", [_recording(run, index, file) for index, run in enumerate(simulations)])
    if list_of(fields.get("messages")) is not None and "run_info" in fields:
        return Source("viewer", [_viewer(fields, digest, path)])
    raise SourceError("source.form", f"`{path}` holds no recorded runs", _HINT)


def _folder(path: Path) -> Source:
    results = next((path / name for name in _RESULTS if (path / name).is_file()), None)
    if results is None:
        raise SourceError("source.form", f"`{path}` has no `results.json`", _HINT)
    document, _digest = read_json(results)
    fields = object_of(document)
    if fields is None:
        raise SourceError("source.form", f"`{results}` is not an object", _HINT)
    if list_of(fields.get("simulations")):
        return _source(results)
    index = list_of(fields.get("simulation_index")) or []
    names = [_name((object_of(entry) or {}).get("id")) for entry in index]
    agents = object_of(fields.get("info")) or {}
    runs = list(_simulations(path, names, agents))
    if not runs:
        raise SourceError("source.form", f"`{path}` has no file of a simulation", _HINT)
    return Source("folder", runs)


def _simulations(path: Path, names: list[str], agents: dict[str, Any]) -> Iterator[Recording | Flawed]:
    """The runs of a folder, in the order of its index; those that it doesn't list come after, by name."""
    place = {name: number for number, name in enumerate(names)}
    files = sorted(_files(path), key=lambda file: (place.get(_stem(file), len(place)), file.name))
    missing = place.keys() - {_stem(file) for file in files}
    rows: list[Path | str] = [*files]
    for name in sorted(missing, key=place.__getitem__):
        rows.insert(place[name], name)
    for index, row in enumerate(rows):
        if isinstance(row, str):
            yield Flawed(index, row, "source.missing", "the folder lists this run and has no file of it")
            continue
        try:
            simulation, digest = read_json(row)
        except SourceError as error:
            yield Flawed(index, _stem(row), error.code, error.text)
            continue
        yield _recording(simulation, index, _File(digest, str(row.relative_to(path)), agents))


def _files(path: Path) -> list[Path]:
    """The files of simulations: in a folder of their own, or beside `results.json`."""
    own = path / "simulations"
    folder = own if own.is_dir() else path
    files = [file for file in folder.iterdir() if file.name.endswith((".json", ".json.gz"))]
    return [file for file in files if file.is_file() and file.name not in _RESULTS]


def _stem(file: Path) -> str:
    return file.name.removesuffix(".gz").removesuffix(".json")


def _viewer(fields: dict[str, Any], digest: str, path: Path) -> Recording | Flawed:
    run_info = object_of(fields["run_info"]) or {}
    name = run_info.get("id")
    own = {name: fields.get(name) for name in ("task_id", "reward_info", "messages")}
    run = {**run_info, **own, "id": _stem(path) if name is None else name}
    return _recording(run, 0, _File(digest, path.name, run_info), fields.get("task"))


def _recording(run: object, index: int, file: _File, task: object = None) -> Recording | Flawed:
    """One run of a file, read or named with its reason; `task` is the one that a viewer export embeds."""
    fields = object_of(run) or {}
    name = _name(fields.get("id", index))
    try:
        return _read(fields, index, name, file, task)
    except SourceError as error:
        return Flawed(index, name[:MAX_NAME], error.code, error.text)


def _read(fields: dict[str, Any], index: int, name: str, file: _File, task: object) -> Recording:
    messages = list_of(fields.get("messages"))
    if messages is None:
        raise SourceError("source.messages", "the run has no list of messages")
    task_id = fields.get("task_id")
    if not isinstance(task_id, (str, int)) or isinstance(task_id, bool):
        raise SourceError("source.task", "the run has no `task_id`")
    termination = fields.get("termination_reason")
    conversation = Conversation(messages)
    return Recording(
        index=index,
        name=name,
        digest=file.digest,
        file=file.name,
        task_id=str(task_id),
        trial=_trial(fields.get("trial")),
        termination=termination if isinstance(termination, str) else "unknown",
        graded=graded(fields.get("reward_info"), task),
        said=conversation.said,
        orphans=conversation.orphans,
        messages=len(messages),
        agents=file.agents,
    )


def _trial(value: object) -> int:
    """The trial; 0 where none is stated."""
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise SourceError("source.trial", f"the run's trial {shown(value)} is not a count")
    return value


def _name(value: object) -> str:
    """What the source calls a run."""
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""
