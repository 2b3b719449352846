"""Every forgery of the table is found by what it says, and no more than it says is needed."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from forge import Trace, mend
from forgeries import IMPORTED, PLAYED, Forgery
from forgery_table import HANDS, LEVELS, Cell, forged, found, hands, page, table
from specimens import Specimen, imported, played

ROOT = Path(__file__).resolve().parent.parent.parent
SPECIMENS = (played(), played(outside=True), imported())

LETTERS = {
    "f": "the file",
    "l": "the ledger's key",
    "u": "the user's key",
    "o": "an older checkpoint",
    "c": "the last checkpoint",
    "s": "the source",
    "n": "nothing",
}
# What finds it by each hand, in the order of HANDS; what is forged; the codes the operator's forgery meets.
PLAYED_FOUND = (
    ("fffff", "Decisions: the outcome", "decision.differs"),
    ("fffff", "Decisions: the rule", "decision.differs"),
    ("fffff", "Decisions: the detail", "decision.differs"),
    ("fffff", "Decisions: an event (more money back), rows after it to fit", "decision.differs seal.root"),
    ("fffff", "Decisions: a refused act granted, rows after it to fit", "decision.differs seal.root"),
    ("fffff", "Decisions: the delta", "decision.differs"),
    ("fffff", "Decisions: the result", "decision.differs"),
    ("fffff", "Decisions: the reads", "decision.differs"),
    ("fffff", "Rows: a start row, decisions left", "decision.differs seal.root"),
    ("flfof", "Rows: a start row, every decision made again", "unanchored"),
    ("fffff", "Rows: a final row, and the seal's root", "seal.root"),
    ("fffff", "Rows: the seal's count of rows", "seal.rows"),
    ("flfcc", "Rows: the seal's outcome", "checkpoint.inconsistent"),
    ("flfof", "Briefs and turns: a brief", "checkpoint.inconsistent"),
    ("flfof", "Briefs and turns: a brief left out", "checkpoint.inconsistent"),
    ("flfcf", "Briefs and turns: what an agent was given", "checkpoint.inconsistent"),
    ("flfcf", "Briefs and turns: a turn left out", "checkpoint.size"),
    ("flfcf", "Messages: a text", "checkpoint.inconsistent"),
    ("flfcf", "Messages: the run's last words", "checkpoint.inconsistent"),
    ("flfcf", "Messages: an argument, every decision made again", "checkpoint.inconsistent"),
    ("flfcf", "Messages: words put in another's mouth", "checkpoint.inconsistent"),
    ("flfof", "Messages: one left out", "checkpoint.inconsistent"),
    ("flfcc", "Messages: one put in", "checkpoint.inconsistent"),
    ("flfof", "Messages: two in the other order", "checkpoint.inconsistent"),
    ("fffff", "Messages: the last one cut off, unsealed", "open"),
    ("flfcc", "Messages: the last one cut off, sealed again", "checkpoint.size"),
    ("flfoo", "Messages: all but the first cut off, sealed again", "checkpoint.size"),
    ("flfuu", "Keys: the user's key", "key.pinned"),
    ("flfof", "Keys: a key that a party added", "checkpoint.inconsistent"),
    ("flfof", "Keys: a key added to a party, and used", "checkpoint.inconsistent"),
    ("flfof", "Open: the seed", "unanchored"),
    ("flfof", "Open: the trial", "unanchored"),
    ("flfof", "Open: the nonce", "unanchored"),
    ("flfof", "Open: an agent's model", "unanchored"),
    ("flfof", "Open: a party's role", "unanchored"),
    ("flfof", "Open: the task's case", "unanchored"),
    ("flfof", "Open: the task's file", "unanchored"),
    ("flfof", "Open: the world's parameters, every decision made again", "unanchored"),
    ("fffff", "Open: the world's version", "world.unknown"),
    ("flflf", "Open: the ledger's name", "unanchored"),
    ("flfof", "Open: the origin, passed off as imported", "unanchored"),
    ("fffff", "Notes: the checkpoint left out", "checkpoint.missing"),
    ("flfnn", "Notes: the environment note", ""),
)
IMPORTED_FOUND = (
    ("ffff", "Decisions: the result", "decision.differs"),
    ("ffff", "Decisions: an event (more money back), rows after it to fit", "decision.differs seal.root"),
    ("flfo", "Rows: a start row, every decision made again", "unanchored"),
    ("ffff", "Rows: the seal's outcome", "seal.outcome"),
    ("flfo", "Turns: what the source showed", "checkpoint.inconsistent"),
    ("flfo", "Turns: a turn left out", "checkpoint.inconsistent"),
    ("flfo", "Messages: a text", "checkpoint.inconsistent"),
    ("flfo", "Messages: an argument, every decision made again", "checkpoint.inconsistent"),
    ("flfc", "Messages: the last one cut off, sealed again", "checkpoint.size"),
    ("flfo", "Open: the recorded reward", "unanchored"),
    ("flfo", "Open: the task's case", "unanchored"),
    ("flfo", "Open: an agent's model", "unanchored"),
    ("flfo", "Open: the source's file", "unanchored"),
    ("flfo", "Open: the run's place in the source", "unanchored"),
    ("flfo", "Open: the origin, passed off as played", "unanchored"),
)

FOUND = {"played": PLAYED_FOUND, "imported": IMPORTED_FOUND}
COUNTS = {
    "an outsider": {"the file": 58},
    "another key": {"the file": 17, "the ledger's key": 41},
    "the party": {"the file": 58},
    "the operator": {
        "the file": 17,
        "the ledger's key": 1,
        "the user's key": 1,
        "an older checkpoint": 28,
        "the last checkpoint": 10,
        "nothing": 1,
    },
    "the operator, the user outside": {
        "the file": 37,
        "the user's key": 1,
        "an older checkpoint": 1,
        "the last checkpoint": 3,
        "nothing": 1,
    },
}


def cells(run: str, thing: str) -> list[Cell]:
    return [cell for cell in table() if (cell.run, cell.forgery.title) == (run, thing)]


@pytest.mark.parametrize(
    ("run", "letters", "thing", "codes"),
    [(run, *row) for run, rows in FOUND.items() for row in rows],
    ids=lambda value: value,
)
def test_a_forgery_is_found_by(run: str, letters: str, thing: str, codes: str) -> None:
    row = {cell.hand: cell for cell in cells(run, thing)}
    assert [LETTERS[letter] for letter in letters] == [row[hand].needs for hand in HANDS if hand in row]
    operator = row["the operator"]
    assert codes.split() == list(operator.found.get(operator.needs, ()))


def test_the_table_has_a_row_for_every_forgery() -> None:
    for run, forgeries in (("played", PLAYED), ("imported", IMPORTED)):
        assert [thing for _letters, thing, _codes in FOUND[run]] == [forgery.title for forgery in forgeries]


@pytest.mark.parametrize("hand", HANDS)
def test_counts(hand: str) -> None:
    assert COUNTS[hand] == Counter(cell.needs for cell in table() if cell.hand == hand)


def test_a_wrong_decision_is_found_in_the_file_alone_whoever_forged_it() -> None:
    wrong = [cell for cell in table() if cell.forgery.group == "Decisions"]
    assert 5 * 8 + 4 * 2 == len(wrong)
    assert all("decision.differs" in cell.found["the file"] for cell in wrong)


def test_the_last_checkpoint_finds_all_but_a_note() -> None:
    missed = {cell.forgery.title for cell in table() if not cell.found["the last checkpoint"]}
    assert {"Notes: the environment note"} == missed


def test_what_the_file_shows_is_found_whatever_else_the_reader_has() -> None:
    for cell in table():
        alone = set(cell.found["the file"])
        assert all(alone <= set(codes) for codes in cell.found.values()) or alone == {"open"}, cell


@pytest.mark.parametrize("forgery", [*PLAYED, *IMPORTED], ids=lambda forgery: forgery.title)
def test_every_forgery_changes_the_file(forgery: Forgery) -> None:
    for specimen in SPECIMENS if forgery in PLAYED else SPECIMENS[2:]:
        if (specimen.name == "played") == (forgery in PLAYED):
            for hand in hands(specimen, forgery.party).values():
                assert specimen.bundle != forged(specimen, forgery, hand)


@pytest.mark.parametrize("specimen", SPECIMENS, ids=["played", "outside", "imported"])
def test_nothing_is_found_where_nothing_is_forged(specimen: Specimen, tmp_path: Path) -> None:
    none: dict[str, tuple[str, ...]] = dict.fromkeys(LEVELS[:5], ())
    assert none == found(specimen, specimen.bundle, tmp_path / "run.jsonl")
    for name, hand in hands(specimen, "assistant").items():
        trace = Trace.read(specimen.bundle)
        mend(trace, hand, again=True)
        assert (name == "another key") == (specimen.bundle != trace.bundle())


def test_levels_are_in_the_order_of_what_they_find() -> None:
    """An older checkpoint finds nothing that the last one doesn't."""
    for lesser, greater in pairwise(["the file", "an older checkpoint", "the last checkpoint"]):
        assert all(cell.found[greater] for cell in table() if cell.found[lesser])


def test_the_page_is_up_to_date() -> None:
    assert page() == (ROOT / "docs" / "FORGERY.md").read_text(encoding="utf-8"), "run `make docs`"
