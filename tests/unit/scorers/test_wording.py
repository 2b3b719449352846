"""What CEL says of an expression, told anew: each form that its compiler and its runtime were seen to use."""

from __future__ import annotations

import pytest

from tollbook.protocol.errors import ScoreError
from tollbook.scorers.cel import CompileError, Failure, Scope, activation, compile_source
from tollbook.scorers.failures import advice, failed
from tollbook.scorers.wording import refused

WHY = (("oracle", "the answers reach no agent"),)
SEES = Scope(("acts", "case", "did", "final", "read", "tick"), why=WHY)
HELD = {
    "acts": [{"x": 1}],
    "case": {"n": 1, "text": "a", "map": {"b": 2}, "none": None},
    "did": {},
    "final": {"order": []},
    "read": {},
    "tick": 0,
}


@pytest.mark.parametrize(
    ("problem", "hint", "source"),
    [
        ("there is no expression", "write one", " "),
        ("it ends after `tick +`, where more must follow", "finish it", "tick +"),
        ("a `(` without its `)`", "count the brackets", "(tick"),
        ("a `(` without its `)`", "count the brackets", "((((tick"),
        ("a `(` without its `)`, before `]`", "count the brackets", "[(tick]"),
        ("a `[` without its `]`", "count the brackets", "acts[0"),
        ("a `{` without its `}`", "count the brackets", "{1: 2"),
        ("`)` can't follow `tick`", "never opened", "tick)"),
        ("a `?` without its `:`", "other value", "tick > 0 ? 1"),
        ("`tick` can't follow `tick`", "an operator", "tick tick"),
        ("`,` can't follow `tick`", "&&", "tick, tick"),
        ("`:` can't follow `acts[0`", "slice", "acts[0:1]"),
        ("`>` can't follow `tick <`", "!=", "tick <> 1"),
        ("`?` can't follow `tick ?`", ".?field", "tick ?? 1"),
        ("`*` can't begin an expression", "a value first", "* 2"),
        ("`in` can't begin an expression", "xs", "in acts"),
        ("`9_900` has a `_`", "write 9900", "tick > 9_900"),
        ("`9_900_000` has a `_`", "write 9900000", "9_900_000"),
        ("`and` is no operator here", "`&&`", "true and true"),
        ("`OR` is no operator here", "`||`", "true OR true"),
        ("`is` is no operator here", "`==`", "case.n is null"),
        ("`not` is no operator here", "`!`", "not true"),
        ("a single `=` compares nothing", "`==`", "tick = 1"),
        ("an expression begins with `=`", "drop", "=tick"),
        ("a text that begins with `'abc` doesn't end", "close it with `'`", "'abc"),
        ('a text that begins with `"abc` doesn\'t end', 'close it with `"`', '"abc'),
        ("`#` begins no comment here", "`//`", "tick # x"),
        ("a `;` ends nothing here", "one expression", "tick;"),
        ("`“` is no sign of CEL", "`'…'`", "“a”"),
        ("`é` is no sign of CEL", "ASCII", "é"),
        ("`..2` can't be read", None, "1..2"),
        ("`in` can't be a field after a point", "x['in']", "case.in"),
        ("`return` is a word of CEL's own", "x.return", "return"),
        ("a number beyond 64 bits", "smaller", "9" * 20),
        ("there is no name `tik` here", "did you mean `tick`?", "tik"),
        ("there is no name `zzz` here", "write `'zzz'`", "zzz.x"),
        ("there is no name `True` here", "write `true`", "True"),
        ("there is no name `None` here", "write `null`", "None"),
        ("`oracle.x` can't be used here", "the answers reach no agent; seen here are `acts`", "oracle.x"),
        ("there is no `sum`", "element by element", "[1].sum()"),
        ("there is no function `len`", "xs.size()", "len(acts)"),
        ("there is no function `exist`", "`exists`?", "acts.exist(a, a.x)"),
        ("there is no function `exists`", "xs.exists(x, …)", "acts.exists(a)"),
        ("there is no function `tick`", "without brackets", "tick(1)"),
        ("there is no function `zzz`", "page on tasks", "zzz(1)"),
        ("`draw` can't be used here", "only case parameters", "draw('a', 1, 2)"),
        ("`all` takes a name first", "xs.all(x, …)", "acts.all(a.x, true)"),
        ("`has` asks for a field", "has(x.field)", "has(tick)"),
        ("a list has no fields, and `o1` is asked of one", "xs.exists", "final.order.o1"),
        ("a list has no fields, and `size` is asked of one", "`.size()`", "acts.size > 0"),
        ("a number has no fields, and `x` is asked of one", "drop it", "tick.x"),
        ("`+` doesn't go with a number and a text", "string(n)", "1 + 'a'"),
        ("`<` doesn't go with a text and a number", "one kind", "'a' < 1"),
        ("`*` doesn't go with a list and a number", None, "[0] * 3"),
        ("`!` takes true or false only", "compare", "!1"),
        ("the branches of `? :` are of two kinds, a list and true", "[0, 1]", "true ? [1, 2] : false"),
        ("the branches of `? :` are of two kinds, a number and a text", "same kind", "true ? 1 : 'a'"),
        ("the branches of `? :` are a map and a map that hold", "dyn(1)", "true ? {'a': 1} : {'a': 'b'}"),
        ("`+` doesn't go with two lists that hold values of two kinds", "[dyn(1)]", "[1] + ['a']"),
        ("what stands before `?` is neither true nor false", "compare it", "1 ? 2 : 3"),
        ("`in` looks in a list or a map, not in a number", None, "1 in 2"),
        ("`[…]` doesn't go with a list and a text", "xs[0]", "acts['a']"),
        ("`contains` doesn't take a list and a number", "x in xs", "acts.contains(1)"),
        ("math.greatest() requires at least one argument", None, "math.greatest()"),
        ("nesting is over the runtime's limit of 32", "nest less", "+".join("1" * 40)),
    ],
)  # fmt: skip
def test_what_the_compiler_says(problem: str, hint: str | None, source: str) -> None:
    with pytest.raises(CompileError) as told:
        compile_source(source, SEES)
    assert told.value.problem.startswith(problem)
    assert hint is None or hint in (told.value.hint or "")
    assert told.value.text.startswith(f"line 1: {problem}") or not told.value.line


@pytest.mark.parametrize(
    ("line", "source"), [(1, "tik"), (2, "tick +\ntik"), (3, "tick\n\n+ (1"), (1, "acts.exist(\na, a)")]
)
def test_the_line_of_an_expression(line: int, source: str) -> None:
    with pytest.raises(CompileError) as told:
        compile_source(source, SEES)
    assert line == told.value.line


@pytest.mark.parametrize(
    ("expected", "source"),
    [
        ("there is no key `x`",                                "case.x"),
        ("there is no element 5 in a list of 1",               "acts[5]"),
        ("there is no element -1 in a list of 1",              "acts[-1]"),
        ("division by zero",                                   "1 / tick"),
        ("remainder of a division by zero",                    "1 % tick"),
        ("a number grew beyond 64 bits",                       "9223372036854775807 + case.n"),
        ("`+` doesn't go with a number and a text",            "case.n + case.text"),
        ("`+` doesn't go with null and a number",              "case.none + 1"),
        ("`&&` takes true or false only",                      "case.n && true"),
        ("`!` takes true or false only",                       "!case.n"),
        ("what stands before `?` is neither true nor false",   "case.n ? 1 : 2"),
        ("what is gone through is neither a list nor a map",   "case.n.map(x, x)"),
        ("`in` looks in a list or a map",                      "case.n in case.n"),
        ("`sort` doesn't take this",                           "case.map.sort()"),
        ("a field is asked of what has none",                  "case.n.x"),
        ("`int(…)` of a text that is no number",               "int(case.text)"),
        ("a list of more elements than there can be",          "lists.range(-1)"),
        ("the runtime has no `transformMap`",                  "case.transformMap(k, v, v) == {}"),
        ("more than 10,000 loop steps",                        "lists.range(10001).all(x, x >= 0)"),
        ("an optional value, which nothing unwraps",           "case.?n"),
        ("`it` has no value here",                             "it"),
    ],
)  # fmt: skip
def test_what_the_runtime_says(expected: str, source: str) -> None:
    scope = Scope((*SEES.names, "it"))
    assert Failure(expected) == compile_source(source, scope).run(activation(HELD))


@pytest.mark.parametrize(
    ("hint", "source"),
    [
        ("multiply instead", "1.5 > 1.0"),
        ("`tick`", "timestamp('2020-01-01T00:00:00Z') == null"),
        ("`tick`", "duration('1s') == null"),
        ("drop the `u`", "1u == 1u"),
        ("startsWith", "case.text.matches('a')"),
        ("figures", "'a'.size()"),
        (".sort()", "case.map(k, k)"),
    ],
)
def test_what_to_try_about_what_the_profile_refuses(hint: str, source: str) -> None:
    with pytest.raises(ScoreError) as told:
        compile_source(source, SEES)
    assert "predicate.profile" == told.value.code
    assert hint in (told.value.hint or "")


def test_what_is_not_known_keeps_the_runtimes_words() -> None:
    assert "something else" == failed("INVALID_ARGUMENT: something else [INVALID_ARGUMENT]")
    assert (0, "something else", None) == refused("INTERNAL: Something else.", (), {})
    assert advice("something else") is None
