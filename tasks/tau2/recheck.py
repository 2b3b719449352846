"""Imported runs against their source: imported again into a ledger that is thrown away, and compared.

    run ─ origin.source.index, task.case ─► the source's run ─► imported again ─► bodies compared
        world, facts, task, parties, origin   of `open`
        from, to, reply_to, key, action       of each message, its parts opened
        party, n, texts                       of each turn

What follows from these is not compared: the audit has made it again. Nor are
keys, salts and signatures, which the importer's secret gives; nor the file's
name, which says nothing where the digest of its content does. A withheld part
is passed over, and the audit counts it.

Not here: whether the run is good at all (`tollbook.ledger.audit`).
"""

from __future__ import annotations

from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ...ledger.audit import MAX_FINDINGS, Audit, Deed, Evidence
from ...ledger.blobs import facts_blob
from ...ledger.findings import Finding, quoted
from ...ledger.store import Store
from ...ledger.verify import audit_run, shelf_of
from ...protocol.canonical import encode_typed
from ...protocol.derive import SECRET_BYTES, ledger_key
from ...protocol.errors import SourceError
from ...protocol.keys import key_text
from .importer import Shop, import_runs, read_shop
from .source import Flawed, Recording, Source, read_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...protocol.bodies import Open

# Nothing that this secret signs is kept or compared.
_SECRET = bytes(SECRET_BYTES)
_NAME = "recheck"


class _Difference(NamedTuple):
    seq: int | None
    text: str


class _Pair(NamedTuple):
    """A run and the recording it says it was imported from."""

    audit: Audit
    opened: Open
    recording: Recording


def recheck(audits: Sequence[Audit], path: Path, db: Path | None = None) -> list[Finding]:
    """How runs differ from their source; the audits kept their deeds.

    A run's own start rows serve where no shop's file is given. Findings are
    `source.missing` (no such run in the source), `source.digest` (the source's
    content is not what was imported) and `source.differs`.

    Raises:
        SourceError: the source or the shop can't be read; `source.db`, a run's start rows are not here.
    """
    source = read_source(path)
    known = {(run.index, run.name): run for run in source.runs}
    findings: list[Finding] = []
    pairs: list[_Pair] = []
    for audit in audits:
        pair = _pair(audit, known)
        if isinstance(pair, _Pair):
            pairs.append(pair)
        else:
            findings.append(Finding(audit.run, None, "source.missing", pair))
    for pair, again in _imported_again(source.form, pairs, _Shops(db)):
        if isinstance(again, Flawed):
            what = f"the source's run can't be imported again: {again.text}"
            findings.append(Finding(pair.audit.run, None, "source.missing", what))
        else:
            findings += compared(pair.audit, pair.opened, pair.recording.digest, again)
    return findings


def _pair(audit: Audit, known: dict[tuple[int, str], Recording | Flawed]) -> _Pair | str:
    """The run and its recording, or why there is none."""
    if audit.replayed is None:
        return "the run has no `open` that says where it comes from"
    opened = audit.replayed.opened
    if opened.origin.source is None or opened.task is None:
        return "the run was not imported from a source"
    if opened.world.name != "retail" or audit.replayed.world is None:
        return f"the run is of world `{opened.world.name}` and not of the retail shop"
    place, case = opened.origin.source.index, opened.task.case
    recording = known.get((place, case))
    if recording is None:
        return f"the source has no run `{case}` at place {place}"
    if isinstance(recording, Flawed):
        return f"the source's run can't be read: {recording.text}"
    return _Pair(audit, opened, recording)


class _Shops:
    """The shops that runs started from, each made once."""

    def __init__(self, db: Path | None) -> None:
        self._db = db
        self._made: dict[bytes, Shop] = {}

    def of(self, pair: _Pair) -> Shop:
        """The shop to import a run again with."""
        opened, replayed = pair.opened, pair.audit.replayed
        key = encode_typed((opened.world, opened.facts if self._db is None else ""))
        if key not in self._made:
            if self._db is not None:
                self._made[key] = read_shop(self._db, str(opened.world.params.get("mode")))
            elif replayed is not None and replayed.state is not None:
                facts = replayed.state.facts
                self._made[key] = Shop(opened.world, facts, facts_blob(facts))
            else:
                what = f"the start rows of run `{pair.audit.run[:12]}` are not here"
                raise SourceError("source.db", what, "give the shop's file with `--db`")
        return self._made[key]


def _imported_again(
    form: str, pairs: Sequence[_Pair], shops: _Shops
) -> Iterator[tuple[_Pair, Audit | Flawed]]:
    """Each pair with the audit of its recording imported again, or why it can't be."""
    made: dict[bytes, int | Flawed] = {}
    keys: list[bytes] = []
    with (
        TemporaryDirectory() as folder,
        Store.write(Path(folder) / "again.db", _NAME, key_text(ledger_key(_SECRET).public)) as store,
    ):
        for pair in pairs:
            shop = shops.of(pair)
            key = encode_typed((pair.recording.index, shop.world, shop.facts.root))
            keys.append(key)
            if key not in made:
                refused = import_runs(store, _SECRET, _NAME, Source(form, [pair.recording]), shop).refused
                made[key] = refused[0] if refused else sum(isinstance(one, int) for one in made.values())
        runs, shelf = store.runs(), shelf_of(store)
        for pair, key in zip(pairs, keys, strict=True):
            found = made[key]
            if isinstance(found, int):
                yield pair, audit_run(store, *runs[found], shelf, keep=True, signatures=False)
            else:
                yield pair, found


def compared(audit: Audit, opened: Open, digest: str, again: Audit) -> Iterator[Finding]:
    """How an imported run differs from its source imported again, whose content has this digest."""
    assert again.replayed is not None, "an import that was just made can be read"
    source = opened.origin.source
    assert source is not None, "an imported run has a source"
    if source.digest != digest:
        yield Finding(audit.run, 0, "source.digest", "the source's content is not that which was imported")
    differences = chain(_opens(opened, again.replayed.opened), _records(audit, again))
    for difference in islice(differences, MAX_FINDINGS):
        yield Finding(audit.run, difference.seq, "source.differs", difference.text)


def _opens(run: Open, again: Open) -> Iterator[_Difference]:
    for field, one, other in zip(_OPEN, _of_open(run), _of_open(again), strict=True):
        if one != other:
            yield _Difference(0, f"the source gives another `{field}`: {quoted(other)}")


_OPEN = ("world", "facts", "task", "trial", "seed", "parties", "origin")


def _of_open(opened: Open) -> tuple[object, ...]:
    """What an `open` says that the source gives."""
    source = opened.origin.source
    return (
        opened.world,
        opened.facts,
        opened.task,
        opened.trial,
        opened.seed,
        [(party.id, party.role, party.agent) for party in opened.parties],
        (opened.origin.custody, None if source is None else (source.form, source.index)),
    )


def _records(run: Audit, again: Audit) -> Iterator[_Difference]:
    """The differences of two runs' messages and turns; none is looked for after one is missing."""
    mine: dict[int, Deed | Evidence] = {one.seq: one for one in (*run.deeds, *run.evidence)}
    theirs: dict[int, Deed | Evidence] = {one.seq: one for one in (*again.deeds, *again.evidence)}
    for seq in sorted(mine.keys() | theirs.keys()):
        one, other = mine.get(seq), theirs.get(seq)
        if isinstance(one, Deed) and isinstance(other, Deed):
            yield from _fields(seq, _of_message(one, other), _of_message(other, other))
        elif isinstance(one, Evidence) and isinstance(other, Evidence):
            yield from _fields(seq, _of_turn(one, other), _of_turn(other, other))
        else:
            yield _Difference(seq, f"the source gives {_kind(other)} here, the run has {_kind(one)}")
            return
    if run.records != again.records:
        yield _Difference(None, f"the run has {run.records} records, the source gives {again.records}")


def _kind(one: Deed | Evidence | None) -> str:
    if one is None:
        return "neither message nor turn"
    return "a message" if isinstance(one, Deed) else "a turn"


def _fields(seq: int, mine: dict[str, Any], theirs: dict[str, Any]) -> Iterator[_Difference]:
    for field, other in theirs.items():
        if mine.get(field, other) != other:
            yield _Difference(seq, f"the source gives another `{field}`: {quoted(other)}")


def _of_message(deed: Deed, again: Deed) -> dict[str, Any]:
    """What a message says that the source gives; a part is opened, and left out where it is withheld."""
    message = deed.message
    action: dict[str, Any] = msgspec.json.decode(bytes(message.action))
    parts = again.texts.keys()
    return {
        "from": message.sender,
        "to": message.to,
        "reply_to": message.reply_to,
        "key": message.key,
        "action": {field: value for field, value in action.items() if field not in parts},
        **{f"action.{field}": text for field, text in deed.texts.items() if field in parts},
    }


def _of_turn(turn: Evidence, again: Evidence) -> dict[str, Any]:
    """What a turn says that the source gives."""
    body = turn.turn
    return {
        "party": body.party,
        "n": body.n,
        "usage": body.usage,
        "parts": [body.gave is not None, body.given is not None],
        **{field: text for field, text in turn.texts.items() if field in again.texts},
    }
