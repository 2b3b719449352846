"""What the order of a map decides is found, whatever order the runtime happens to take."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tollbook.scorers.cel import Failure, activation, compile_source
from tollbook.scorers.orders import BY_ORDER, TOO_DEEP, depends_on_order, steady

VIEW: dict[str, Any] = {
    "acts": [{"attributes": {"x": 1, "y": 2, "z": 3}}, {"attributes": {}}],
    "facts": {"listing": {"l1": {"price": 3}, "l2": {"price": 4}}},
    "oracle": {
        "list": [{"a": 1}, None, {"a": 2}],
        "map": {key: {"n": number, "none": None} for number, key in enumerate("abcde")},
        "one": {"z": 1},
        "same": dict.fromkeys("abcde", 7),
        "texts": {"a": "true", "b": "false"},
    },
    "tick": 3,
}
BY_THE_ORDER = [
    "acts[0].attributes.map(k, k)[0]",
    "acts[0].attributes.map(k, k)[1] == 'y'",
    "acts[0].attributes.map(k, k)[2] == 'y'",
    "acts.map(a, a.attributes)[0].map(k, k)[0]",
    "acts.map(a, a.attributes.map(k, a.attributes[k])).flatten()[0] == 1",
    "acts[0].attributes.filter(k, k != 'x') == ['y', 'z']",
    "facts['listing'].map(k, k).sort()[0] + oracle.map.map(k, k)[4]",
    "oracle.map.map(k, oracle.map[k].n)[0]",
    "(oracle.map.map(k, k) + ['c'])[0]",
    "cel.bind(m, oracle.map, m.map(k, k)[0])",
    "cel.bind(o, oracle.map, o.map(s, s)[0])",
    "oracle.map.map(k, k).exists_one(k, k == 'a') && oracle.map.map(k, k)[0] < 'c'",
    "oracle.texts.map(k, oracle.texts[k])[0] == 'true' ? 1 : 2",
    "oracle.map.transformList(k, v, v.n)",
    "oracle.map.all(k, oracle.one[k] == 1)",
]
BY_NOTHING = [
    "acts[0].attributes.map(k, k).sort()[0]",
    "acts[0].attributes.map(k, k).size()",
    "acts[1].attributes.map(k, k)",
    "acts.map(a, a.attributes)[0].map(k, k).sort()[1]",
    "oracle.list.map(x, x)[0]",
    "oracle.list.filter(x, x == null)[0]",
    "oracle.list.transformList(i, x, i)",
    "oracle.one.map(k, k)[0]",
    "oracle.one.transformList(k, v, v)",
    "oracle.map.exists(k, k == 'c')",
    "oracle.map.exists(k, v, v.n == 3)",
    "oracle.map.map(k, k).exists(k, k == 'c')",
    "oracle.same.map(k, oracle.same[k])",
    "oracle.map.map(k, oracle.map[k].none)[2]",
    "oracle.map.map(k, oracle.map[k].n).sort() == [0, 1, 2, 3, 4]",
    "oracle.nothing.map(k, k)[0]",
    "facts.listing.exists(k, facts.listing[k].price == 4)",
    "tick + 1",
]


@pytest.mark.parametrize("source", BY_THE_ORDER)
def test_what_depends_on_it(source: str) -> None:
    program = compile_source(source)
    assert depends_on_order(program, VIEW)
    assert Failure(BY_ORDER) == steady(program, activation(VIEW))


@pytest.mark.parametrize("source", BY_NOTHING)
def test_what_does_not(source: str) -> None:
    program = compile_source(source)
    assert not depends_on_order(program, VIEW)
    assert program.run(activation(VIEW)) == steady(program, activation(VIEW))


def test_a_list_is_let_through_though_a_map_would_not_be() -> None:
    program = compile_source("oracle.x.map(k, k)[0]")
    assert not depends_on_order(program, {"oracle": {"x": ["b", "a"]}})
    assert not depends_on_order(program, {"oracle": {"x": {"b": 1}}})
    assert depends_on_order(program, {"oracle": {"x": {"b": 1, "a": 1}}})


def test_a_place_that_draws_keeps_its_draws() -> None:
    """Its function is static, so a tree that was changed finds it too."""
    program = compile_source("oracle.map.map(k, k).sort()[0] + oracle.list[0].?b.orValue('!')")
    assert "a!" == steady(program, activation(VIEW))


def nested(loops: int) -> str:
    source = "1"
    for number in reversed(range(loops)):
        source = f"{f'x{number - 1}' if number else 'oracle.m'}.map(x{number}, {source})"
    return source


def test_loops_too_deep_in_each_other_are_said_to_be() -> None:
    """Where maps are put in order a tree is nested more deeply; its bytes may be a hundred deep."""
    document = {"oracle": {"m": []}}
    assert [] == steady(compile_source(nested(10)), activation(document))
    deep = compile_source(nested(20))
    assert depends_on_order(deep, document)
    assert Failure(TOO_DEEP) == steady(deep, activation(document))


SCRIPT = """
import json, sys
from tollbook.scorers.cel import activation, compile_source
from tollbook.scorers.orders import steady
view, sources = json.load(sys.stdin)
found = [steady(compile_source(source), activation(view)) for source in sources]
raw = [compile_source(source).run(activation(view)) for source in sources]
print(json.dumps([found, raw]))
"""


def test_every_process_says_the_same() -> None:
    """With the runtime's own order they would not, as the last line shows."""
    given = json.dumps([VIEW, BY_THE_ORDER + BY_NOTHING])
    outputs = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", SCRIPT],
                env={**os.environ, "PYTHONHASHSEED": str(seed)},
                input=given,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for seed in (0, 1, 2, 1)
    ]
    found, raw = zip(*outputs, strict=True)
    assert [found[0]] * 4 == list(found)
    assert [[BY_ORDER]] * len(BY_THE_ORDER) == found[0][: len(BY_THE_ORDER)]
    assert len({json.dumps(each) for each in raw}) > 1
