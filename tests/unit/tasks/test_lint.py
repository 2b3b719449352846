"""The linter by its pieces: what it counts as fair, as told, as known; its words, and the sheet of a task.

What it finds in whole files is in tests/quality/test_planted.py.
"""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple, cast

import pytest

from tollbook.tasks.format.task import load_task
from tollbook.tasks.lint import bars, sheet
from tollbook.tasks.lint.finding import Tally, cases_text, decimal, error, in_order, warning
from tollbook.tasks.lint.linter import Report, lint_task
from tollbook.tasks.lint.linter import lint as lint_text
from tollbook.tasks.shelf import find_task

T4 = find_task("t4.buyer_zopa").text
RAISE = 'id = "raise",  while = "asks.size() < 5"'
T7 = find_task("t7.merchant_refund").text


@pytest.fixture(autouse=True)
def _one_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tollbook.tasks.play.cheats.SEEDS", 1)


@cache
def lint(text: str) -> Report:
    return lint_text(text)


def changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def names(report: Report, kind: str, case: str) -> list[str]:
    return [run.name for run in report.runs if (run.kind, run.case) == (kind, case)]


@pytest.mark.parametrize(
    ("expected", "value",            "places"),
    [
        ("0",        Fraction(0),        3),
        ("1",        Fraction(1),        3),
        ("0.555",    Fraction(5, 9),     3),
        ("0.999",    Fraction(9999, 10_000), 3),
        ("0.5",      Fraction(1, 2),     3),
        ("777.6",    Fraction(2333, 3),  1),
        ("-0.3",     Fraction(-1, 3),    1),
        ("200",      Fraction(200),      1),
    ],
)  # fmt: skip
def test_a_share_is_cut_off_not_rounded(expected: str, value: Fraction, places: int) -> None:
    assert expected == decimal(value, places)


def test_cases_in_words() -> None:
    assert "in case `a`" == cases_text(["a"], ["a"])
    assert "in case `a`" == cases_text(["a"], ["a", "b"])
    assert "in cases `a`, `b`" == cases_text(["a", "b"], ["a", "b", "c"])
    assert "in every case" == cases_text(["a", "b"], ["a", "b"])


def test_what_is_found_in_several_cases_is_said_once() -> None:
    tally = Tally()
    for case in ("a", "c", "a"):
        tally.add(error("lint.loses", "mutation.m", "lost nothing"), case)
    tally.add(error("lint.loses", "mutation.m", "lost x 0"), "b")
    assert ["in cases `a`, `c`: lost nothing", "in case `b`: lost x 0"] == [
        found.text for found in tally.findings(("a", "b", "c"))
    ]


def test_findings_are_errors_first_then_in_the_order_of_the_file() -> None:
    text = 'id = "a"\n[let]\nb = "1"\na = "2"\n'
    found = [warning("w", "let.a", "x"), warning("w", "let.b", "x"), error("e", "let.a", "x")]
    found.append(error("e", "", "x"))
    assert [("", 0), ("let.a", 4), ("let.b", 3), ("let.a", 4)] == [
        (each.place, each.line) for each in in_order([*found, *found], text)
    ]


def test_the_same_file_gives_the_same_findings() -> None:
    text = changed(T4, (RAISE, RAISE.replace("5", "3")))
    assert lint_text(text).findings == lint_text(text).findings


def test_every_kind_of_run_is_played_in_every_case() -> None:
    report = lint(T7)
    assert ["trial 0"] == names(report, "reference", "part_refunded")
    harmless = ["reads", "slip", "misspelt", "twice", "swap 1", "swap 2"]
    assert harmless == names(report, "variation", "part_refunded")
    assert "tries_to_pay_all" in names(report, "mutation", "fully_refunded")
    assert "tries_to_pay_all" not in names(report, "mutation", "part_refunded")
    careless = {"idle", "first_offer", "always_refuse", "flood_then_first", "flood_then_refuse"}
    careless.add("random_legal.0")
    assert careless <= set(names(report, "built-in", "part_refunded"))
    # The reference never approves in this case, so there is no number of it to move.
    assert "jitter.approve.amount+1" in names(report, "built-in", "part_refunded")
    assert "jitter.approve.amount+1" not in names(report, "built-in", "fully_refunded")


def test_a_variation_by_which_the_reference_acts_otherwise_is_none() -> None:
    second = ("[facts]\n", '[facts]\nlisting.l2 = { merchant = "merchant", title = "lamp", price = 9_000 }\n')
    assert "reads" in names(lint(changed(T4, second)), "variation", "linear")
    last = ("known.listing[0]", "known.listing[known.listing.size() - 1]")
    report = lint(changed(T4, second, last))
    assert "reads" not in names(report, "variation", "linear")
    assert () == report.errors


def test_variations_need_turns() -> None:
    report = lint(changed(T7, ('factor = "refunded"', 'factor = "refunded"\nturns = 6')))
    assert ["swap 1", "swap 2"] == names(report, "variation", "part_refunded")


def test_a_task_that_draws_has_its_reference_played_in_more_trials() -> None:
    drawn = changed(T4, ("list = 14_000, budget", "list = \"=14000 + draw('list', 0, 9) * 100\", budget"))
    report = lint(drawn)
    references = [run for run in report.runs if ("reference", "linear") == (run.kind, run.case)]
    assert ["trial 0", "trial 1", "trial 2"] == [run.name for run in references]
    assert 1 < len({run.staged.scene.case["list"] for run in references})
    assert 3 == len(sheet.document_of(load_task(drawn), report)["cases"])


def test_a_reference_that_falls_short_says_it_all() -> None:
    report = lint(changed(T4, (RAISE, RAISE.replace("5", "3"))))
    assert [] == names(report, "variation", "linear")
    assert {"lint.credit"} == {each.code for each in report.errors}


SETTLE = '{ id = "settle", do = { kind = "agreement.settle", '


def test_the_hint_names_the_act_that_the_market_refused() -> None:
    report = lint(changed(T4, (SETTLE, SETTLE + 'to = "operator", ')))
    hint = "its `agreement.settle` was refused by `agreement.addressee`: the page on the market says why"
    assert hint in [each.hint for each in report.errors if each.place == "reference"]


def test_the_hint_says_that_a_mutation_ends_early() -> None:
    act = '{ kind = "message.send", text = "{known.posting[0].amount}" }'
    stops = 'stops_early     = { step = "raise", '
    report = lint(changed(T4, (stops, f"{stops}before = {act}, ")))
    hint = "it ends early, as an act can't be formed: mutation.stops_early.before.text: "
    assert [hint] == [(each.hint or "")[: len(hint)] for each in report.errors]


CENT_LESS = 'set = { amount = "=owed - 1" }'


@pytest.mark.parametrize(
    ("unused", "changes"),
    [
        ([], [('factor = "refunded"', 'factor = "who"')]),
        ([], [("let.claim", 'let.one = "1"\nlet.claim'), (CENT_LESS, 'set = { amount = "=owed - one" }')]),
        ([], [(CENT_LESS, 'let = { owed = "payment.captured - payment.refunded - 1" }')]),
        (["mutation.pays_a_cent_less.let.spare"], [(CENT_LESS, f'let = {{ spare = "1" }}, {CENT_LESS}')]),
        (["case.part_refunded.spare"], [('who = "Noor"', 'spare = 1, who = "Noor"')]),
    ],
)
def test_a_name_is_used_where_anything_asks_for_it(unused: list[str], changes: list[tuple[str, str]]) -> None:
    findings = lint(changed(T7, *changes)).findings
    assert unused == [each.place for each in findings if each.code == "lint.unused"]


class Played(NamedTuple):
    """As much of a rehearsal as bars look at."""

    kind: str
    name: str
    case: str
    points: Fraction


def test_a_cheat_s_mean_is_that_of_its_cases_whatever_its_variants() -> None:
    runs = [
        Played("built-in", f"random_legal.{at}", case, Fraction(points))
        for case, earned in (("a", (0, 0, 900)), ("b", (600,)))
        for at, points in enumerate(earned)
    ]
    (bar,) = bars.bars_of(load_task(T7), cast("Any", runs))
    assert ("random_legal", 450, 300) == (bar.name, bar.mean, bar.most)
    assert {"a": 300, "b": 600} == bar.by_case


def test_a_number_counts_as_free_only_where_it_is_free_in_every_case() -> None:
    assert "lint.jitter" in {each.code for each in lint(T4).findings}
    text = changed(T4, ("deals[0].quantity == 1 &&", "(deals[0].quantity == 1 || case.rounds == 7) &&"))
    text = changed(text, ("deals[0].quantity == 1 ?", "(deals[0].quantity == 1 || case.rounds == 7) ?"))
    text = changed(text, ("floor = 12_700, rounds = 6", "floor = 12_700, rounds = 7"))
    (free,) = [each.text for each in lint(text).findings if each.code == "lint.jitter"]
    assert "`open.unit_price` ±1" in free
    assert "quantity" not in free


def test_a_factor_by_which_runs_are_judged_otherwise_does_something() -> None:
    assert "lint.factor" not in {each.code for each in lint(T4).findings}


def test_an_alternative_is_played_in_its_cases() -> None:
    at = T7.index("step = [\n")
    steps = T7[at : T7.index("]\n", at) + 2]
    lets = "".join(line + "\n" for line in T7[:at].splitlines() if line.startswith("let."))
    report = lint(f'{T7}\n[alternative.same]\ncases = ["part_refunded"]\n{lets}{steps}')
    assert ["reads_last", "same"] == names(report, "alternative", "part_refunded")
    assert ["reads_last"] == names(report, "alternative", "fully_refunded")
    assert () == report.errors


@pytest.mark.parametrize(
    ("told",  "oracle",                         "brief"),
    [
        (True,  "case.floor",                     "It costs {case.floor:money}."),
        (True,  "case.floor",                     "It costs {case.floor} cents."),
        (True,  "'lamp number ' + string(case.floor)", "Buy LAMP NUMBER {case.floor}."),
        (True,  "[case.floor, case.list]",        "Between {case.floor:money} and {case.list:money}."),
        (True,  "4711",                           "Use 4711."),
        (False, "case.floor + 1",                 "It costs {case.floor:money}."),
        (False, "case.floor",                     "It costs 1{case.floor}."),
        (False, "case.floor",                     "It costs 100.00."),  # the floor of one case only
        (False, "case.budget",                    "Pay {case.budget:money}."),  # as its mandate says
        (False, "case.floor > 9000",              "It is {case.floor > 9000}."),
        (False, "8",                              "At most 8 offers."),
        (False, "'l1'",                           "Buy listing l1."),
        (False, "'merchant'",                     "Write to the merchant."),
    ],
)  # fmt: skip
def test_an_answer_is_told_where_every_case_tells_it(*, told: bool, oracle: str, brief: str) -> None:
    text = changed(T4, ("[oracle]", f'[oracle]\nasked = "{oracle}"'), ("Buy one", f"{brief} Buy one"))
    found = [(each.code, each.place) for each in lint(text).errors]
    assert told is (("lint.oracle", "oracle.asked") in found)


@pytest.mark.parametrize(
    ("known", "expr"),
    [
        (True,  "final.listing.all(l, l.state != 'withdrawn')"),  # a word of the market's
        (True,  "final.listing.exists(l, l.id == 'l1')"),
        (True,  "heard.negotiation.reject.all(r, r.reason == 'too late')"),  # a script's text
        (True,  "case.id in ['linear', 'boulware', 'tit_for_tat']"),
        (True,  "acts.all(a, a.kind != 'negotiation.withdraw')"),
        (True,  "!('l1' in read.listing)"),
        (False, "!('l9' in read.listing)"),
        (False, "did.negotiation.propose.all(m, m.note != 'tardy')"),
        (False, "final.listing.all(l, l.state != 'withdrawm')"),
        (False, "case.id in ['linear', 'boulware', 'tit_for_tad']"),
        (False, "acts.all(a, a.kind != 'negotiation.withdrew')"),
        (False, "acts.all(a, a.seq != '5')"),
        (False, "final.listing.exists(l, l.title != 5)"),
        (False, "did.negotiation.propose.all(p, (p.quantity > 1 ? 'many' : 'one') != p.listing)"),
    ],
)  # fmt: skip
def test_a_literal_is_known_from_runs_rows_or_the_market(*, known: bool, expr: str) -> None:
    text = changed(T4, ("deals[0].quantity == 1 &&", f"deals[0].quantity == 1 && ({expr} || true) &&"))
    found = {each.text for each in lint(text).findings if each.code == "lint.literal"}
    assert known is (found == set())


def test_the_sheet_says_what_each_mutation_takes() -> None:
    task = load_task(T4)
    report = lint_task(task)
    text = sheet.text_of(task, report)
    rows = {tuple(line.split()) for line in text.splitlines()}
    assert ("never_settles", "all", "0", "0", "0", "0", "0") in rows
    assert ("stops_early", "linear", "228.8", "0.188", "0.188", "·", "0.188") in rows
    assert all(line == line.rstrip() for line in text.splitlines())
    markdown = sheet.markdown_of(task, report)
    assert "| never\\_settles | all | 0 | 0 | 0 | 0 | 0 |" in markdown
    document = sheet.document_of(task, report)
    (early, *_others) = [each for each in document["mutations"] if each["mutation"] == "stops_early"]
    lost = {name: [433, 2300] for name in ("looked_first", "surplus_share", "limit_kept_private")}
    assert {"mutation": "stops_early", "case": "linear", "score": [10527, 46], "lost": lost} == early
    assert document == json.loads(json.dumps(document))


def test_names_of_markdown_are_escaped() -> None:
    task = load_task(changed(T7, ("and no more", "and | no *more*")))
    assert "and \\| no \\*more\\*" in sheet.markdown_of(task, lint_task(task))


def test_a_file_of_wrong_form_is_not_played() -> None:
    report = lint("id = 1")
    assert (None, ()) == (report.task, report.runs)
    assert report.errors
    assert {"error"} == {each.level for each in report.findings}


def test_a_case_that_cant_be_worked_out_leaves_the_others() -> None:
    report = lint(changed(T4, ("floor = 5_800", 'floor = "=[5800][1]"')))
    assert {"linear", "tit_for_tat"} == {run.case for run in report.runs}
    assert ["task.value"] == [each.code for each in report.errors]
    none = T4
    for floor in ("8_400", "5_800", "12_700"):
        none = changed(none, (f"floor = {floor}", 'floor = "=[1][1]"'))
    assert ({"task.value"}, 0) == ({each.code for each in lint(none).errors}, len(lint(none).runs))
