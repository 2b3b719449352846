"""What an expression may make is bounded from its tree; what could take gigabytes doesn't compile."""

from __future__ import annotations

import pytest

from tollbook.protocol.errors import ScoreError
from tollbook.scorers.cel import compile_bound, compile_source
from tollbook.scorers.growth import LIMIT, NOMINAL_LIMIT, lengths_at, work
from tollbook.scorers.lets import MAX_LETS


def doubled(first: str, again: str, last: str, times: int = MAX_LETS) -> tuple[list[tuple[str, str]], str]:
    lets = [("a0", first)]
    lets += [(f"a{number}", again.replace("$", f"a{number - 1}")) for number in range(1, times)]
    return lets, last.replace("$", f"a{times - 1}")


RANGE, WORK = "`lists.range` up to a number", "take too much memory"


@pytest.mark.parametrize(
    ("says", "source"),
    [
        (WORK,  "lists.range(30000000).size() == 0"),
        (WORK,  "lists.range(9999).map(x, x).size() == 0"),
        (WORK,  "lists.range(5000).filter(x, x > 1).size() == 0"),
        (WORK,  "lists.range(9000).map(x, lists.range(9000)).size() == 0"),
        (WORK,  "lists.range(9999).all(x, lists.range(9999).size() > 0)"),
        (WORK,  "lists.range(9999).sortBy(x, -x) == []"),
        (WORK,  "lists.range(9000).exists(x, sets.contains(acts, acts))"),
        (WORK,  "sets.equivalent(lists.range(9999), lists.range(9999))"),
        (WORK,  "lists.range(3000).map(x, [x]).distinct() == []"),
        (WORK,  "math.greatest(lists.range(99999999)) == 1"),
        (WORK,  "lists.range(1000 * 1000 * 100 - 7) == []"),
        (WORK,  "lists.range(tick > 3 ? 1 : 90000000) == []"),
        (WORK,  "lists.range(math.greatest(3, 90000000)) == []"),
        (WORK,  "acts.map(a, acts).flatten().map(a, acts).flatten().map(a, acts).flatten() == []"),
        (WORK,  "oracle.s.replace('a', oracle.s).replace('b', oracle.s).contains('z')"),
        (WORK,  "oracle.s.replace('', oracle.s).replace('', oracle.s).contains('z')"),
        (WORK,  "oracle.s.split('').map(c, oracle.s).join(oracle.s).contains('z')"),
        (WORK,  "acts.map(a, acts).flatten().distinct() == []"),
        (WORK,  "acts.all(a, acts.all(b, (oracle.s + oracle.s).replace('a', 'bbbbbbbbbb').contains('z')))"),
        (RANGE, "lists.range(oracle.n).size() == 0"),
        (RANGE, "lists.range(tick) == []"),
        (RANGE, "lists.range(int('30000000')) == []"),
        (RANGE, "lists.range(10 - oracle.n) == []"),
        (RANGE, "lists.range(tick * acts.size()) == []"),
        (RANGE, "lists.range(-3 * -9000000) == []"),
        (RANGE, "lists.range(acts[0].n) == []"),
        (RANGE, "acts.exists(a, lists.range(a.n) == [])"),
        (RANGE, "lists.range(math.greatest(3, oracle.n)) == []"),
        (RANGE, "lists.range(tick % 3) == []"),
    ],
)  # fmt: skip
def test_what_could_take_too_much_is_refused(says: str, source: str) -> None:
    with pytest.raises(ScoreError) as caught:
        compile_source(source)
    assert "predicate.profile" == caught.value.code
    assert says in caught.value.text
    assert caught.value.hint is not None


@pytest.mark.parametrize(
    ("first", "again", "last"),
    [
        ("oracle.s",        "$ + $",                                "$.contains('z')"),
        ("'abcdefgh'",      "$ + $ + $ + $",                        "$.contains('z')"),
        ("acts",            "$ + $",                                "$ == []"),
        ("[1]",             "$ + $ + $ + $ + $ + $ + $ + $",        "$ == []"),
        ("acts",            "[$, $, $, $, $, $].flatten()",         "$ == []"),
        ("'ab'",            "$.replace('a', $)",                    "$.contains('z')"),
        ("oracle.s",        "[$, $, $, $].join($)",                 "$.contains('z')"),
        ("oracle.s",        "'%s%s%s%s'.format([$, $, $, $])",      "$.contains('z')"),
        ("acts",            "[0, 1, 2, 3].map(x, $).flatten()",     "$ == []"),
        ("lists.range(99)", "lists.range($.size() * 2)",            "$ == []"),
        ("{'a': acts}",     "{'a': $.a + $.a + $.a, 'b': $}",             "$ == {}"),
        ("[acts]",          "$.map(x, x + x)",                      "$ == []"),
        ("optional.of(acts)", "optional.of($.value() + $.value())", "$.value() == []"),
        ("b'abcdefgh'",     "$ + $ + $ + $",                        "$ == b''"),
    ],
)  # fmt: skip
def test_what_grows_from_let_to_let_is_refused(first: str, again: str, last: str) -> None:
    with pytest.raises(ScoreError, match=WORK):
        compile_bound(*doubled(first, again, last))
    compile_bound(*doubled(first, again, last, 2))


@pytest.mark.parametrize(
    "source",
    [
        "lists.range(10000).all(x, x >= 0)",
        "lists.range(1000).map(x, x * x).size() == 0",
        "lists.range(acts.size()).all(i, acts[i].n == i)",
        "lists.range(math.least(20, case.rounds)) == []",
        "lists.range(acts.size() - 1).all(i, acts[i].seq < acts[i + 1].seq)",
        "lists.range(acts.size() * 2 + 1) == []",
        "(did.offer.make + did.offer.counter).sortBy(o, o.seq).map(o, o.price) == []",
        "acts.all(a, acts.exists(b, b.seq > a.seq && b.note.replace(' ', '') == a.note + '!'))",
        "lists.range(5000).distinct() == []",
        "acts.map(a, a.kind).distinct() == []",
        "final.order.map(o, o.lines.map(l, l.price)).flatten().sort()[0] == 1",
        "sets.contains(acts.map(a, a.kind), ['a'])",
        "acts.filter(a, acts.filter(b, b.seq < a.seq).size() > acts.filter(b, b.seq > a.seq).size()) == []",
        "acts.map(a, a.note).join(', ').split(' ').size() > 3",
    ],
)
def test_what_tasks_ask_is_far_below_the_limit(source: str) -> None:
    assert compile_source(source).weight.work < NOMINAL_LIMIT


@pytest.mark.parametrize(
    ("expected", "source"),
    [
        ([("acts",)],                                 "acts.all(a, a.seq > 0)"),
        ([("did", "x", "y"), ("did", "x", "z")],      "did.x.y + did.x.z == did.x.y"),
        ([("oracle", "l"), ("tick",)],                "oracle.l[tick].deep.deeper"),
        ([("acts",), ("oracle",)],                    "acts.exists(a, oracle[a.kind].x == a.y)"),
        ([("case", "n")],                             "cel.bind(c, case.n, c.m == c.o)"),
        ([],                                          "[1].exists(acts, acts == 1)"),
    ],
)  # fmt: skip
def test_paths(expected: list[tuple[str, ...]], source: str) -> None:
    assert sorted(expected) == sorted(compile_source(source).weight.paths)


def test_work_follows_the_lists_that_are_named() -> None:
    program = compile_source("acts.filter(a, a.ok).size() + final.x.size() > 0")
    small = work(program.checked, {("acts",): (10, 1_000), ("final", "x"): (1_000_000, 10)})
    large = work(program.checked, {("acts",): (10_000, 10), ("final", "x"): (10, 10)})
    assert small < 1_000 < LIMIT < large


def test_work_follows_the_texts_that_are_in_them() -> None:
    program = compile_source("acts.all(a, (a.note + a.note).contains('x'))")
    small, large = (work(program.checked, {("acts",): (100, inner)}) for inner in (8, 1_000))
    assert (100 * 2 * 8, 100 * 2 * 1_000) < (small, large)
    assert (small, large) < (2 * 100 * 2 * 8 + 1_000, 2 * 100 * 2 * 1_000)


@pytest.mark.parametrize(
    ("expected", "path"),
    [
        ((1, 10), ("a",)),
        ((2, 10), ("a", "b")),
        ((2, 10), ("a", "b", "c")),
        ((0, 0),  ("c",)),
        ((0, 0),  ("c", "d")),
        ((0, 0),  ("d", "f")),
        ((0, 0),  ("e",)),
        ((0, 0),  ("g",)),
        ((1, 0),  ("h",)),
        ((2, 0),  ("i",)),
    ],
)  # fmt: skip
def test_lengths(expected: tuple[int, int], path: tuple[str, ...]) -> None:
    document = {"a": {"b": [[1, 2, 3], "x" * 320]}, "c": 7, "d": {}, "e": None, "h": "x" * 32, "i": "x" * 33}
    assert expected == lengths_at(document, path)
