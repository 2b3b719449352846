"""Who forges each thing, and what finds it: the table of docs/FORGERY.md.

    thing × hand ─► forged bundle ─► verified with nothing from outside, with a pinned key, with a
                                     checkpoint kept from before ─► Cell

Not here: how one thing is forged so that every hash fits (`forge`, `forgeries`).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from forge import Hand, Trace, mend
from forgeries import FRESH, IMPORTED, OF_TASK, PLAYED, Forgery
from script import run
from specimens import LEDGER, SECRET, Specimen, imported, of_task, played, signing_keys, write_source

from tollbook.ledger.notes import print_vkey, vkey_of
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.keys import SigningKey, key_bytes, key_text


class Cell(NamedTuple):
    """What finds a forgery, by what the reader brings; nothing does where the codes are empty."""

    run: str
    forgery: Forgery
    hand: str
    found: dict[str, tuple[str, ...]]

    @property
    def needs(self) -> str:
        """The least that a reader must bring, or `nothing`."""
        return next((level for level in LEVELS if self.found.get(level)), "nothing")


LEVELS = (
    "the file",
    "the ledger's key",
    "the user's key",
    "the source",
    "an older checkpoint",
    "the last checkpoint",
)
"""What a reader has, the least first."""

TITLES = {"played": "A played run", "task": "A run of a task", "imported": "An imported run"}
ACTORS = {"task": "merchant"}
"""Where `the party` is another than a forgery says."""

NEEDS = (*LEVELS, "nothing")
HANDS = ("an outsider", "another key", "the party", "the operator", "the operator, the user outside")


@cache
def table() -> tuple[Cell, ...]:
    """Every forgery by every hand, and what finds each."""
    with tempfile.TemporaryDirectory() as folder:
        return tuple(_cells(Path(folder)))


def _cells(folder: Path) -> Iterator[Cell]:
    for specimens, forgeries in tried():
        for forgery in forgeries:
            for specimen in specimens:
                for name, hand in hands(specimen, forgery.party).items():
                    bundle = forged(specimen, forgery, hand)
                    yield Cell(specimen.name, forgery, name, found(specimen, bundle, folder))


def tried() -> tuple[tuple[Sequence[Specimen], Sequence[Forgery]], ...]:
    """The specimens, and what is forged in them."""
    return (((played(), played(outside=True)), PLAYED), ((of_task(),), OF_TASK), ((imported(),), IMPORTED))


def hands(specimen: Specimen, party: str) -> dict[str, Hand]:
    """Who forges, with the keys that each has."""
    trace = Trace.read(specimen.bundle)
    fresh = {key_text(FRESH.public): FRESH}
    held = signing_keys(specimen)
    if specimen.outside:
        return {HANDS[4]: Hand(held | fresh)}
    own = {key: SigningKey.from_seed(bytes([200 + place]) * 32) for place, key in enumerate(trace.keys())}
    party = ACTORS.get(specimen.name, party)
    keys = [one["key"] for one in trace.entries[0].body["parties"] if one["id"] == party]
    keys += [entry.body["key"] for entry in trace.all("key") if entry.body["party"] == party]
    party_keys = {key: held[key] for key in keys}
    return dict(zip(HANDS, map(Hand, (fresh, own | fresh, party_keys | fresh, held | fresh)), strict=False))


def forged(specimen: Specimen, forgery: Forgery, hand: Hand) -> bytes:
    """The forged bundle."""
    trace = Trace.read(specimen.bundle)
    mend(trace, hand, again=forgery.again, events=forgery.change(trace))
    return trace.bundle()


def found(specimen: Specimen, bundle: bytes, folder: Path) -> dict[str, tuple[str, ...]]:
    """What `tollbook verify` finds in a bundle, by what the reader has: codes, `open` or `unanchored`.

    Where the file is enough, nothing else is tried.
    """
    path = folder / "forged.jsonl"
    path.write_bytes(bundle)
    alone = _codes(path, [])
    if alone:
        return {"the file": alone}
    user = Trace.read(specimen.bundle).entries[0].body["parties"][0]["key"]
    ledger = print_vkey(vkey_of(LEDGER, ledger_key(SECRET).public))
    options = {
        "the file": [],
        "the ledger's key": ["--key", _file(folder, "ledger.key", ledger)],
        "the user's key": ["--key", _file(folder, "user.key", print_vkey(vkey_of("user", key_bytes(user))))],
        "an older checkpoint": ["--checkpoint", _file(folder, "half.note", specimen.half)],
        "the last checkpoint": ["--checkpoint", _file(folder, "whole.note", specimen.whole)],
    }
    if specimen.name == "imported":
        source, db = write_source(folder)
        options["the source"] = ["--source", str(source), "--db", str(db)]
    return {level: _codes(path, options[level]) for level in LEVELS if level in options}


def _codes(path: Path, options: list[str]) -> tuple[str, ...]:
    document = json.loads(run(["verify", str(path), "--json", *options]).stdout)
    codes = dict.fromkeys(finding["code"] for finding in document["findings"])
    if codes:
        return tuple(codes)
    if document["good"] < document["runs"]:
        return ("open",)
    # A party's key and a source anchor nothing, so they can't leave a run unanchored.
    anchors = any(option.endswith(("ledger.key", ".note")) for option in options)
    anchored = all(audit["anchored"] for audit in document["by_run"])
    return ("unanchored",) if anchors and not anchored else ()


def _file(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def page() -> str:
    """The text of docs/FORGERY.md."""
    return "\n".join([*_INTRODUCTION, "", *_tables(), *_counts(), *_LIMITS, ""])


def _tables() -> Iterator[str]:
    for name, title in TITLES.items():
        cells = [cell for cell in table() if cell.run == name]
        by = [hand for hand in HANDS if any(cell.hand == hand for cell in cells)]
        yield from (f"## {title}", "", f"| forged | {' | '.join(by)} |", "| --- |" + " --- |" * len(by))
        for forgery in dict.fromkeys(cell.forgery for cell in cells):
            row = {cell.hand: cell for cell in cells if cell.forgery is forgery}
            yield f"| {forgery.title} | {' | '.join(_shown(row[hand]) for hand in by)} |"
        yield ""


def _shown(cell: Cell) -> str:
    if cell.needs == "nothing":
        return "**nothing**"
    need = "" if cell.needs == "the file" else f"{cell.needs}: "
    return f"{need}`{cell.found[cell.needs][0]}`"


def _counts() -> Iterator[str]:
    yield from ("## Counts", "", f"| by | {' | '.join(NEEDS)} | all |")
    yield "| --- |" + " ---: |" * (len(NEEDS) + 1)
    for hand in HANDS:
        own = [cell.needs for cell in table() if cell.hand == hand]
        yield f"| {hand} | {' | '.join(str(own.count(need)) for need in NEEDS)} | {len(own)} |"
    every = [cell.needs for cell in table()]
    yield f"| all | {' | '.join(str(every.count(need)) for need in NEEDS)} | {len(every)} |"
    yield ""


_INTRODUCTION = """\
# What a forger can do, and what finds it

<!-- Made by `make docs` from tests/quality/forgeries.py. Edit that instead. -->

Three small runs are exported. Then one thing of a run is forged, and every hash is made again as far as the
forger's keys go: names of blobs, `prev`, leaves, `seen` and `n`, signatures, the checkpoint; where it says
so, every decision and the seal too. The file is verified, and each cell names the least that a reader must
have to find the forgery, with the first code found:

- a code alone: the file is enough, nothing else is known; `conduct.…` comes of the task file in it;
- **the ledger's key**, or **the user's key**: pinned by `verify --key`;
- **the source** of an imported run, given by `verify --source`;
- **an older checkpoint**, of the run's first half, or **the last checkpoint**, of all of it: kept from
  before the forgery, and given by `verify --checkpoint`;
- **nothing**: no check finds it.

`open` is an unsealed run, which is never valid. `unanchored`: the run agrees with itself, and the key that
the reader pinned is another ledger's; `verify --require anchored` then ends with exit code 4.

Who forges: **an outsider** has the file and no key. **Another key** is an outsider who puts keys of his own
in the place of all others and signs everything again. **The party** has the assistant's keys (the user's,
for the run's last words; the evaluated merchant's, in the run of a task). **The operator** has the ledger's
secret, which gives the ledger's key and the keys of all who play in process, programs included: what these
print is signed for them; in the last column the user plays from outside, under a key of his own.
""".splitlines()

_LIMITS = """\
## What this comes to

- A wrong decision is found in the file alone, whoever forged it: decisions are made again from the rules, and
  nothing that a file says of them is believed. The same goes for a final row and the seal's count.
- What follows from no rule (texts, briefs, turns, what was asked, the open record) is held by signatures and
  hashes. Against somebody who replaces every key, pin the ledger's. Against the operator, who holds that one,
  keep a checkpoint, or play under a key of your own: each message commits to all that came before it.
- What comes after a party's last message is not held by its `seen`, but by a checkpoint that covers it.
- Nothing finds what an operator told wrongly from the start, before anybody kept a checkpoint: a model's
  name, usage, the text of a turn. He can drop, delay or reorder what nobody has answered yet, and nothing
  proves that no other run was made. An environment note is his word under his key; no record names it.
  Whoever holds a party's key can sign for it.
- What the task file says is played again from it (conduct): start rows, briefs, scripted parties, the clock,
  the outcome. So an operator who does otherwise is found in the file alone, whatever keys he holds. Three
  ways round it are left, none of them silent: to withhold what would show it (conduct is then not done, and
  a score is labelled so), to pass the run off as imported (it is marked so, and has no source), to change the
  task file itself: its digest is in `open`, so compare it with that of the file you know.
- What the evaluated party did follows from nothing. An operator who holds its key, as he does for programs
  that he plays, can make it do otherwise until somebody else keeps a checkpoint.
- A false environment note that the operator signed is found by nothing.
- An imported run has its source: it is imported again, and all that follows from it is compared. The nonce
  and the name of the source's file don't.
""".splitlines()
