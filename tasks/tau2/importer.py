"""Recorded runs into the ledger: every message said again, every call ruled on again.

    recording ─► said again by keys of this ledger ─► the market's own rulings ─► compared with what was shown

The parties' keys come from the ledger's secret, so signatures prove custody
since the import and nothing about who wrote. What the source showed is kept,
as evidence, only where the market shows something else. A run is kept whole
or not at all.

Not here: reading the files (`source`), grading (`oracle`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...ledger.blobs import Blob, facts_blob, task_blob
from ...ledger.plan import Plan, Seat
from ...ledger.writer import Voice, Writer
from ...protocol.bodies import Agent, Origin, TaskRef, WorldRef
from ...protocol.bodies import Source as OriginSource
from ...protocol.draws import seed_of
from ...protocol.errors import LedgerError, SourceError, TollbookError, WorldError
from ...protocol.retail.actions import SendMessage
from ...protocol.retail.refusals import wording
from ...protocol.retail.shop import rows_of_shop
from ...protocol.world import world_of
from .calls import action_of
from .document import object_of, read_json, shown, text_of
from .messages import Call, Orphan, Said
from .recorded import recorded_task
from .source import MAX_NAME, Flawed, Recording, Source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ...ledger.store import Store
    from ...protocol.engine import Ruling
    from ...protocol.tables import Facts

PLATFORM = "platform"
ROLES = ("user", "assistant", PLATFORM)
_OTHER_SIDE = {"user": "assistant", "assistant": "user"}
_INFO = {"assistant": "agent_info", "user": "user_info", PLATFORM: "environment_info"}
_MAX_SETTING = 500


class Shop(NamedTuple):
    """The start rows of a shop in one mode, ready to be shared by runs."""

    world: WorldRef
    facts: Facts
    blob: Blob


class Imported(NamedTuple):
    """What an import gave: counts of the source's messages and calls, and what was refused.

    ``outputs_differ`` counts outputs that answer no call too; ``uncompared``
    counts calls of tools that the shop lacks, with unfit arguments, or recorded
    without an output: their texts can't be compared.
    """

    runs: int
    messages: int
    calls: int
    outputs_differ: int
    uncompared: int
    refused: list[Flawed]


class _Tally:
    def __init__(self) -> None:
        self.messages = self.calls = self.differ = self.uncompared = 0


def read_shop(path: Path, mode: str) -> Shop:
    """A shop's database file as start rows.

    Raises:
        SourceError: the file can't be read or is no shop.
        WorldError: the mode is unknown.
    """
    world = WorldRef(name="retail", params={"mode": mode}, version=0)
    rules = world_of(world)
    document, _digest = read_json(path)
    try:
        facts = rules.facts(rows_of_shop(document, mode))
    except (SourceError, WorldError) as error:
        hint = error.hint or "give the shop's database file: products, users and orders"
        raise SourceError(error.code, f"`{path}` is no shop: {error.text}", hint) from None
    return Shop(world, facts, facts_blob(facts))


def import_runs(  # noqa: PLR0913 - where from, where to, and as whom
    store: Store,
    secret: bytes,
    name: str,
    source: Source,
    shop: Shop,
    progress: Callable[[], None] = lambda: None,
) -> Imported:
    """Imports every run that can be; what can't is named with its reason."""
    refused: list[Flawed] = []
    tally = _Tally()
    runs = 0
    for run in source.runs:
        if isinstance(run, Flawed):
            refused.append(run)
        else:
            own = _Tally()
            try:
                _import(store, secret, name, run, source.form, shop, own)
            except TollbookError as error:
                # A ledger that can't be written refuses no run: it ends the import.
                if isinstance(error, LedgerError) and error.code != "run.exists":
                    raise
                refused.append(Flawed(run.index, run.name[:MAX_NAME], error.code, error.text))
            else:
                runs += 1
                tally.messages += run.messages
                tally.calls += own.calls
                tally.differ += own.differ
                tally.uncompared += own.uncompared
        progress()
    return Imported(runs, tally.messages, tally.calls, tally.differ, tally.uncompared, refused)


def _import(  # noqa: PLR0913 - as `import_runs`
    store: Store, secret: bytes, name: str, recording: Recording, form: str, shop: Shop, tally: _Tally
) -> None:
    text = recorded_task(recording, _groups(recording.said))
    task = task_blob(text)
    plan = _plan(recording, form, shop, task)
    writer = Writer.begin(store, secret, name, plan, shop.facts, [shop.blob, task], group=None)
    voices = {role: writer.voice(role) for role in _OTHER_SIDE}
    orphans = list(recording.orphans)
    for place, said in enumerate(recording.said):
        _orphans(writer, orphans, place)
        if said.text:
            voices[said.role].say(SendMessage(text=said.text), to=_OTHER_SIDE[said.role])
        for call in said.calls:
            _say(writer, voices[call.requestor], call, tally)
    _orphans(writer, orphans, len(recording.said))
    tally.differ += len(recording.orphans)
    writer.seal("imported")


def _say(writer: Writer, voice: Voice, call: Call, tally: _Tally) -> None:
    tally.calls += 1
    n = writer.run.members[call.requestor].n
    ruling = voice.say(action_of(call.tool, call.arguments, call.raw_arguments), to=PLATFORM)
    if call.output is None:
        tally.uncompared += 1
        return
    shown = _shown(ruling)
    if shown is None:
        tally.uncompared += 1
    elif shown != call.output:
        tally.differ += 1
    if shown != call.output:
        writer.turn(call.requestor, n, given=call.output)


def _shown(ruling: Ruling) -> str | None:
    """What the market shows the caller; None for a refusal that the original words otherwise."""
    if ruling.shown is not None:
        return str(ruling.shown.value)
    assert ruling.decision.rule is not None
    words = wording(ruling.decision.rule, ruling.decision.detail)
    return None if words is None else f"Error: {words}"


def _orphans(writer: Writer, orphans: list[Orphan], place: int) -> None:
    """Keeps outputs that answer no call where they stood."""
    while orphans and orphans[0].place <= place:
        writer.turn("assistant", None, given=orphans.pop(0).text)


def _groups(said: list[Said]) -> list[list[int]]:
    """For each source message of the assistant that becomes several messages, their `n`."""
    groups: list[list[int]] = []
    n = {"assistant": 0, "user": 0}
    for message in said:
        own: list[int] = []
        for role in ([message.role] if message.text else []) + [call.requestor for call in message.calls]:
            if role == "assistant":
                own.append(n[role])
            n[role] += 1
        spoken = len(message.calls) + bool(message.text.strip())
        if message.role == "assistant" and spoken > 1:
            groups.append(own)
    return groups


def _plan(recording: Recording, form: str, shop: Shop, task: Blob) -> Plan:
    task_id, case = _id(recording.task_id, "task id"), _id(recording.name, "run's id")
    source = OriginSource(digest=recording.digest, form=form, index=recording.index, name=recording.file)
    return Plan(
        world=shop.world,
        seats=[Seat(role, role, _agent(role, recording.agents)) for role in ROLES],
        seed=seed_of(task_id, case, recording.trial),
        origin=Origin(custody="imported", source=source),
        task=TaskRef(case=case, digest=task.digest, id=task_id),
        trial=recording.trial,
    )


def _id(text: str, what: str) -> str:
    if not (0 < len(text) <= MAX_NAME and all("!" <= letter <= "~" for letter in text)):
        what = f"the {what} {shown(text)} is not 1 to {MAX_NAME} ASCII characters without spaces"
        raise SourceError("source.id", what)
    return text


def _agent(role: str, info: dict[str, Any]) -> Agent:
    """What the source says of who played a party."""
    fields = object_of(info.get(_INFO[role])) or {}
    settings = object_of(fields.get("llm_args")) or {}
    return Agent(
        model=_stated(fields.get("llm")),
        name=_stated(fields.get("implementation") or fields.get("domain_name")),
        settings={key: _stated(value) for key, value in settings.items() if key.isascii()},
        version=_stated(info.get("git_commit")),
    )


def _stated(value: object) -> str:
    if value is None:
        return ""
    return (value if isinstance(value, str) else text_of(value, "a setting"))[:_MAX_SETTING]
