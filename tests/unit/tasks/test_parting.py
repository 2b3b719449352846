"""Where two runs part, what stands against what, and what is no difference."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from played_run import Told, kept, play
from script import Stage

from tollbook.ledger.audit import Audit
from tollbook.ledger.bundle import export_lines
from tollbook.ledger.store import Store
from tollbook.ledger.verify import verify_bundle
from tollbook.protocol.errors import LedgerError
from tollbook.scorers.view import Withheld
from tollbook.tasks.abreast import against, began_lines, row_lines, said_lines
from tollbook.tasks.parting import MAX_CELLS, Parting, aligned, part
from tollbook.tasks.play.agent import Agent, Answer, Asked
from tollbook.tasks.sides import Side, alike, sides_of

BUYER = "t4.buyer_zopa"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def store(folder: Path) -> Iterator[Store]:
    with kept(folder / "a.db", "test") as store:
        yield store


@pytest.fixture(scope="module")
def runs(store: Store, folder: Path) -> dict[str, Audit]:
    """The same case by several agents, another case, another task."""
    with kept(folder / "b.db", "test.told") as other:
        told = play(other, BUYER, "linear", told=Told)
    return {
        "reference": play(store, BUYER, "linear"),
        "told": told,
        "cheat": play(store, BUYER, "linear", "cheat:takes_the_first_ask"),
        "blabs": play(store, BUYER, "linear", "mutation:names_its_limit"),
        "boulware": play(store, BUYER, "boulware"),
        "refund": play(store, "t7.merchant_refund", "part_refunded"),
    }


def parted(runs: dict[str, Audit], a: str, b: str) -> Parting:
    return part(*both(runs, a, b))


def test_a_run_and_itself_part_nowhere(runs: dict[str, Audit]) -> None:
    assert Parting([], None, [], [], ("completed", "completed")) == parted(runs, "reference", "reference")


def test_turns_salts_and_numbers_of_records_are_no_difference(runs: dict[str, Audit]) -> None:
    parting = parted(runs, "reference", "told")
    assert (None, [], []) == (parting.parted, parting.pairs, parting.cells)
    assert parting.is_same
    assert [("ledger.name", "test", "test.told")] == [tuple(value) for value in parting.began]
    sides = both(runs, "reference", "told")
    keys = [{key for key, _row in side.rows["negotiation"].values()} for side in sides]
    assert [{"n7"}, {"n9"}] == keys


def both(runs: dict[str, Audit], a: str, b: str) -> tuple[Side, Side]:
    return sides_of(runs[a], runs[b])


def test_a_left_out_act_is_that_and_all_after_it_is_set_against_its_like(runs: dict[str, Audit]) -> None:
    parting = parted(runs, "reference", "cheat")
    assert 0 == parting.parted
    acts = [
        (pair.a and pair.a.kind, pair.b and pair.b.kind)
        for pair in parting.pairs
        if "buyer" in (pair.a and pair.a.sender, pair.b and pair.b.sender)
    ]
    only_a = [(kind, None) for kind in ["negotiation.counter"] * 4]
    assert [
        ("listing.get", None),
        ("negotiation.propose", "negotiation.propose"),
        *only_a,
        ("negotiation.accept", "negotiation.accept"),
        ("agreement.settle", "agreement.settle"),
    ] == acts
    answers = [pair.is_same for pair in parting.pairs if pair.a and pair.b and pair.a.sender == "merchant"]
    assert [True] == answers  # the first ask is the same, whichever act it answers


def test_they_part_at_the_first_message_that_differs(runs: dict[str, Audit]) -> None:
    parting = parted(runs, "reference", "blabs")
    first, *_rest = parting.pairs
    assert 2 == parting.parted
    assert first.a is not None
    assert first.b is not None
    assert ("For a study.", "I have 107.00.") == (first.a.action["note"], first.b.action["note"])
    assert [False, *[True] * (len(parting.pairs) - 1)] == [pair.is_same for pair in parting.pairs]


def test_how_they_began_is_named(runs: dict[str, Audit]) -> None:
    agents = ("reference", "cheat:takes_the_first_ask")
    assert {"parties.buyer.agent.name": agents} == began(runs, "reference", "cheat")
    found = began(runs, "reference", "boulware")
    assert {"task.case", "facts", "seed", "briefs.buyer.brief", "briefs.buyer.mandate.budget",
            "briefs.merchant.mandate.floor"} == set(found)  # fmt: skip
    assert (10_700, 8_200) == found["briefs.buyer.mandate.budget"]


def began(runs: dict[str, Audit], a: str, b: str) -> dict[str, tuple[Any, Any]]:
    return {value.what: (value.a, value.b) for value in parted(runs, a, b).began}


def test_rows_at_the_end_are_named_by_table_and_order(runs: dict[str, Audit]) -> None:
    cells = {(cell.name, cell.column): (cell.a, cell.b) for cell in parted(runs, "reference", "cheat").cells}
    assert (8_400, 14_000) == cells["agreement#1", "unit_price"]
    assert (10, 2) == cells["negotiation#1", "round"]
    assert ("posting#1", "entry") not in cells
    other = {(cell.table, cell.name): cell for cell in parted(runs, "reference", "refund").cells}
    assert (None, "returns") == other["policy", "returns"].keys
    assert other["policy", "returns"].column is None


def test_a_withheld_text_is_like_any(store: Store, runs: dict[str, Audit], tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    number = store.find(runs["blabs"].run)
    path.write_bytes(b"".join(export_lines(store, [number], withhold=True)))
    (blabs,) = verify_bundle(path, keep=True)
    parting = part(*sides_of(runs["reference"], blabs))
    assert parting.parted is None  # they differ in a text alone
    assert ["parties.buyer.agent.name"] == [value.what for value in parting.began]


def test_a_run_without_an_open_is_told(runs: dict[str, Audit]) -> None:
    with pytest.raises(LedgerError) as error:
        sides_of(runs["reference"], runs["cheat"]._replace(replayed=None))
    assert "run.damaged" == error.value.code


@pytest.mark.parametrize(
    ("expected",               "a",     "b"),
    [
        ("",                   "",      ""),
        ("xx",                 "x",     "x"),
        ("x- yy",              "xy",    "y"),
        ("xx y- zz",           "xyz",   "xz"),
        ("-a -b xx",           "x",     "abx"),
        ("xX yY",              "xy",    "XY"),
        ("xX yy",              "xy",    "Xy"),
        ("x- y- -z",           "xy",    "z"),
    ],
)  # fmt: skip
def test_alignment_costs_the_least(expected: str, a: str, b: str) -> None:
    def cost(one: str, other: str) -> int:
        return 0 if one == other else 1 if one.lower() == other.lower() else 5

    assert expected == " ".join(f"{one or '-'}{other or '-'}" for one, other in aligned(a, b, cost))


def test_what_is_too_long_to_weigh_is_aligned_by_place() -> None:
    size = int(MAX_CELLS**0.5) + 1
    assert (0, None) == next(iter(aligned(range(size + 1), [], lambda _one, _other: 0)))
    pairs = list(aligned(range(size), range(1, size + 1), lambda one, other: 0 if one == other else 5))
    assert [(place, place + 1) for place in range(size)] == pairs


@pytest.mark.parametrize(
    ("expected", "one",                   "other"),
    [
        (True,   {"a": [1, "x"]},         {"a": [1, "x"]}),
        (True,   {"a": [1, "x"]},         {"a": [1, Withheld.PART]}),
        (True,   Withheld.PART,           None),
        (False,  {"a": 1},                {"a": 1, "b": None}),
        (False,  [1],                     [1, 2]),
        (False,  1,                       True),
        (False,  "1",                     1),
    ],
)  # fmt: skip
def test_what_is_alike(expected: bool, one: object, other: object) -> None:  # noqa: FBT001 - a column
    assert expected == alike(one, other) == alike(other, one)


@pytest.mark.parametrize(
    ("expected",                      "one",            "other"),
    [
        ("4900 | 100",                4_900,            100),
        ('"For a study." | ""',       "For a study.",   ""),
        ("a | –",                     "a",              None),
        ("withheld | a",              Withheld.PART,    "a"),
        (f"{'a' * 12}… | {'b' * 12}…", "a" * 64,        "b" * 64),
        ("…xxxxxxxxy | …xxxxxxxxz",   "x" * 99 + "y",   "x" * 99 + "z"),
        (f"{'y' * 59}… | z",          "y" * 99,         "z"),
    ],
)  # fmt: skip
def test_two_values_are_shown_where_they_differ(expected: str, one: object, other: object) -> None:
    assert expected == against(one, other)


def test_what_a_person_reads(runs: dict[str, Audit]) -> None:
    sides = sides_of(runs["reference"], runs["blabs"])
    parting = part(*sides)
    said = list(said_lines(parting, sides))
    names = "reference | mutation:names_its_limit"
    assert ["began otherwise:", f"  parties.buyer.agent.name: {names}"] == list(began_lines(parting))
    assert "they part at message 2 of 21 | 21:" == said[0]
    assert 'note="For a study." | "I have 107.00."' in said[5]
    assert "~" == said[5][0]
    assert {"="} == {line[0] for line in said[6:]}
    assert not any("clock.advance" in line for line in said)
    assert [] == list(row_lines(parting))


class Unkind(Told):
    """Says what would move a terminal's cursor, and forge a line."""

    def __init__(self, inner: Agent) -> None:
        super().__init__(inner)
        self.stated = replace(inner.stated, name="unkind")

    def act(self, asked: Asked) -> Answer:
        answer = super().act(asked)
        if answer.act is None or "note" not in answer.act:
            return answer
        return answer._replace(act={**answer.act, "note": "\x1b[2J\u202e\nb  good"})


def test_texts_from_outside_are_escaped_and_a_damaged_run_is_found(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with kept(tmp_path / "tollbook.db", "test") as store:
        good = play(store, BUYER, "linear").run
        unkind = play(store, BUYER, "linear", told=Unkind).run
    ran = stage.run(f"tollbook diff {good} {unkind}")
    assert 3 == ran.exit
    assert 'note="For a study." | "\\u001b[2J\\u202e\\nb  good"' in ran.stdout
    assert all(line.isprintable() for line in ran.stdout.splitlines())
    stage.damage("records", "UPDATE records SET body = replace(body, '5180', '5181') WHERE kind = 'decision'")
    ran = stage.run(f"tollbook diff {good} {good}")
    assert 3 == ran.exit
    found = [line for line in ran.stdout.splitlines() if line.startswith("   ")]
    assert "   decision.differs at record 14: the rules give another `events`" in found[0]
    assert ["   … and 15 more: see `tollbook verify`"] * 2 == found[3::4]
    assert "b has none: check 2 failed" in ran.stdout
