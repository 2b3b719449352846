"""A stranger's predicate file can't take the machine down: it ends soon, in a named error, in little memory.

Each file is judged in a process of its own, which the system would stop at `MEMORY`; how much it
took is read off at its end. What the bound lets through is run too: it must stay within it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

MEMORY = 1 << 30
MOST_MB = 450
MOST_SECONDS = 20
"""Far above what is needed (about one), for a machine that does other things."""

SCRIPT = """
import json, resource, sys
given = json.load(sys.stdin)
resource.setrlimit(resource.RLIMIT_AS, (given["memory"], given["memory"]))
resource.setrlimit(resource.RLIMIT_CPU, (given["seconds"], given["seconds"]))
from tollbook.protocol.errors import ScoreError
from tollbook.scorers.predicates import load
from tollbook.scorers.verdict import judge
from tollbook.scorers.view import View
length = given["length"]
view = View({
    "acts": [{"seq": n, "n": n, "note": "a" * given["text"], "of": {"b": n}} for n in range(length)],
    "did": {"offer": {"make": [{"seq": n, "price": n} for n in range(length)]}},
    "oracle": {"n": 30_000_000, "s": "a" * given["text"], "list": list(range(length))},
    "tick": 3,
})
try:
    found = judge(load(given["file"]), view)
    said = [defect.text for defect in found.defects]
except ScoreError as error:
    said = [error.code, error.text]
# Not ru_maxrss, which begins at what the process had that this one was forked from.
peak = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(json.dumps([said, int(peak[0]) // 1024 if peak else 0]))
"""


def file_of(*exprs: str, lets: dict[str, str] | None = None) -> str:
    lines = ['id = "hostile"', "view = 1", "[oracle]", 'n = "n"', 's = "s"', 'list = "l"', "[let]"]
    lines += [f"{name} = {json.dumps(source)}" for name, source in (lets or {}).items()]
    for number, expr in enumerate(exprs):
        lines += [f"[predicate.p{number}]", 'stage = "choice"', f"weight = {0 if number else 1_000}"]
        lines += [f"expr = {json.dumps(expr)}"]
    return "\n".join(lines)


def judged(file: str, length: int = 100, text: int = 1_000) -> tuple[list[str], int]:
    """What a file's judgement says, and the most memory that it took, in MB."""
    given: dict[str, Any] = {
        "file": file, "length": length, "text": text, "memory": MEMORY, "seconds": MOST_SECONDS
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        timeout=3 * MOST_SECONDS,
    )
    assert (0, "") == (done.returncode, done.stderr)
    said, most = json.loads(done.stdout)
    return said, most


def chain(step: str, first: str, times: int = 16) -> dict[str, str]:
    lets = {"a0": first}
    return lets | {f"a{number}": step.replace("$", f"a{number - 1}") for number in range(1, times)}


def nested(depth: int) -> str:
    source = "acts"
    for number in range(depth):
        source = f"acts.map(x{number}, {source})"
    return f"{source}{'.flatten()' * depth} == []"


TOO_MUCH, TOO_LONG, STEPS = "take too much memory", "as long as these", "more than 10,000 loop steps"


@pytest.mark.parametrize(
    ("says", "file"),
    [
        (TOO_MUCH,       file_of("lists.range(30000000).size() == 0")),
        ("`lists.range`", file_of("lists.range(oracle.n).size() == 0")),
        (TOO_MUCH,       file_of("a15 == []", lets=chain("$ + $ + $ + $", "oracle.list"))),
        (TOO_MUCH,       file_of("a15.contains('b')", lets=chain("$ + $ + $ + $", "oracle.s"))),
        (TOO_MUCH,       file_of("a15.contains('b')", lets=chain("$.replace('a', $)", "oracle.s", 16))),
        (TOO_MUCH,       file_of("a15 == []", lets=chain("[$, $, $, $, $].flatten()", "acts"))),
        (TOO_MUCH,       file_of("a15 == []", lets=chain("$.map(x, $).flatten()", "[0, 1, 2, 3]"))),
        (TOO_MUCH,       file_of("lists.range(9999).map(x, lists.range(9999)).size() == 0")),
        (TOO_MUCH,       file_of("acts.all(a, acts.all(b, acts.distinct() == []))")),
        (TOO_MUCH,       file_of(nested(6))),
        (STEPS,          file_of("acts.all(a, acts.all(b, acts.all(c, a.n + b.n + c.n >= 0)))")),
        (STEPS,          file_of("acts.map(a, acts.map(b, b.n)).size() == 3")),
        (STEPS,          file_of("acts.filter(a, acts.filter(b, b.n > 0) != []) == []")),
        (STEPS,          file_of("lists.range(10001).all(x, x >= 0)")),
        (STEPS,          file_of("lists.range(101).all(x, acts.exists_one(a, a.n == x) || x >= 0)")),
        (STEPS,          file_of("acts.all(a, lists.range(101).transformList(i, x, x) != [])")),
        (STEPS,          file_of("acts.sortBy(a, acts.sortBy(b, -b.n)[0].n) == []")),
    ],
)  # fmt: skip
def test_each_ends_in_a_named_error(says: str, file: str) -> None:
    said, most = judged(file)
    assert says in " ".join(said)
    assert most < MOST_MB


@pytest.mark.parametrize(
    ("says", "expr", "length"),
    [
        (TOO_LONG, "acts.map(a, a.n).size() > 0", 9_000),
        (TOO_LONG, "acts.filter(a, a.n > 0) != []", 100_000),
        (TOO_LONG, "acts.distinct() == []", 9_000),
        (TOO_LONG, "did.offer.make.sortBy(o, o.price) == []", 9_000),
        (TOO_LONG, "acts.map(a, acts).flatten() == []", 4_000),
        (STEPS,    "acts.exists(a, a.n < 0)", 100_000),
        ("",       "acts.map(a, a.n).size() > 0", 2_000),
        ("",       "acts.exists(a, a.n < 0)", 9_000),
        ("",       "did.offer.make.map(o, o.price).sort()[0] == 0", 2_000),
    ],
)  # fmt: skip
def test_over_a_large_document(says: str, expr: str, length: int) -> None:
    said, most = judged(file_of(expr), length, 1)
    assert (says in " ".join(said)) if says else not said
    assert most < MOST_MB


def test_texts_that_are_long() -> None:
    greedy = "acts.map(a, a.note.replace('a', a.note)).join('').contains('b')"
    said, most = judged(file_of(greedy), 10, 60_000)
    assert any(TOO_LONG in text or TOO_MUCH in text for text in said)
    assert most < MOST_MB


def test_many_that_each_take_what_they_may() -> None:
    """What a program makes stays in memory as long as its activation does, so one is given up in time."""
    greedy = "lists.range(2900).map(x, x + {}).size() == 1"
    said, most = judged(file_of(*(greedy.format(number) for number in range(12))))
    assert [] == said
    assert most < MOST_MB


def test_a_file_of_the_largest_size_compiles_soon() -> None:
    terms = " && ".join(f"acts.exists(a, a.n == {number})" for number in range(40))
    said, most = judged(file_of(*(terms for _ in range(30))))
    assert [] == said
    assert most < MOST_MB
