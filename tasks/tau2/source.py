"""Recorded runs as their makers wrote them, in three forms of file.

    results  {simulations: [{id, task_id, messages, reward_info, …}], …}
    folder   results.json beside one file per simulation
    viewer   {task_id, task, run_info, reward_info, messages}, one run a file

A file is one of these or is refused whole. A run in it that can't be read is
a `Flawed` with its reason, and the others go on. Nothing is guessed: a text,
a call or an output is taken as it stands.

Not here: what a run becomes in the ledger (`importer`), how it was graded (`recorded`).
"""

from __future__ import annotations

import gzip
import json
import zlib
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...protocol.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CONTENT_BYTES = 2**30
ROLES = ("assistant", "user", "tool")
_HINT = "give a results file, a folder with `results.json`, or a viewer export"


class Call(NamedTuple):
    """One tool call: its arguments, or None where they are no JSON object, and what the source showed."""

    tool: str
    arguments: dict[str, Any] | None
    raw_arguments: str
    requestor: str
    output: str | None


class Said(NamedTuple):
    """One message of a party: its text, which may be empty, and its calls in order."""

    role: str
    text: str
    calls: list[Call]


class Graded(NamedTuple):
    """How the makers graded a run: reference actions as (id, requestor, tool, arguments), strings, reward."""

    actions: list[tuple[str, str, str, dict[str, Any] | None]]
    strings: list[str]
    reward: float | None


class Recording(NamedTuple):
    """One recorded run. ``orphans`` are outputs that answer no call, by the place after which they came."""

    index: int
    name: str
    digest: str
    file: str
    task_id: str
    trial: int
    termination: str
    graded: Graded | None
    said: list[Said]
    orphans: list[tuple[int, str]]
    messages: int
    agents: dict[str, Any]


class Flawed(NamedTuple):
    """A run that can't be read, and why."""

    index: int
    name: str
    code: str
    text: str


class Source(NamedTuple):
    """What a file holds: its form and its runs in order."""

    form: str
    runs: list[Recording | Flawed]


def read_source(path: Path) -> Source:
    """The recorded runs of a file or folder.

    Raises:
        SourceError: the file can't be read, or is none of the three forms.
    """
    if path.is_dir():
        return Source("folder", list(_folder(path)))
    document, digest = read_json(path)
    if isinstance(document, dict) and isinstance(document.get("simulations"), list):
        info = _info(document)
        runs = [
            _recording(simulation, index, digest, path.name, info)
            for index, simulation in enumerate(document["simulations"])
        ]
        return Source("results", runs)
    if isinstance(document, dict) and isinstance(document.get("messages"), list) and "run_info" in document:
        return Source("viewer", [_viewer(document, digest, path)])
    raise SourceError("source.form", f"`{path}` holds no recorded runs", _HINT)


def read_json(path: Path) -> tuple[Any, str]:
    """A JSON file's document, unpacked if it is gzip, and SHA-256 of its content in hex.

    Raises:
        SourceError: it is missing, unreadable, damaged, too large or not JSON.
    """
    content = _content(path)
    try:
        document = json.loads(content)
    except RecursionError:
        raise SourceError("source.json", f"`{path}` is nested too deep", _HINT) from None
    except ValueError as error:
        raise SourceError("source.json", f"`{path}` is not JSON: {error}", _HINT) from None
    return document, sha256(content).hexdigest()


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as file:
            content = file.read(MAX_CONTENT_BYTES + 1)
    except FileNotFoundError:
        raise SourceError("source.missing", f"there is no file `{path}`", "check the path") from None
    except IsADirectoryError:
        raise SourceError("source.directory", f"`{path}` is a directory", "give a file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise SourceError("source.gzip", f"`{path}` is a damaged or cut gzip file", "get a whole copy") from None
    except OSError as error:
        raise SourceError("source.open", f"`{path}` can't be read: {error.strerror}", "check its permissions") from None
    if len(content) > MAX_CONTENT_BYTES:
        raise SourceError("source.size", f"`{path}` is over {MAX_CONTENT_BYTES} bytes", "import it in pieces")
    return content


def _folder(path: Path) -> Iterator[Recording | Flawed]:
    results = path / "results.json"
    if not results.is_file():
        raise SourceError("source.form", f"`{path}` has no `results.json`", _HINT)
    document, _digest = read_json(results)
    if not isinstance(document, dict):
        raise SourceError("source.form", f"`{results}` is not an object", _HINT)
    files = _simulation_files(path, document)
    if not files:
        raise SourceError("source.form", f"`{path}` has no file of a simulation", _HINT)
    info = _info(document)
    for index, file in enumerate(files):
        try:
            simulation, digest = read_json(file)
        except SourceError as error:
            yield Flawed(index, file.stem, error.code, error.text)
            continue
        yield _recording(simulation, index, digest, str(file.relative_to(path)), info)


def _simulation_files(path: Path, document: dict[str, Any]) -> list[Path]:
    """The simulations' files: in the order of the index that `results.json` has, or by name."""
    found = sorted(
        (file for folder in (path, path / "simulations") for file in folder.glob("*.json*") if _is_simulation(file)),
        key=lambda file: file.name,
    )
    index = document.get("simulation_index")
    names = [str(entry.get("id")) for entry in index if isinstance(entry, dict)] if isinstance(index, list) else []
    place = {name: number for number, name in enumerate(names)}
    return sorted(found, key=lambda file: place.get(file.name.split(".json")[0], len(place)))


def _is_simulation(file: Path) -> bool:
    return file.is_file() and file.name not in ("results.json", "results.json.gz")


def _info(document: dict[str, Any]) -> dict[str, Any]:
    info = document.get("info")
    return info if isinstance(info, dict) else {}


def _viewer(document: dict[str, Any], digest: str, path: Path) -> Recording | Flawed:
    run_info = document["run_info"] if isinstance(document["run_info"], dict) else {}
    name = path.name.split(".json")[0]
    simulation = {**run_info, **{key: document.get(key) for key in ("task_id", "reward_info", "messages")}}
    simulation.setdefault("id", name)
    return _recording(simulation, 0, digest, path.name, run_info, document.get("task"))


def _recording(  # noqa: PLR0913 - a run and where it stands
    simulation: object, index: int, digest: str, file: str, info: dict[str, Any], task: object = None
) -> Recording | Flawed:
    fields = simulation if isinstance(simulation, dict) else {}
    name = str(fields.get("id", index))
    try:
        return _read(fields, index, name, digest, file, info, task)
    except SourceError as error:
        return Flawed(index, name, error.code, error.text)


def _read(  # noqa: PLR0913 - as above
    fields: dict[str, Any], index: int, name: str, digest: str, file: str, info: dict[str, Any], task: object
) -> Recording:
    messages = fields.get("messages")
    if not isinstance(messages, list):
        raise SourceError("source.messages", "the run has no list of messages")
    termination = fields.get("termination_reason")
    task_id = fields.get("task_id")
    if not isinstance(task_id, (str, int)) or isinstance(task_id, bool):
        raise SourceError("source.task", "the run has no `task_id`")
    trial = fields.get("trial")
    said, orphans = _conversation(messages)
    return Recording(
        index=index,
        name=name,
        digest=digest,
        file=file,
        task_id=str(task_id),
        trial=trial if isinstance(trial, int) and trial > 0 else 0,
        termination=termination if isinstance(termination, str) else "unknown",
        graded=_graded(fields.get("reward_info"), task),
        said=said,
        orphans=orphans,
        messages=len(messages),
        agents=info,
    )


def _conversation(messages: list[Any]) -> tuple[list[Said], list[tuple[int, str]]]:
    said: list[Said] = []
    orphans: list[tuple[int, str]] = []
    waiting: dict[str, list[tuple[int, int]]] = {}  # call id → places of calls that are not answered yet
    for place, message in enumerate(messages):
        fields = _object(message, f"messages[{place}]")
        role = fields.get("role")
        if role not in ROLES:
            raise SourceError("source.role", f"messages[{place}] has role `{role}`")
        if role == "tool":
            for output in _outputs(fields):
                _answer(output, place, said, waiting, orphans)
            continue
        calls = _calls(fields, role, place)
        for number, (call_id, _call) in enumerate(calls):
            places = waiting.setdefault(call_id, [])
            # An id that comes back in a later message is a new call; the old one stays unanswered.
            places[:] = [(where, at) for where, at in places if where == len(said)]
            places.append((len(said), number))
        said.append(Said(role, _text(fields, place), [call for _id, call in calls]))
    return said, orphans


def _outputs(fields: dict[str, Any]) -> list[dict[str, Any]]:
    """A tool message, or the several that one may carry."""
    several = fields.get("tool_messages")
    if isinstance(several, list):
        return [_object(one, "tool_messages") for one in several]
    return [fields]


def _answer(
    fields: dict[str, Any],
    place: int,
    said: list[Said],
    waiting: dict[str, list[tuple[int, int]]],
    orphans: list[tuple[int, str]],
) -> None:
    text = _text(fields, place)
    places = waiting.get(str(fields.get("id")))
    if not places:
        orphans.append((len(said), text))
        return
    where, number = places.pop(0)
    said[where].calls[number] = said[where].calls[number]._replace(output=text)


def _calls(fields: dict[str, Any], role: str, place: int) -> list[tuple[str, Call]]:
    calls = fields.get("tool_calls")
    if calls is None:
        return []
    if not isinstance(calls, list):
        raise SourceError("source.calls", f"messages[{place}].tool_calls is not a list")
    return [_call(_object(call, f"messages[{place}].tool_calls"), role, place) for call in calls]


def _call(fields: dict[str, Any], role: str, place: int) -> tuple[str, Call]:
    tool = fields.get("name")
    if not isinstance(tool, str):
        raise SourceError("source.calls", f"messages[{place}] calls a tool without a name")
    requestor = fields.get("requestor") or role
    if requestor not in ("assistant", "user"):
        raise SourceError("source.calls", f"messages[{place}] has a call by `{requestor}`")
    arguments, raw = _arguments(fields.get("arguments"))
    return str(fields.get("id")), Call(tool, arguments, raw, requestor, None)


def _arguments(value: object) -> tuple[dict[str, Any] | None, str]:
    """Arguments as an object, whether written as one or as its JSON text; and as text."""
    raw = value if isinstance(value, str) else json.dumps(value)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    return (value if isinstance(value, dict) else None), raw


def _text(fields: dict[str, Any], place: int) -> str:
    content = fields.get("content")
    if content is None:
        return ""
    if not isinstance(content, str):
        raise SourceError("source.content", f"messages[{place}].content is not text")
    return content


def _graded(reward_info: object, task: object) -> Graded | None:
    """How the run was graded; None where nobody graded it."""
    checks = reward_info if isinstance(reward_info, dict) else None
    criteria = task.get("evaluation_criteria") if isinstance(task, dict) else None
    if checks is None and not isinstance(criteria, dict):
        return None
    actions = _checks(checks or {}, "action_checks", "action", dict)
    strings = _checks(checks or {}, "communicate_checks", "info", str)
    if isinstance(criteria, dict):
        # A viewer export embeds the task it was graded by; it serves where no checks were recorded.
        actions = _list(criteria, "actions", dict) if actions is None else actions
        strings = _list(criteria, "communicate_info", str) if strings is None else strings
    return Graded([_action(action) for action in actions or []], strings or [], _reward(checks or {}))


def _reward(checks: dict[str, Any]) -> float | None:
    reward = checks.get("reward")
    if isinstance(reward, bool) or not isinstance(reward, (int, float)):
        return None
    try:
        return float(reward)
    except OverflowError:
        raise SourceError("source.graded", "the reward is not a number of common size") from None


def _checks(reward_info: dict[str, Any], field: str, inner: str, kind: type) -> list[Any] | None:
    checks = _list(reward_info, field, dict)
    if checks is None:
        return None
    if not all(isinstance(check.get(inner), kind) for check in checks):
        raise SourceError("source.graded", f"an entry of reward_info.{field} has no `{inner}`")
    return [check[inner] for check in checks]


def _list(fields: dict[str, Any], field: str, kind: type) -> list[Any] | None:
    value = fields.get(field)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
        raise SourceError("source.graded", f"`{field}` is not a list of {kind.__name__}")
    return value


def _action(fields: dict[str, Any]) -> tuple[str, str, str, dict[str, Any] | None]:
    name = fields.get("name")
    if not isinstance(name, str):
        raise SourceError("source.graded", "a reference action has no name")
    arguments, _raw = _arguments(fields.get("arguments"))
    return str(fields.get("action_id", "")), str(fields.get("requestor") or "assistant"), name, arguments


def _object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise SourceError("source.messages", f"{where} is not an object")
    return value
