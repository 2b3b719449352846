"""Predicates of the portable core on 500 exported case views, in a second CEL runtime.

The second runtime is handed a view as bytes of JSON and the predicate's own text, its lets
written out; it shares nothing with ours. It is an older one, and departs from the language where
`DEPARTURES` says; no predicate of a suite depends on that.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple

import celpy
import msgspec
import pytest
from small_run import NAME, SECRET, ledger

from tollbook.ledger.verify import audit_run, shelf_of
from tollbook.protocol.draws import Draws
from tollbook.scorers.cel import Failure, activation, compile_source
from tollbook.scorers.predicates import PredicateSet, load
from tollbook.scorers.view import Answers, Episode, case_view, view_of
from tollbook.tasks.format.task import Task, load_task
from tollbook.tasks.play.agent import Agent
from tollbook.tasks.play.cheats import builtin
from tollbook.tasks.play.desk import DryDesk
from tollbook.tasks.play.play import Play
from tollbook.tasks.play.policies import PolicyAgent
from tollbook.tasks.tau2.importer import import_runs, read_shop
from tollbook.tasks.tau2.oracle import oracle_of
from tollbook.tasks.tau2.source import read_source

SUITES = files("tollbook.tasks") / "suites"
WORKED = ("negotiation/t4.buyer_zopa", "negotiation/t4.merchant_zopa", "lifecycle/t7.merchant_refund")
DRAWN = 7
"""Further cases of each file, with other numbers."""
VARIANTS = 3
"""How many of each built-in cheat's variants are played."""
ERROR = "error"


class Exported(NamedTuple):
    predicates: PredicateSet
    view: bytes


def with_more_cases(text: str, label: str) -> str:
    """A task file with further cases: amounts of one that is there, all at one drawn rate."""
    cases = tomllib.loads(text)["case"]
    draws = Draws("0" * 64, label)
    more = [text]
    for number in range(DRAWN):
        case = cases[draws.choice(sorted(cases))]
        rate = draws.integer(40, 260)
        scaled = {name: value * rate // 100 if is_amount(value) else value for name, value in case.items()}
        more.append(f"[case.drawn_{number}]")
        more += [f"{name} = {json.dumps(value)}" for name, value in scaled.items()]
    return "\n".join(more)


def is_amount(value: object) -> bool:
    return isinstance(value, int) and value >= 100


def agents_of(task: Task, seed: str) -> Iterator[Agent]:
    yield PolicyAgent("reference", task.reference)
    for name, mutation in task.mutations.items():
        yield PolicyAgent(name, mutation.policy, lenient=True)
    for name, policy in task.alternatives.items():
        yield PolicyAgent(name, policy, lenient=True)
    for variants in builtin(task, seed).values():
        yield from variants[:VARIANTS]


def played(task: Task) -> Iterator[Exported]:
    for case in task.file.case:
        scene = task.scenes.stage(case, task.scenes.seed(case, 0))
        answers = Answers(scene.case, scene.mandates.get(task.actor, {}), task.scenes.oracle(scene))
        for agent in agents_of(task, scene.seed):
            desk = DryDesk(task.world, task.roles, scene.facts)
            Play(task, scene, desk, agent).run()
            episode = Episode(task.world, task.roles, desk.deeds, desk.state, case)
            view = view_of(episode, task.actor, answers, task.predicates.reads)
            yield Exported(task.predicates, msgspec.json.encode(view.document))


def second(source: str) -> Any:
    environment = celpy.Environment()
    return environment.program(environment.compile(source))


def expanded(predicates: PredicateSet, source: str) -> str:
    """An expression with its lets written out: `cel.bind` is a library's."""
    for _ in predicates.lets:
        for name, body in predicates.lets.items():
            source = re.sub(rf"(?<![.\w'\"]){name}\b", lambda _found, body=body: f"({body})", source)
    return source


def plain(value: object) -> object:
    """A value of either runtime as Python's own; an error as a word."""
    if isinstance(value, (Failure, celpy.CELEvalError)):
        return ERROR
    if isinstance(value, (bool, celpy.celtypes.BoolType)):
        return bool(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    return None if value is None else str(value)


def in_second(program: Any, names: Any) -> object:
    try:
        return plain(program.evaluate(names))
    except celpy.CELEvalError:
        return ERROR


@cache
def judges_of(predicates: PredicateSet) -> dict[str, Any]:
    """The portable predicates and caps of a set, in the second runtime."""
    sources = {name: each.expr for name, each in {**predicates.predicates, **predicates.caps}.items()}
    return {
        name: second(expanded(predicates, source))
        for name, source in sources.items()
        if name not in predicates.local
    }


def compare(exported: Exported, counts: Counter[object]) -> list[str]:
    """What the runtimes differ on, for one view."""
    predicates, data = exported
    document = json.loads(data)
    held = activation(document)
    names = {name: celpy.json_to_cel(document[name]) for name in predicates.reads & document.keys()}
    ours = {**predicates.programs.predicates, **predicates.programs.caps}
    differing: list[str] = []
    for name, program in judges_of(predicates).items():
        expected, found = plain(ours[name].run(held)), in_second(program, names)
        counts[expected if isinstance(expected, (bool, str)) else "[part, whole]"] += 1
        if repr(expected) != repr(found):
            differing.append(f"{predicates.id} {name}: {expected}, {found} in {data[:200]!r}")
    return differing


@cache
def worked(name: str) -> Task:
    return load_task(with_more_cases((SUITES / f"{name}.toml").read_text("utf-8"), name))


def test_how_many_predicates_are_portable() -> None:
    sets = [worked(name).predicates for name in WORKED]
    sets.append(load((SUITES / "retail/recorded.toml").read_text("utf-8")))
    assert {
        "t4.buyer_zopa": (6, 0),
        "t4.merchant_zopa": (6, 0),
        "t7.merchant_refund": (5, 0),
        "retail.recorded": (11, 0),
    } == {
        each.id: (len(judges_of(each)), len(each.local)) for each in sets
    }


def test_another_runtime_gives_the_same_verdicts_on_500_exported_views() -> None:
    counts: Counter[object] = Counter()
    views = [exported for name in WORKED for exported in played(worked(name))]
    assert 500 <= len(views)
    assert [] == [line for exported in views for line in compare(exported, counts)]
    assert min(counts[True], counts[False], counts["[part, whole]"]) > 300, counts


def test_and_on_the_recorded_runs_of_the_package(tmp_path: Path) -> None:
    predicates = load((SUITES / "retail/recorded.toml").read_text("utf-8"))
    views: list[Exported] = []
    with ledger(tmp_path / "a.db") as store, as_file(SUITES / "retail") as folder:
        source, shop = read_source(folder / "recorded.json"), read_shop(folder / "shop.json", "compat")
        import_runs(store, SECRET, NAME, source, shop)
        for run, run_id in store.runs():
            audit = audit_run(store, run, run_id, shelf_of(store), keep=True)
            view = case_view(audit, "assistant", Answers(oracle=oracle_of(audit)), predicates.reads)
            views.append(Exported(predicates, msgspec.json.encode(view.document)))
    assert 15 == len(views)
    assert [] == [line for exported in views for line in compare(exported, Counter())]


VALUES = {
    "oracle": {
        "big": 2**53 - 1,
        "day": "2020-01-01T00:00:00Z",
        "list": [3, 1, 2],
        "lists": [[1], [2, 3]],
        "map": {"a": 1, "b": None},
        "maps": [{"k": 1}, {"k": 2, "x": None}],
        "mixed": [1, "a", None, True],
        "n": 3,
        "neg": -7,
        "none": None,
        "text": "añ€😀z",
        "word": "Ab",
        "yes": True,
        "zero": 0,
    },
    "acts": [{"seq": 1, "ok": True, "rule": None}, {"seq": 2, "ok": False, "rule": "a.b"}],
    "tick": 5,
}


@pytest.mark.parametrize(
    ("expected", "expr"),
    [
        (True,  "oracle.n / 2 == 1 && oracle.neg / 2 == -3 && oracle.neg % 2 == -1 && -oracle.neg == 7"),
        (ERROR, "oracle.n / oracle.zero == 1"),
        (ERROR, "oracle.n % oracle.zero == 1"),
        (ERROR, "oracle.big * oracle.big == 1"),
        (ERROR, "-9223372036854775808 - oracle.n < 0"),
        (ERROR, "oracle.text + oracle.n == 'x'"),
        (True,  "oracle.none == null && oracle.map.b == null && null == null"),
        (False, "oracle.none == ''"),
        (True,  "oracle.word != oracle.none"),
        (True,  "3 in oracle.list && !(9 in oracle.list) && 'a' in oracle.map && !('q' in oracle.map)"),
        (True,  "oracle.list == [3, 1, 2] && oracle.map == {'b': null, 'a': 1} && [] == []"),
        (True,  "oracle.mixed == [1, 'a', null, true]"),
        (False, "oracle.list == [1, 2, 3]"),
        (ERROR, "oracle.map.q == 1"),
        (ERROR, "oracle.map['q'] == 1"),
        (True,  "oracle.map['a'] == oracle.map.a && has(oracle.map.b) && !has(oracle.map.q)"),
        (3,     "oracle.list[0]"),
        (ERROR, "oracle.list[3]"),
        (True,  "oracle.list + oracle.list == [3, 1, 2, 3, 1, 2] && 'a' + 'b' == 'ab'"),
        (True,  "oracle.text > 'añ' && 'Z' < 'a' && '2' > '10' && true > false && '\u00e9' == 'é'"),
        (ERROR, "oracle.n < oracle.text"),
        (ERROR, "oracle.none < oracle.n"),
        (True,  "size(oracle.list) == 3 && oracle.map.size() == 2 && oracle.list.size() > oracle.zero"),
        (True,  "oracle.text.contains('€') && oracle.text.startsWith('añ') && oracle.text.endsWith('z')"),
        (ERROR, "oracle.n.contains('a')"),
        (True,  "string(tick) == '5' && int(tick) == 5 && string(-3) == '-3'"),
        (True,  "type(oracle.n) == int && type(oracle.text) == string && type(oracle.list) == list"),
        (True,  "type(oracle.map) == map && type(oracle.none) == type(null) && type(oracle.day) == string"),
        (True,  "oracle.list.all(x, x > 0) && oracle.list.exists(x, x == 2)"),
        (True,  "oracle.list.exists_one(x, x == 2) && !oracle.list.exists_one(x, x > 1)"),
        ([6, 2, 4], "oracle.list.map(x, x * 2)"),
        ([3, 2], "oracle.list.filter(x, x > 1)"),
        ([1, 2], "oracle.lists.map(x, x.size())"),
        (ERROR, "oracle.maps.map(x, x.x)"),
        (True,  "oracle.maps.exists(x, x.x == null)"),
        (ERROR, "oracle.maps.all(x, x.x == null)"),
        (ERROR, "oracle.maps.filter(x, x.x == null)"),
        (True,  "oracle.map.all(k, k != '') && oracle.map.exists(k, oracle.map[k] == 1)"),
        (True,  "(true || oracle.q == 1) && (oracle.q == 1 || true) && !(false && oracle.q == 1)"),
        (ERROR, "oracle.q == 1 || false"),
        (ERROR, "!(oracle.q == 1)"),
        (ERROR, "oracle.n ? true : false"),
        (True,  "oracle.yes ? true : oracle.q"),
        (ERROR, "oracle.yes ? oracle.q : true"),
        (ERROR, "[0, 1].all(x, 1 / x == 1)"),
        (True,  "[0, 1].exists(x, 1 / x == 1)"),
        (ERROR, "[1, 2].exists_one(x, x / 0 == 1)"),
        ([3, 4], "[oracle.n, 4]"),
        (True,  "{'a': [1, {'b': 2}]} == {'a': [1, {'b': 2}]} && {1: 2}[oracle.zero + 1] == 2"),
        (True,  "acts.exists(a, a.rule == 'a.b') && acts.filter(a, a.ok).map(a, a.seq) == [1]"),
        (True,  "acts.all(a, a.rule == null || a.rule.startsWith('a'))"),
        (True,  "oracle.list.exists(oracle, oracle == 3) && oracle.list.all(i, acts.exists(j, i != j.seq))"),
    ],
)  # fmt: skip
def test_the_portable_core_means_the_same(expected: object, expr: str) -> None:
    program = compile_source(expr)
    assert frozenset() == program.reach.library
    assert repr(expected) == repr(plain(program.run(activation(VALUES))))
    names = {name: celpy.json_to_cel(value) for name, value in VALUES.items()}
    assert repr(expected) == repr(in_second(second(expr), names))


# What the second runtime does otherwise than the language definition says, which ours follows:
# values of different types are unequal, `has` asks of what there is, a place in a list is not negative.
DEPARTURES = [
    (False, ERROR, "oracle.none == 0"),
    (False, ERROR, "oracle.n == oracle.text"),
    (False, ERROR, "oracle.text in oracle.list"),
    (False, True,  "oracle.yes == 1"),
    (ERROR, False, "has(oracle.q.q)"),
    (ERROR, False, "oracle.list[-1] == 3"),
    (ERROR, True,  "size(oracle.none) == 0"),
    (ERROR, True,  "oracle.text.all(x, true)"),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "theirs", "expr"), DEPARTURES)
def test_where_the_second_runtime_departs_from_the_language(
    expected: object, theirs: object, expr: str
) -> None:
    assert expected == plain(compile_source(expr).run(activation(VALUES)))
    names = {name: celpy.json_to_cel(value) for name, value in VALUES.items()}
    assert theirs == in_second(second(expr), names), "it has been mended: move the row to the table above"


@pytest.mark.parametrize(
    "expr",
    [
        "int('3') == 3",
        "int(oracle.word) == 3",
        "string(oracle.yes) == 'true'",
        "string(oracle.n) == '3'",
        "bool('true')",
        "acts.sortBy(a, a.seq) == []",
        "acts.exists(i, a, a.ok)",
        "oracle.?n == optional.none()",
        "lists.range(3) == []",
        "'%s'.format([tick]) == ''",
    ],
)
def test_what_is_local(expr: str) -> None:
    assert compile_source(expr).reach.library
