"""Cases 8, 11 and 13: an export that was changed, forged or cut is found, of a scratch run or a named one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from ...ledger.anchor import Pins
from ...ledger.notes import Checkpoint, parse_checkpoint, parse_note, print_checkpoint, sign_note
from ...ledger.records import leaf_of_record
from ...protocol.canonical import encode
from ...protocol.derive import ledger_key
from ...protocol.errors import TollbookError
from ...protocol.merkle import root_of
from .case import Claims, Shown
from .market import NAME, SECRET, audit_of

if TYPE_CHECKING:
    from ...ledger.audit import Audit

Json = Any

_AMOUNT = re.compile(r"[0-9]+\.[0-9]+")
_RECORD, _NOTE = b'{"record":', b'{"note":'
_MOST = 250
"""About how many bytes of one export are changed."""
_WORK_BYTES = 100_000_000
"""How much is audited for it at most: of a large export fewer bytes are changed."""


def changed_bytes(lines: Sequence[bytes], path: Path, run: str | None = None) -> Shown:
    """Case 8, of an export's lines."""
    claims = Claims()
    changes = _changes(lines)
    missed: list[int] = []
    told = Counter[str]()
    for place, at in changes:
        line = lines[place]
        changed = line[:at] + bytes([line[at] ^ 1]) + line[at + 1 :]
        found = _found([*lines[:place], changed, *lines[place + 1 :]], path)
        if not found:
            missed.append(place + 1)
        told[_where(found, lines, place)] += 1
    claims.equal("not found", [], missed)
    claims.note(bytes=len(changes), lines=len({place for place, _ in changes}), of_lines=len(lines))
    claims.note(**{f"told by {name}": count for name, count in sorted(told.items()) if name})
    did = "single bytes were changed, spread over all lines of the export, every one a file of its own"
    return claims.shown(8, "a changed byte of an export is found, and where", did, run)


def forged_row(lines: Sequence[bytes], path: Path, run: str | None = None) -> Shown:
    """Case 11, of an export's lines; of a scratch run by its operator, who signs the checkpoint anew."""
    claims = Claims()
    did = "a number in a decision was raised, and every hash after it made again"
    title = "a forged result with good hashes is found by running the rules again"
    forged, seq = _forged(list(lines))
    if seq is None:
        claims.note(result="no decision of the run has an event with a number to raise")
        return claims.shown(11, title, did, run)
    if run is None:
        forged = _signed_anew(forged)
        did += ", the checkpoint too, by the ledger's own key"
    audit = audit_of(forged, path)
    claims.note(seq=seq)
    by_rules = [finding for finding in audit.findings if finding.check == "3" and finding.seq == seq]
    codes = [each.code for each in by_rules]
    claims.equal("found at the record by re-execution", ["decision.differs"], codes)
    if run is None:
        others = [finding.code for finding in audit.findings if finding not in by_rules]
        claims.equal("found by anything else", [], others)
    claims.equal("hashes and chain", "done", audit.checks["1"])
    return claims.shown(11, title, did, run)


def cut_tail(lines: Sequence[bytes], path: Path, run: str | None = None) -> Shown:
    """Case 13, of a sealed run's export."""
    claims = Claims()
    title = "a cut tail is found by a checkpoint that was kept outside"
    did = "the last records and all notes were cut off, and the rest verified against the checkpoint kept"
    notes = [msgspec.json.decode(line)["note"]["text"] for line in lines if line.startswith(_NOTE)]
    if not notes:
        claims.note(result="the run is open: it has no checkpoint to be held to")
        return claims.shown(13, title, did, run)
    records = [place for place, line in enumerate(lines) if line.startswith(_RECORD)]
    kept = lines[: records[-3]]
    while kept and not _ends_a_pair(kept):
        kept = kept[:-1]
    size = sum(line.startswith(_RECORD) for line in kept)
    claims.note(cut=len(records) - size, size=len(records))
    alone = audit_of(kept, path)
    claims.equal("without the checkpoint", [], [finding.code for finding in alone.findings])
    held = audit_of(kept, path, Pins(checkpoints=(notes[0],)))
    claims.equal("with it", ["checkpoint.size"], [finding.code for finding in held.findings])
    claims.note(text=held.findings[0].text if held.findings else "")
    return claims.shown(13, title, did, run)


def _changes(lines: Sequence[bytes]) -> list[tuple[int, int]]:
    """Places of bytes to be changed, as (line, byte of it), ends of lines aside."""
    most = max(1, min(_MOST, _WORK_BYTES // sum(map(len, lines))))
    places = range(0, len(lines), max(1, len(lines) // most))
    each = max(1, most // len(places))
    return [
        (place, 1 + (place + n * (len(lines[place]) - 2) // each) % (len(lines[place]) - 2))
        for place in places
        for n in range(each)
    ]


def _found(lines: Sequence[bytes], path: Path) -> list[str]:
    """What is found in a bundle, each as code and place."""
    try:
        audit = audit_of(lines, path)
    except TollbookError as error:
        return [f"{error.code} {error.text}"]
    undone = [] if _is_whole(audit) else ["not done"]
    return [f"{finding.code} {finding.seq} {finding.text}" for finding in audit.findings] or undone


def _is_whole(audit: Audit) -> bool:
    """Whether every check was done: one that could not be is no pass."""
    return all(audit.checks[check] == "done" for check in ("1", "2", "3"))


def _where(found: Sequence[str], lines: Sequence[bytes], place: int) -> str:
    """By what a changed line is told: its number, its record, or only by what is wrong with the run."""
    if any(f"line {place + 1}:" in each for each in found):
        return "line"
    seq = sum(line.startswith(_RECORD) for line in lines[: place + 1]) - 1
    if seq >= 0 and any(each.split(" ")[1] in (str(seq), str(seq + 1)) for each in found if " " in each):
        return "record"
    return "code" if found else ""


def _forged(lines: list[bytes]) -> tuple[list[bytes], int | None]:
    """The lines with a number of the last possible decision raised, and the chain made good."""
    seqs = {place: seq for seq, place in enumerate(_places(lines))}
    for place in reversed(seqs):
        record = msgspec.json.decode(lines[place])["record"]
        if record["kind"] == "decision" and _raise(record["body"]["events"]):
            prev = None
            for at in list(seqs)[seqs[place] :]:
                document = record if at == place else msgspec.json.decode(lines[at])["record"]
                document["prev"] = prev or document["prev"]
                data = encode(document)
                prev = leaf_of_record(data).hex()
                lines[at] = b"%b%b}\n" % (_RECORD, data)
            return lines, seqs[place]
    return lines, None


def _raise(holder: Json) -> bool:
    """Raises the first number within an object or list, or amount written as text, if there is one."""
    is_list = isinstance(holder, list)
    places: Iterable[Any] = range(len(cast("Json", holder))) if is_list else holder
    for place in places:
        each: Json = holder[place]
        if isinstance(each, dict | list):
            if _raise(cast("Json", each)):
                return True
        elif isinstance(each, int) and not isinstance(each, bool):
            holder[place] = each + 1
            return True
        elif isinstance(each, str) and _AMOUNT.fullmatch(each):
            holder[place] = f"9{each}"
            return True
    return False


def _signed_anew(lines: list[bytes]) -> list[bytes]:
    """The lines with notes over the records as they are, by the scratch ledger's key."""
    leaves = [leaf_of_record(lines[place][len(_RECORD) : -2]) for place in _places(lines)]
    root = root_of(leaves)
    signed: list[bytes] = []
    for line in lines:
        if not line.startswith(_NOTE):
            signed.append(line)
            continue
        text = parse_note(msgspec.json.decode(line)["note"]["text"]).text
        if text.startswith("tollbook."):
            head, _, document = text.partition("\n")
            fields = msgspec.json.decode(document)
            text = f"{head}\n{encode({**fields, 'root': root.hex()}).decode()}\n"
        else:
            checkpoint = parse_checkpoint(text)
            text = print_checkpoint(Checkpoint(checkpoint.origin, len(leaves), root))
        signed.append(encode({"note": {"text": sign_note(text, NAME, ledger_key(SECRET))}}) + b"\n")
    return signed


def _places(lines: Sequence[bytes]) -> list[int]:
    return [place for place, line in enumerate(lines) if line.startswith(_RECORD)]


def _ends_a_pair(lines: Sequence[bytes]) -> bool:
    """Whether a run may break off here: not between a message and its decision."""
    last = lines[-1]
    return not (last.startswith(_RECORD) and b'"kind":"message","prev":' in last) and not last.startswith(
        b'{"part":'
    )
