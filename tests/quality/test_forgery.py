"""Every forgery of the table is found by what it says, and no more than it says is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import verify_trace
from forge import Trace, mend
from forgery_table import HANDS, LEVELS, Cell, forged, found, hands, page, table, tried
from specimens import Specimen, imported, of_task, played
from two_verifiers import by_trace, by_verify

from tollbook.protocol.keys import verify

ROOT = Path(__file__).resolve().parent.parent.parent
SPECIMENS = (played(), played(outside=True), of_task(), imported())

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
    ("flfof", "Rows: a start row, every decision made again", "checkpoint.origin"),
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
    ("flfof", "Open: the seed", "checkpoint.origin"),
    ("flfof", "Open: the trial", "checkpoint.origin"),
    ("flfof", "Open: the nonce", "checkpoint.origin"),
    ("flfof", "Open: an agent's model", "checkpoint.origin"),
    ("flfof", "Open: a party's role", "checkpoint.origin"),
    ("flfof", "Open: the world's parameters, every decision made again", "checkpoint.origin"),
    ("fffff", "Open: the world's version", "world.unknown"),
    ("flflf", "Open: the ledger's name", "unanchored"),
    ("flfof", "Open: the origin, passed off as imported", "checkpoint.origin"),
    ("fffff", "Notes: the checkpoint left out", "checkpoint.missing"),
    ("flfnn", "Notes: the environment note", ""),
)
OF_TASK_FOUND = (
    ("ffff", "Briefs and turns: a brief that holds the answer", "conduct.brief"),
    ("flfo", "Briefs and turns: a brief that holds the answer, its text withheld", "checkpoint.inconsistent"),
    ("ffff", "Briefs and turns: a brief left out", "conduct.brief"),
    ("flfc", "Briefs and turns: what an agent was given", "checkpoint.inconsistent"),
    ("ffff", "Rows: start rows, all decided again", "conduct.facts"),
    ("ffff", "Rows: the seal's outcome", "conduct.outcome"),
    ("ffff", "Scripts: a claim, all decided again", "conduct.action"),
    ("ffff", "Scripts: the words of a claim", "conduct.action"),
    ("ffff", "Scripts: a claim left out, all decided again", "conduct.order"),
    ("ffff", "Scripts: a claim made twice, all decided again", "conduct.order"),
    ("ffff", "Scripts: a claim after the clock, all decided again", "conduct.order"),
    ("ffff", "Clock: a longer tick, all decided again", "conduct.action"),
    ("ffff", "Clock: a tick left out, all decided again", "conduct.order"),
    ("flfc", "Actor: an amount, all decided again", "checkpoint.inconsistent"),
    ("flfo", "Actor: a query left out, with all that followed from it", "checkpoint.inconsistent"),
    ("ffff", "Open: the seed", "conduct.seed"),
    ("ffff", "Open: the trial", "conduct.seed"),
    ("ffff", "Open: the task's id", "conduct.task"),
    ("ffff", "Open: the task's case", "conduct.seed"),
    ("flfo", "Open: the task's file: what predicates weigh", "checkpoint.origin"),
    ("ffff", "Open: a party's role", "conduct.parties"),
    ("flfo", "Open: an agent's name", "checkpoint.origin"),
    ("flfo", "Open: the origin, passed off as imported", "checkpoint.origin"),
    ("flfn", "Notes: the environment note", ""),
)
IMPORTED_FOUND = (
    ("ffff", "Decisions: the result", "decision.differs"),
    ("ffff", "Decisions: an event (more money back), rows after it to fit", "decision.differs seal.root"),
    ("flfs", "Rows: a start row, every decision made again", "source.differs"),
    ("ffff", "Rows: the seal's outcome", "seal.outcome"),
    ("flfs", "Turns: what the source showed", "source.differs"),
    ("flfs", "Turns: a turn left out", "source.differs"),
    ("flfs", "Messages: a text", "source.differs"),
    ("flfs", "Messages: an argument, every decision made again", "source.differs"),
    ("flfs", "Messages: the last one cut off, sealed again", "source.differs"),
    ("flfs", "Open: the recorded reward", "source.differs"),
    ("flfs", "Open: the task's case", "source.missing"),
    ("flfs", "Open: an agent's model", "source.differs"),
    ("flfs", "Open: the source's file", "source.digest"),
    ("flfo", "Open: the name of the source's file", "checkpoint.origin"),
    ("flfo", "Open: the nonce", "checkpoint.origin"),
    ("flfs", "Open: the run's place in the source", "source.missing"),
    ("ffff", "Open: the origin, passed off as played", "conduct.task"),
)

FOUND = {"played": PLAYED_FOUND, "task": OF_TASK_FOUND, "imported": IMPORTED_FOUND}
COUNTS = {
    "an outsider": {"the file": 82},
    "another key": {"the file": 34, "the ledger's key": 48},
    "the party": {"the file": 82},
    "the operator": {
        "the file": 34,
        "the ledger's key": 1,
        "the user's key": 1,
        "the source": 11,
        "an older checkpoint": 22,
        "the last checkpoint": 11,
        "nothing": 2,
    },
    "the operator, the user outside": {
        "the file": 35,
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
    for (specimen, *_others), forgeries in tried():
        expected = [thing for _letters, thing, _codes in FOUND[specimen.name]]
        assert expected == [forgery.title for forgery in forgeries]


@pytest.mark.parametrize("hand", HANDS)
def test_counts(hand: str) -> None:
    assert COUNTS[hand] == Counter(cell.needs for cell in table() if cell.hand == hand)


def test_a_wrong_decision_is_found_in_the_file_alone_whoever_forged_it() -> None:
    wrong = [cell for cell in table() if cell.forgery.group == "Decisions"]
    assert 5 * 8 + 4 * 2 == len(wrong)
    assert all("decision.differs" in cell.found["the file"] for cell in wrong)


def test_whatever_an_operator_does_otherwise_than_the_task_says_is_found_in_the_file_alone() -> None:
    conduct = [cell for cell in table() if cell.run == "task" and cell.forgery.group in ("Scripts", "Clock")]
    by_operator = [cell.found["the file"] for cell in conduct if cell.hand == "the operator"]
    assert 7 == len(by_operator)
    assert all(codes[0].startswith("conduct.") and len(codes) == 1 for codes in by_operator)


def test_the_last_checkpoint_finds_all_but_a_note() -> None:
    more = [cell for cell in table() if cell.needs != "the file"]
    missed = [cell for cell in more if not cell.found["the last checkpoint"]]
    assert {"Notes: the environment note"} == {cell.forgery.title for cell in missed}


def test_an_older_checkpoint_finds_nothing_that_the_last_one_does_not() -> None:
    older = [cell for cell in table() if cell.found.get("an older checkpoint")]
    assert 20 < len(older)
    assert all(cell.found["the last checkpoint"] for cell in older)


def forgeries() -> Iterator[tuple[Specimen, bytes]]:
    for specimens, changes in tried():
        for forgery in changes:
            for specimen in specimens:
                for hand in hands(specimen, forgery.party).values():
                    yield specimen, forged(specimen, forgery, hand)


def test_every_forgery_changes_the_file() -> None:
    assert [True] * len(table()) == [specimen.bundle != bundle for specimen, bundle in forgeries()]


def test_the_independent_verifier_finds_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_trace, "verify", verify)  # its own is tested where it is, and slow
    unlike = [
        (by_verify(bundle, tmp_path / "run.jsonl").first, by_trace(bundle).first)
        for _specimen, bundle in forgeries()
    ]
    assert [] == [(ours, theirs) for ours, theirs in unlike if ours != theirs]


@pytest.mark.parametrize("specimen", SPECIMENS, ids=["played", "outside", "task", "imported"])
def test_nothing_is_found_where_nothing_is_forged(specimen: Specimen, tmp_path: Path) -> None:
    codes = found(specimen, specimen.bundle, tmp_path)
    assert set(codes) == set(LEVELS) - ({"the source"} if specimen.name != "imported" else set())
    assert [] == [code for found_by in codes.values() for code in found_by]
    for name, hand in hands(specimen, "assistant").items():
        trace = Trace.read(specimen.bundle)
        mend(trace, hand, again=True)
        assert (name == "another key") == (specimen.bundle != trace.bundle())


def test_the_page_is_up_to_date() -> None:
    assert page() == (ROOT / "docs" / "FORGERY.md").read_text(encoding="utf-8"), "run `make docs`"
