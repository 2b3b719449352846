"""The study of auctions: its cells, what is kept of a session, what is claimed, and that claims can fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from tollbook.ledger.store import Store
from tollbook.protocol.draws import seed_of
from tollbook.protocol.errors import LedgerError, UsageError
from tollbook.scorers.analysis.sheet import Dots, Heat, Plane
from tollbook.tasks.auctions import study
from tollbook.tasks.auctions.cells import CASE, Cell, task_text
from tollbook.tasks.auctions.charts import charts_of
from tollbook.tasks.auctions.claims import claims_of, off
from tollbook.tasks.auctions.grid import chosen, grid
from tollbook.tasks.auctions.people import report_of_people
from tollbook.tasks.auctions.report import ordering_of, report_of
from tollbook.tasks.auctions.study import Nowhere, Size, check_kept, sessions_of, tallies
from tollbook.tasks.auctions.tally import NANOS, Kept, Moment, Tally
from tollbook.tasks.format.task import load_task
from tollbook.tasks.studies.report import Report

SMALL = Size(2, 25)
PRIVATE = (
    "first_price.[25]", "second_price.2", "all_pay.2", "reserve.*.2", "uniform_price.5.3", "posted_price.2",
)  # fmt: skip
COMMON = ("common.first_price.*", "common.second_price.4", "common.naive.*")
TRADED = ("double.zi_u", "double.zi_c.100", "double.zip", "double.gd")  # without the longest


def played(*patterns: str, size: Size = SMALL, keep: Path | None = None, jobs: int = 1) -> list[Tally]:
    return tallies(chosen(patterns), size, jobs=jobs, keep=keep)


@cache
def of_private_values() -> list[Tally]:
    return played(*PRIVATE)


@cache
def of_common_values() -> list[Tally]:
    return played(*COMMON)


@cache
def of_traders() -> list[Tally]:
    return played(*TRADED)


@cache
def of_clocks() -> list[Tally]:
    return played("clock.*", size=Size(1, 6))


@cache
def of_random_bids() -> list[Tally]:
    return played("ordering.*", "bidding.crra.*", size=Size(3, 10))


def report(found: Sequence[Tally], size: Size = SMALL) -> Report:
    return report_of(found, size)


def failing(found: Sequence[Tally]) -> list[str]:
    return [claim.claim for claim in report(found).claims if not claim.holds]


ALL = (of_private_values, of_common_values, of_traders, of_clocks, of_random_bids)


@pytest.mark.parametrize("found", ALL, ids=lambda found: found.__name__)
def test_all_that_is_claimed_holds(found: Callable[[], list[Tally]]) -> None:
    assert [] == failing(found())


def test_the_grid_has_the_cells_that_the_page_asks_for() -> None:
    names = [cell.name for cell in grid()]
    assert len(names) == len(set(names))
    for kind in ("first_price", "second_price", "all_pay", "reserve.first_price", "reserve.second_price"):
        assert [f"{kind}.{count}" for count in (2, 3, 4, 5, 10)] == [
            name for name in names if name.startswith(f"{kind}.")
        ]
    assert 63 == len(names)


@pytest.mark.parametrize("cell", grid(), ids=lambda cell: cell.name)
def test_a_cell_is_a_task(cell: Cell) -> None:
    task = load_task(task_text(cell, 3))
    facts = task.scenes.stage(CASE, task.scenes.seed(CASE, 0)).facts
    session = facts.tables["session"].rows["s"]
    assert cell.session == {name: getattr(session, name) for name in cell.session}
    assert cell.bidders * (2 if cell.is_traded else 1) == len(task.players)


def test_a_session_is_named_by_task_case_and_trial() -> None:
    both = [load_task(task_text(cell, 5)) for cell in chosen(["first_price.5", "second_price.5"])]
    assert 2 == len({task.digest for task in both})
    assert {seed_of("study.private.5", "session", 3)} == {task.scenes.seed(CASE, 3) for task in both}


def test_sizes_are_what_tells_more() -> None:
    by_name = {cell.name: cell for cell in grid()}
    assert (100, 200) == by_name["first_price.5"].sized(100, 200)
    assert (50, 5) == by_name["double.zi_c"].sized(100, 200)
    assert (2, 5) == by_name["double.zi_c"].sized(2, 3), "a session of Smith's has five rounds"
    assert (20, 50) == by_name["clock.dutch.4"].sized(100, 200)
    assert 7 == sessions_of(chosen(["first_price.[23]", "double.gd"]), Size(2, 9)) + 1


def test_no_such_cells_are_told() -> None:
    with pytest.raises(UsageError) as caught:
        chosen(["first_price.2", "third_price.*"])
    assert ("usage.cells", "no cell is called `third_price.*`") == (caught.value.code, caught.value.text)


@pytest.mark.parametrize(
    ("mean", "error", "values"),
    [
        (2,              None,           [2]),
        (2,              1,              [1, 3]),
        (Fraction(7, 3), Fraction(8, 9), [1, 2, 4]),
    ],
)  # fmt: skip
def test_moments(mean: Fraction, error: Fraction | None, values: list[int]) -> None:
    moment = Moment(len(values), sum(values) * NANOS, sum(value**2 for value in values) * NANOS)
    assert mean == moment.mean
    found = moment.error
    assert error == found or (found is not None and abs(found**2 - Fraction(7, 9)) < Fraction(1, 10**9))


def test_the_figures_are_those_of_the_rows() -> None:
    (tally,) = played("second_price.2", size=Size(1, 10))
    assert 10 == tally.moments["revenue"].size
    assert Fraction(10_000, 3) == round(tally.expected or 0, 4).limit_denominator(3)
    ((_trial, root),) = tally.roots.items()
    assert [root] == tally.again
    (sample,) = tally.samples
    assert [told for told, _bid, _benchmark in sample.bids] == [bid for _told, bid, _benchmark in sample.bids]


OTHERWISE = [
    (
        "first price: revenue, n = 2, 5, is theory's within 4 SE",
        of_private_values, "first_price.2", "revenue",
    ),
    (
        "common value, first price, naive: the winner's loss, n = 4, 7, is theory's within 4 SE",
        of_common_values, "common.naive.7", "profit",
    ),
    ("ZI-U: efficiency exactly 0, everybody trades", of_traders, "double.zi_u", "efficiency"),
    ("ZIP: efficiency at least 98 %", of_traders, "double.zip", "efficiency"),
    ("GD: efficiency at least 96 %", of_traders, "double.gd", "efficiency"),
    ("ZIP: alpha of round 5 under 4, and under a third of round 1's", of_traders, "double.zip", "alpha.5"),
]  # fmt: skip


def shifted(moment: Moment, by: int) -> Moment:
    """As if every value had been so much more."""
    size, total, square = moment
    return Moment(size, total + size * by * NANOS, square + 2 * by * total + size * by**2 * NANOS)


@pytest.mark.parametrize(
    ("claim", "found", "name", "figure"), OTHERWISE, ids=[f"{each[2]} {each[3]}" for each in OTHERWISE]
)
def test_a_figure_that_is_off_is_found(
    claim: str, found: Callable[[], list[Tally]], name: str, figure: str
) -> None:
    by_name = {tally.cell.name: tally for tally in found()}
    tally = by_name[name]
    moment = tally.moments[figure]
    by = round(5 * (moment.error or 0)) + 9
    changed = tally._replace(
        moments={**tally.moments, figure: shifted(moment, -by if figure == "efficiency" else by)}
    )
    claims = claims_of({**by_name, name: changed})
    assert claim in [each.claim for each in claims if not each.holds]


def test_an_outcome_that_differs_is_found() -> None:
    tally = next(each for each in of_clocks() if each.cell.name == "clock.second_price.4")
    outcomes = (b"other", *tally.outcomes[0][1:])
    others = [each for each in of_clocks() if each is not tally]
    changed = report([*others, tally._replace(outcomes={0: outcomes})]).claims
    assert [
        ("English, open clock = second price, outcome by outcome", "5 of 6 auctions"),
        ("English, closed clock = second price, outcome by outcome", "5 of 6 auctions"),
    ] == [(claim.claim, claim.told) for claim in changed if not claim.holds]


def test_a_session_that_does_not_verify_is_found() -> None:
    tally = Tally.of(grid()[0], 3, None)
    tally.add(0, Kept("a" * 64, 9, ("conduct.extra",), {}, (), {}, None))
    tally.again.append("b" * 64)
    found = {claim.claim: (claim.holds, claim.told) for claim in report([tally]).claims}
    assert (False, "conduct.extra") == found["every session verifies, its conduct checked"]
    assert (False, "0 of 1") == found["the first session of each cell, played again, has the same run root"]


def test_a_bias_of_the_rules_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bidders who shade by too little give the seller more than theory has it."""
    monkeypatch.setattr(study, "baseline", lambda task, _word: _maker(task))
    (tally,) = played("first_price.2", size=Size(2, 100))
    far = off(tally)
    assert far is not None
    assert far > 4


def _maker(task: object) -> object:
    from tollbook.tasks.play.baselines import baseline  # noqa: PLC0415 - what the test replaces

    return baseline(task, "truthful")  # type: ignore[arg-type]


def test_what_the_ledger_has_is_not_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, size = tmp_path / "kept.db", Size(3, 4)
    (whole,) = played("all_pay.3", size=size)
    played("all_pay.3", size=Size(2, 4), keep=path)
    count: list[int] = []
    record = study.record

    def counting(ledger: object, *rest: object) -> object:
        if not isinstance(ledger.keeper, Nowhere):  # type: ignore[attr-defined]
            count.append(1)
        return record(ledger, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(study, "record", counting)
    (again,) = played("all_pay.3", size=size, keep=path)
    assert 1 == len(count), "the third session alone"
    assert whole._replace(samples=[]) == again._replace(samples=[])
    with Store.read(path) as store:
        assert 3 == len(store.runs())
    (known,) = played("all_pay.3", size=size, keep=path)
    assert (1, whole.digest) == (len(count), known.digest)


def test_a_study_that_is_stopped_goes_on(tmp_path: Path) -> None:
    path, cells, size = tmp_path / "kept.db", chosen(["first_price.[23]"]), Size(2, 4)
    steps: list[int] = []

    def stop() -> None:
        steps.append(1)
        if len(steps) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tallies(cells, size, keep=path, step=stop)
    with Store.read(path) as store:
        assert 3 == len(store.runs())
    found = tallies(cells, size, keep=path)
    assert [tally.digest for tally in tallies(cells, size)] == [tally.digest for tally in found]
    with Store.read(path) as store:
        assert 4 == len(store.runs())


def test_processes_give_what_one_gives() -> None:
    one, two = (played("first_price.2", "common.naive.4", size=Size(3, 4), jobs=jobs) for jobs in (1, 2))
    assert [tally.digest for tally in one] == [tally.digest for tally in two]
    assert [tally.moments for tally in one] == [tally.moments for tally in two]


def test_only_a_ledger_of_studies_is_gone_on_with(tmp_path: Path) -> None:
    check_kept(tmp_path / "new.db")
    other = tmp_path / "other.db"
    with Store.write(other, "other.example", "A" * 43 + "="):
        pass
    for path, code in ((other, "study.ledger"), (tmp_path / "none" / "new.db", "ledger.folder")):
        with pytest.raises(LedgerError) as caught:
            check_kept(path)
        assert code == caught.value.code


def test_a_changed_record_is_found_when_it_is_read(tmp_path: Path) -> None:
    import sqlite3  # noqa: PLC0415 - to do what the ledger doesn't

    path = tmp_path / "kept.db"
    played("first_price.2", size=Size(1, 3), keep=path)
    with sqlite3.connect(path) as database:
        database.execute("DROP TRIGGER records_no_update")
        database.execute("UPDATE records SET body = replace(body, 'paid', 'owed') WHERE kind = 'decision'")
    (tally,) = played("first_price.2", size=Size(1, 3), keep=path)
    assert tally.findings
    assert "every session verifies, its conduct checked" in failing([tally])


def test_pictures_have_what_was_played() -> None:
    found = [*of_private_values(), *of_common_values(), *of_traders(), *of_random_bids()]
    charts = charts_of(found)
    assert ["bids", "prices", "alpha", "orderings"] == list(charts)
    bids = charts["bids"][0]
    assert isinstance(bids, Plane)
    assert ["benchmark bidders", "crra:0.5 bidders", "benchmark"] == [row[0] for row in bids.rows]
    line = dict(bids.rows[2][2])
    assert all(abs(line[value] - bid) < Fraction(1, 100) for value, bid in bids.rows[0][2] if value in line)
    assert [Dots, Heat] == [type(chart) for chart in charts["orderings"]]
    assert {} == charts_of([])


def test_formats_are_ordered_by_their_deviations() -> None:
    ordered = ordering_of(of_random_bids())
    assert ordered is not None
    assert "all_pay" == ordered.names[-1]
    assert ordering_of(of_traders()) is None


def test_human_references_are_those_published() -> None:
    found = report_of_people(20_000)
    assert 2 == sum("drawn shares" in claim.claim for claim in found.claims)
    assert [] == [claim for claim in found.claims if not claim.holds]
    assert {"kagel_levin_1993", "ebay"} == set(found.figures)
    assert [] != [claim for claim in report_of_people(100).claims if not claim.holds], "too few to say"


def test_keeping_nothing_asks_for_nothing() -> None:
    nowhere = Nowhere()
    assert 0 == nowhere.add_run("", [], [])
    nowhere.append(0, 0, [])
    nowhere.refuse_known("")
    with pytest.raises(AssertionError):
        nowhere.signed(0, 0)


