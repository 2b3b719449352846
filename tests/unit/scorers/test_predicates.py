"""Predicate files: what is refused, with its place and a way out, and what a set says of itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tollbook.protocol.errors import ScoreError
from tollbook.scorers.predicates import FULL, Cap, Predicate, PredicateSet, load

HEAD = 'id = "x"\nview = 1\n'


def one(expr: str, more: str = "") -> str:
    return f"{HEAD}{more}\n[predicate.p]\nstage = \"choice\"\nweight = 1000\nexpr = '''{expr}'''\n"


def lets(**sources: str) -> str:
    return "[let]\n" + "".join(f"{name} = '''{source}'''\n" for name, source in sources.items())


def code_of(text: str) -> tuple[str, str, str | None]:
    with pytest.raises(ScoreError) as caught:
        _ = load(text).programs
    return caught.value.code, caught.value.text, caught.value.hint


@pytest.mark.parametrize(
    ("code", "says", "hint", "text"),
    [
        ("predicate.toml", "not TOML: Invalid value", None, "id = "),
        ("predicate.toml", "recursion", None, "a = " + "[" * 3_000),
        ("predicate.size", "65537 bytes", None, "#" * 65_537),
        ("predicate.field", "`id`", None, "view = 1\n"),
        ("predicate.field", "expected `int`, got `float`", None, 'id = "x"\nview = 1.0\n'),
        ("predicate.field", "unknown field `predicates`", "`predicate`", HEAD + "[predicates]\n"),
        ("predicate.field", "unknown field `quorum`", "its fields are id", HEAD + "quorum = 1\n"),
        ("predicate.field", "predicate `p`", "`weight`",
         HEAD + '[predicate]\np = {stage = "choice", wieght = 1000, expr = "true"}'),
        ("predicate.field", "`$.weight`", None,
         HEAD + '[predicate]\np = {stage = "choice", weight = -1, expr = "true"}'),
        ("predicate.field", "'chose'", None,
         HEAD + '[predicate]\np = {stage = "chose", weight = 1000, expr = "true"}'),
        ("predicate.field", "cap `c`", None,
         one("true", '[cap]\nc = {expr = "true", points = 1001}')),
        ("predicate.view", "version 2", "view = 1", 'id = "x"\nview = 2\n'),
        ("predicate.weights", "sum to 0, not 1000", "change the weights", HEAD),
        ("predicate.weights", "sum to 999, not 1000", "change the weights",
         HEAD + '[predicate]\np = {stage = "choice", weight = 999, expr = "true"}'),
        ("predicate.needs", "`p` needs `q`", None,
         HEAD + '[predicate]\np = {stage = "choice", weight = 1000, expr = "true", needs = ["q"]}'),
        ("predicate.needs", "`p` → `p`", "break the circle",
         HEAD + '[predicate]\np = {stage = "choice", weight = 1000, expr = "true", needs = ["p"]}'),
        ("predicate.name", "`P` can't name a predicate", "a to z",
         HEAD + '[predicate]\nP = {stage = "choice", weight = 1000, expr = "true"}'),
        ("predicate.name", "`did` can't name a let", "case view", one("true", lets(did="1"))),
        ("predicate.name", "`import` can't name a let", "no word of CEL", one("true",
         lets(**{"import": "1"}))),
        ("predicate.name", "`p` names a predicate and a cap", "rename", one("true",
         '[cap]\np = {expr = "true"}')),
        ("predicate.length", "predicate `p`: 2001 characters", "`[let]`", one("true" + " " * 1_997)),
        ("predicate.length", "let `a`: 2001 characters", "`[let]`", one("true", lets(a="1" + " " * 2_000))),
        ("predicate.cycle", "`a` → `b` → `a`", "break the circle", one("a == 1", lets(a="b", b="a"))),
        ("predicate.cycle", "`a` → `a`", "break the circle", one("a == 1", lets(a="a"))),
        ("predicate.lets", "17 lets", "where they are used",
         one(" + ".join(f"a{n}" for n in range(17)) + " == 1", lets(**{f"a{n}": "1" for n in range(17)}))),
        ("predicate.compile", "predicate `p`: line 2: it ends after `1 +`", "finish it", one("true &&\n1 +")),
        ("predicate.compile", "there is no name `did_` here", "did you mean `did`?", one("did_ == 1")),
        ("predicate.compile", "`message.kind` can't be used here", "a script", one("message.kind == 'a'")),
        ("predicate.compile", "`)` can't follow `true`", "a bracket", one("true) && (true")),
        ("predicate.compile", "there is no expression", "write one", one("")),
        ("predicate.compile", "let `b`, line 2: `+` doesn't go with a number and a text", None,
         one("b == 1", lets(a="'one'", b="1 +\n2 + a"))),
        ("predicate.compile", "predicate `p`: line 2: `+` doesn't go with a text and", None,
         one("true &&\na + 1 == 2", lets(a="'one'"))),
        ("predicate.compile", "let `c`, line 1: `+` doesn't go with a number and a text", None,
         one("c == 1", lets(a="1 +\n1", b="a -\n2 *\na", c="b + '1'"))),
        ("predicate.compile", "let `a`, line 1: it ends after `1 +`", None, one("a == 1", lets(a="1 +"))),
        ("predicate.compile", "limit of 32", None, one("+".join("1" * 40) + " == 1")),
        ("predicate.compile", "limit of 32", None, one("(" * 900 + "1" + ")" * 900 + " == 1")),
        ("predicate.profile", "integers only", None, one("1.5 > 1.0")),
        ("predicate.profile", "integers only", None, one("1e3 > 1e2")),
        ("predicate.profile", "unsigned", None, one("1u == 1u")),
        ("predicate.profile", "integers only", None, one("double(tick) > double(1)")),
        ("predicate.profile", "integers only", None, one("acts.map(a, double(a.n)) == []")),
        ("predicate.profile", "timestamps", None, one("timestamp('2020-01-01T00:00:00Z') != null")),
        ("predicate.profile", "durations", None, one("duration('1s') == duration('2s')")),
        ("predicate.profile", "`matches`", None, one("case.id.matches('a.*')")),
        ("predicate.profile", "`size` of a text", None, one("'ab'.size() == 2")),
        ("predicate.profile", "`size` of a text", None, one("size(string(tick)) == 2")),
        ("predicate.profile", "no order", None, one("did.map(k, k)[0] == 'tool'")),
        ("predicate.profile", "no order", None, one("did.filter(k, k != 'tool')[0] == 'x'")),
        ("predicate.oracle", "`oracle` has no `pryce`", "`price`",
         one("oracle.pryce == 1", '[oracle]\nprice = "the best"')),
        ("predicate.oracle", "seqs of predicate `p`", "`[oracle]`", one("true") + 'seqs = "[oracle.x]"'),
        ("predicate.oracle", "cap `c`", "`[oracle]`",
         one("true", '[cap]\nc = {expr = "oracle.x"}')),
    ],
)  # fmt: skip
def test_what_is_refused(code: str, says: str, hint: str | None, text: str) -> None:
    found, problem, tip = code_of(text)
    assert (code, "\n") == (found, "\n")
    assert says in problem
    assert "\n" not in problem
    assert hint is None or hint in (tip or "")


@pytest.mark.parametrize(
    "expr",
    [
        "did.map(k, k).sort() == []",
        "did.map(k, k).size() == 0",
        "did.filter(k, k == 'tool').size() == 0",
        "did.exists(k, k == 'tool')",
        "did.all(k, did[k] == {})",
        "[1, 2]",
        "acts == [] ? [0, 1] : [1, 2]",
        "acts.map(a, a.seq).sort() == lists.range(3)",
        "oracle == {}",
        "acts.exists(oracle, oracle.n == 1)",
    ],
)
def test_what_is_let_through(expr: str) -> None:
    assert {"p"} == load(one(expr)).programs.predicates.keys()


def test_lets_are_used_in_any_order_and_only_where_they_are_named() -> None:
    more = lets(three="two + 1", two="one + 1", one="1", broken="oracle.x.y", quoted="'two'")
    programs = load(one("three == 3 && quoted != 'broken'", more + '[oracle]\nx = ""')).programs
    assert frozenset() == programs.predicates["p"].reach.free
    # `broken` stands in a text only, so nothing of it was put around the predicate.
    assert "x" not in programs.predicates["p"].reach.fields


def test_a_macro_variable_hides_a_let() -> None:
    programs = load(one("acts.all(one, one.ok)", lets(one="tick + 1"))).programs
    assert frozenset({"acts"}) == programs.predicates["p"].reach.free


def test_what_a_set_reads() -> None:
    source = one("offers.exists(a, 5 in a.figures)", lets(offers="did.offer.make", unused="heard.offer.make"))
    assert frozenset({"did", "figures"}) == load(source).reads
    source = one("oracle[chosen] == 1", lets(chosen="oracle.x") + '[oracle]\nx = ""')
    assert frozenset({"oracle", "result", "figures"}) == load(source).reads
    assert frozenset({"final"}) == load(one("true") + 'seqs = "final.order.map(o, o.n)"').reads


def test_what_is_local() -> None:
    text = HEAD + """
[predicate]
a = {stage = "choice", weight = 400, expr = "acts.map(x, x.seq).filter(s, s > 1).exists_one(s, s == 2)"}
b = {stage = "choice", weight = 300, expr = "acts.map(x, x.seq).sort() == []"}
c = {stage = "choice", weight = 300, expr = "acts.exists(i, x, x.ok)"}
[cap]
d = {expr = "math.greatest(1, 2) == 2"}
e = {expr = "oracle.?a.orValue(1) == 1"}
"""
    assert ("b", "c", "d", "e") == load(text).local


def test_the_digest_covers_what_may_change_a_score_and_nothing_else() -> None:
    def of(**changed: object) -> str:
        fields = {"stage": "choice", "weight": FULL, "expr": "true", "needs": (), "seqs": None, "note": None}
        predicates = {"p": Predicate(**{**fields, **changed})}  # pyright: ignore[reportArgumentType]
        return PredicateSet("x", predicates).digest

    plain = of()
    assert 64 == len(plain)
    predicates = {"p": Predicate("choice", FULL, "true")}
    assert plain == of(note="said otherwise") == PredicateSet("y", predicates, title="Y").digest
    digests = [plain, of(stage="search"), of(expr="1 == 1"), of(seqs="[1]")]
    digests += [
        PredicateSet("x", {"q": predicates["p"]}).digest,
        PredicateSet("x", {**predicates, "q": Predicate("choice", 0, "true")}).digest,
        PredicateSet("x", {**predicates, "q": Predicate("choice", 0, "true", ("p",))}).digest,
        PredicateSet("x", predicates, caps={"c": Cap("true")}).digest,
        PredicateSet("x", predicates, caps={"c": Cap("true", 300)}).digest,
        PredicateSet("x", predicates, lets={"l": "1"}).digest,
        PredicateSet("x", predicates, oracle={"o": "1"}).digest,
    ]
    assert len(digests) == len(set(digests))


def test_needs_come_first() -> None:
    predicates = {
        "a": Predicate("choice", 0, "true", ("b", "c")),
        "b": Predicate("choice", 0, "true", ("c",)),
        "c": Predicate("choice", FULL, "true"),
    }
    assert ("c", "b", "a") == PredicateSet("x", predicates).order


def test_loading_brings_no_runtime_in() -> None:
    script = "import sys, tollbook.scorers.predicates as room; room.load(sys.argv[1]); print(*sys.modules)"
    command = [sys.executable, "-c", script, one("true")]
    modules = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert "tollbook.scorers.cel" in modules
    assert "cel_expr_python" not in modules
