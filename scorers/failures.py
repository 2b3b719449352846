"""What the CEL runtime says of an expression that gave no value, in the words of whoever wrote it.

    failed("Index error: index=5 size=1")   →  there is no element 5 in a list of 1
    advice("there is no element 5 in …")    →  guard with `size()`, …

Not here: what doesn't compile (`wording`).

Source: cel-expr-python 0.1.3, whose messages were tried one by one.
"""

from __future__ import annotations

import re
from typing import Final

from .wording import NOISE, STATUS, mismatch

_RUN_OVERLOAD = re.compile(r"No matching overloads found : (?:\(.*\)\.)?([^()]*)(?:\((.*)\))?$")


def failed(raw: str) -> str:
    """What the runtime says of an expression that gave no value, in one phrase."""
    text = NOISE.sub("", STATUS.sub("", raw))
    if match := re.match(r'Key not found in map : "?(.*?)"?$', text, re.DOTALL):
        return f"there is no key `{match[1]}`"
    if match := re.match(r"Index error: index=(-?\d+) size=(\d+)", text):
        return f"there is no element {match[1]} in a list of {match[2]}"
    if match := _RUN_OVERLOAD.match(text):
        return mismatch(match[1].strip(), match[2])[0]
    if match := re.match(r'No value with name "(\w+)"', text):
        return f"`{match[1]}` has no value here"
    return _FAILURES.get(text, text)


def advice(text: str) -> str | None:
    """What to try about a failure, or about what the profile refuses, by how it is told."""
    for start, hint in _ADVICE.items():
        if text.startswith(start):
            return hint
    return None


_FAILURES: Final = {
    "Applying SELECT to non-message type": "a field is asked of what has none",
    "divide by zero": "division by zero",
    "modulus by zero": "remainder of a division by zero",
    "integer overflow": "a number grew beyond 64 bits",
    "cannot convert string to int": "`int(…)` of a text that is no number",
    "vector::reserve": "a list of more elements than there can be",
    "No overload found in reference resolve step for cel.@mapInsert": "the runtime has no `transformMap`",
}
_ADVICE: Final = {
    "there is no key": "look at the spelling; what may be missing is asked for as `x.?key.orValue(…)`",
    "there is no element": "guard with `size()`, or take `xs[?0].orValue(…)`",
    "division by zero": "guard it: `n == 0 ? 0 : m / n`",
    "remainder of a division by zero": "guard it: `n == 0 ? 0 : m % n`",
    "there are no decimals": "multiply instead: `price * 100 < budget * 98`",
    "there are no timestamps": "the market's time is `tick`, a number",
    "there are no durations": "the market's time is `tick`, a number",
    "there are no unsigned": "drop the `u`",
    "there is no `matches`": "use `==`, `startsWith`, `endsWith` or `contains`",
    "there is no `size` of a text": "compare with `''`, or look for numbers in an act's `figures`",
    "a list made from a map": "write `.sort()` behind it, or go through `initial`, `final` or `known`",
    "no draw from": "the lower bound comes first: `draw('price', 80, 120)`",
    "more than 10,000 loop steps": "go through fewer elements, or through one list at a time",
    "an optional value": "unwrap it: `.orValue(…)`",
}
