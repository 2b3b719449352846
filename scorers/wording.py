"""What the CEL compiler says of an expression, in the words of whoever wrote it.

    found no matching overload for '_+_' applied to '(int, string)'  →  `+` doesn't go with a number …
    Syntax error: extraneous input '_900' expecting <EOF>            →  `9_900` has a `_`, …

The compiler may say several things at once, and quotes the line of each: one is
chosen, and the quoted line tells what stands before and after it. What isn't
known here keeps the runtime's own words.

Not here: an expression that compiles and gives no value (`failures`); what one
may hold (`profile`); which fields there are (`schema`).

Source: cel-expr-python 0.1.3, whose messages were tried one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

_ERROR = re.compile(r"ERROR: <input>:(\d+):(\d+): ([^\n]*)(?:\n \| ([^\n]*))?")
STATUS = re.compile(r"^(?:[A-Z_]+: )+")
NOISE = re.compile(r" \[[A-Z_]+\]$| \(in container ''\)$")

_KINDS: Final = {
    "bool": "true or false",
    "dyn": "a value",
    "int": "a number",
    "int64": "a number",
    "null_type": "null",
    "string": "a text",
}
_OPERATOR = re.compile(r"_?(\W+)_")
_COMPARING: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})
_LOGIC: Final = {"and": "&&", "or": "||", "not": "!", "is": "==", "xor": "!="}
_CONSTANTS: Final = {"True": "true", "False": "false", "None": "null", "nil": "null", "undefined": "null"}
_MACROS: Final = ("all", "exists", "exists_one", "existsOne", "filter", "map", "sortBy", "size", "has")
_FUNCTIONS: Final = {
    "abs": "math.abs(n)",
    "any": "xs.exists(x, …)",
    "count": "xs.filter(x, …).size()",
    "every": "xs.all(x, …)",
    "find": "xs.filter(x, …)[0]",
    "includes": "x in xs",
    "len": "xs.size()",
    "length": "xs.size()",
    "max": "math.greatest(xs)",
    "min": "math.least(xs)",
    "some": "xs.exists(x, …)",
    "sorted": "xs.sort()",
}
"""What is called otherwise elsewhere."""

_DYN: Final = "put one of the values in `dyn(…)`, which has any kind: `{'n': dyn(1)}`, `[dyn(1)]`"
_TAIL = 24

_Told = tuple[str, str | None]
"""A problem, and what to try."""


class Said(NamedTuple):
    """A complaint of the compiler's: its line in the source, from 1 (0 for none), and what to try."""

    line: int
    text: str
    hint: str | None


class _Spot(NamedTuple):
    """A place of the source: the quoted line before and from there."""

    before: str
    after: str

    @property
    def is_call(self) -> bool:
        return self.after.startswith("(")


def refused(raw: str, seen: Sequence[str], why: Mapping[str, str]) -> Said:
    """What the compiler says of a place that sees the names ``seen``; ``why`` tells why not others."""
    if "recursion" in raw:
        hint = "nest less: `+` and `? :` in a row nest, `&&` and the elements of a list don't"
        return Said(0, "nesting is over the runtime's limit of 32", hint)
    found = _ERROR.findall(raw)
    if not found:
        return Said(0, _own(raw), None)
    said = [(int(line), NOISE.sub("", text), _spot(quoted, int(at))) for line, at, text, quoted in found]
    # A misspelt macro leaves its variable undeclared too: the call is what is wrong.
    calls = [each for each in said if each[1].startswith("undeclared") and each[2].is_call]
    line, text, spot = calls[0] if calls else said[0]
    problem, hint = _compiled(text, spot, seen, why)
    return Said(line, problem, hint)


def _own(raw: str) -> str:
    """The runtime's words as one of our lines."""
    text = NOISE.sub("", STATUS.sub("", raw)).removeprefix("Syntax error: ").removesuffix(".")
    return text[:1].lower() + text[1:]


def _spot(quoted: str, column: int) -> _Spot:
    return _Spot(quoted[: column - 1], quoted[column - 1 :])


def _compiled(text: str, spot: _Spot, seen: Sequence[str], why: Mapping[str, str]) -> _Told:
    if match := re.match(r"undeclared reference to '([^']*)'", text):
        return _uncalled(match[1], seen) if spot.is_call else _undeclared(match[1], seen, why)
    for form, told in _FORMS.items():
        if match := re.match(form, text, re.DOTALL):
            return told(match, spot)
    return _own(text), None


def _undeclared(path: str, seen: Sequence[str], why: Mapping[str, str]) -> tuple[str, str]:
    """A name that isn't declared; ``path`` may be a name with fields."""
    name = path.partition(".")[0]
    if name in why:
        return f"`{path}` can't be used here", f"{why[name]}; seen here are {_listed(seen)}"
    problem = f"there is no name `{name}` here"
    if path in _CONSTANTS:
        return problem, f"write `{_CONSTANTS[path]}`"
    close = get_close_matches(name, seen, 1)
    if close:
        return problem, f"did you mean `{close[0]}`?"
    return problem, f"if it is a text, write `'{name}'`; the names are {_listed(seen)}"


def _uncalled(name: str, seen: Sequence[str]) -> tuple[str, str]:
    """A function or macro that there isn't, or that is called in another way."""
    problem = f"there is no function `{name}` that is called like this"
    if name == "draw":
        return "`draw` can't be used here", "only case parameters, start rows and mandates draw from the seed"
    if name == "sum":
        return "there is no `sum`", "CEL adds no list up: compare element by element, or count with `size()`"
    if name in _FUNCTIONS:
        return problem, f"write `{_FUNCTIONS[name]}`"
    if name in seen:
        return problem, f"`{name}` is a name: use it without brackets"
    close = get_close_matches(name, _MACROS, 1)
    if close and close[0] == name:
        return problem, "look at its arguments" if name in ("size", "has") else f"write `xs.{name}(x, …)`"
    return problem, f"did you mean `{close[0]}`?" if close else "see what there is on the page on tasks"


def _unreadable(spot: _Spot) -> _Told:
    """A character that begins nothing in CEL."""
    sign = spot.after[:1]
    if sign == "=":
        if not spot.before.strip():
            return "an expression begins with `=`", "drop the `=`: this is an expression already"
        return "a single `=` compares nothing", "compare with `==`"
    if sign in ("'", '"'):
        hint = f"close it with `{sign}` on its line; a backslash in it is written twice"
        return f"a text that begins with `{_cut(spot.after)}` doesn't end", hint
    if sign == "#":
        return "`#` begins no comment here", "begin it with `//`"
    if sign == ";":
        return "a `;` ends nothing here", "write one expression; parts of it can have names under `let`"
    hint = "use the quotes `'…'`" if sign in ("\u201c", "\u201d", "\u2018", "\u2019", "`") else None
    return f"`{sign}` is no sign of CEL", hint or "outside of texts stand ASCII letters and operators"


def _unexpected(found: re.Match[str], spot: _Spot) -> _Told:
    """A word or sign where none of its kind can stand."""
    word, before = found[1], spot.before.strip()
    if word == "<EOF>":
        return _ended(found[2], spot)
    if re.fullmatch(r"_\d[\d_]*", word) and spot.before[-1:].isdigit():
        number = re.split(r"[^\d_]", spot.before)[-1] + word
        return f"`{number}` has a `_`, and numbers here have none", f"write {number.replace('_', '')}"
    if re.search(r"\bnot$", before, re.IGNORECASE):
        return "`not` is no operator here", "write `!`"
    if word.lower() in _LOGIC:
        return f"`{word}` is no operator here", f"write `{_LOGIC[word.lower()]}`"
    if not before:
        hint = "write `'a' in xs`" if word == "in" else "write a value first"
        return f"`{_cut(word)}` can't begin an expression", hint
    hint = _FOLLOWS.get(word, "an operator, a bracket or a quote is missing between them")
    return f"`{_cut(word)}` can't follow `{_tail(before)}`", hint


def _ended(expecting: str, spot: _Spot) -> _Told:
    """An expression that ends where more must follow."""
    before = spot.before.strip()
    if not before:
        return "there is no expression", "write one; the simplest is `true`"
    if expecting == "':'":
        return "a `?` without its `:`", "write `condition ? value : other value`"
    wanted = re.fullmatch(r"'([\])}])'|\{'([\])}])', .*\}", expecting)
    if wanted:
        return _unclosed(wanted[1] or wanted[2], "")
    return f"it ends after `{_tail(before)}`, where more must follow", "finish it, or drop its last operator"


_FOLLOWS: Final = {
    ")": "a bracket too many, or one that was never opened",
    "]": "a bracket too many, or one that was never opened",
    "}": "a bracket too many, or one that was never opened",
    ">": "other than is `!=`",
    ",": "a comma stands only in lists, maps and calls: join conditions with `&&`",
    ":": "a list has no slices by `:`: write `xs.slice(0, 2)`",
    "?": "write `x.?field.orValue(…)` for what may be missing",
}


def _unclosed(sign: str, at: str) -> _Told:
    opened = {")": "(", "]": "[", "}": "{"}.get(sign, sign)
    before = f", before `{_cut(at)}`" if at else ""
    return f"a `{opened}` without its `{sign}`{before}", "count the brackets"


def _unselectable(kind: str, spot: _Spot) -> _Told:
    """A field of what has no fields."""
    name = (re.match(r"\.\s*(\w+)", spot.after) or ("", ""))[1]
    what = _kind(kind)
    problem = f"{what} has no fields, and `{name}` is asked of one"
    if name in ("size", "length", "count", "len"):
        return problem, "write `.size()`"
    if kind.startswith("list"):
        hint = "take an element first: `xs[0]`, `xs.exists(x, …)`, `xs.filter(x, x.id == '…')`"
        return problem, hint
    return problem, "drop it"


def mismatch(function: str, arguments: str | None) -> _Told:
    """An operator or function, and values that it doesn't take; the runtime names neither always."""
    kinds = [_kind(each) for each in _split(arguments or "")]
    given = " and ".join(kinds)
    sign = _OPERATOR.fullmatch(function)
    if function == "_?_:_":
        return _branches(kinds)
    if function == "<jump_condition>":
        return "what stands before `?` is neither true nor false", "compare it: `x > 0 ? … : …`"
    if function == "<iter_range>":
        return "what is gone through is neither a list nor a map", None
    if function in ("_[_]", "_[?_]"):
        return f"`[…]` doesn't go with {given}" if given else "`[…]` doesn't go with what it is asked of", (
            "a list takes a number, `xs[0]`; a map a text, `m['key']`"
        )
    if function in ("@in", "in"):
        return "`in` looks in a list or a map" + (f", not in {kinds[-1]}" if kinds else ""), None
    if sign is None:
        return f"`{function}` doesn't take {given}" if given else f"`{function}` doesn't take this", (
            "write `x in xs`" if function == "contains" and kinds[:1] == ["a list"] else None
        )
    if sign[1] in ("&&", "||", "!"):
        return f"`{sign[1]}` takes true or false only", "compare: `x != 0`, `xs.size() > 0`"
    hint = "compare values of one kind" if sign[1] in _COMPARING else None
    if sign[1] == "+" and "a text" in kinds and "a number" in kinds:
        hint = "make the number a text with `string(n)`"
    elif sign[1] == "+" and kinds == ["a list", "a list"]:
        given, hint = "two lists that hold values of two kinds", _DYN
    return f"`{sign[1]}` doesn't go with {given}" if given else f"`{sign[1]}` doesn't go with these", hint


def _branches(kinds: Sequence[str]) -> tuple[str, str]:
    if len(kinds) != 3 or kinds[0] not in ("true or false", "a value"):
        return "what stands before `?` is neither true nor false", "compare it: `x > 0 ? … : …`"
    if kinds[1] == kinds[2]:
        return f"the branches of `? :` are {kinds[1]} and {kinds[2]} that hold values of two kinds", _DYN
    problem = f"the branches of `? :` are of two kinds, {kinds[1]} and {kinds[2]}"
    if set(kinds[1:]) == {"a list", "true or false"}:
        return problem, "write `[0, 1]` for false and `[1, 1]` for true"
    return problem, "let both give the same kind of value"


def _split(arguments: str) -> list[str]:
    """The types between commas that stand in no brackets."""
    parts = [""]
    depth = 0
    for char in arguments:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def _kind(name: str) -> str:
    if name.startswith("list"):
        return "a list"
    if name.startswith("map"):
        return "a map"
    return _KINDS.get(name, f"`{name}`")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) or "literals alone"


def _tail(before: str) -> str:
    text = before.strip()
    return text if len(text) <= _TAIL else f"…{text[-_TAIL:]}"


def _cut(text: str) -> str:
    return text if len(text) <= _TAIL else f"{text[:_TAIL]}…"


def _plain(problem: str, hint: str | None = None) -> Callable[[re.Match[str], _Spot], _Told]:
    """Tells so, with what the form's first group found in it."""

    def told(found: re.Match[str], _spot: _Spot) -> _Told:
        first = found[1] if found.re.groups else ""
        return problem.format(first), None if hint is None else hint.format(first)

    return told


_FORMS: Final[Mapping[str, Callable[[re.Match[str], _Spot], _Told]]] = {
    r"found no matching overload for '([^']*)' applied to '\((.*)\)'": lambda it, _: mismatch(it[1], it[2]),
    r"expression of type '(.*)' cannot be the operand of a select": lambda it, at: _unselectable(it[1], at),
    r"Syntax error: (?:mismatched|extraneous) input '(.*)' expecting (.*)": _unexpected,
    r"Syntax error: missing '(.)' at '(.*)'": lambda it, _: _unclosed(it[1], it[2].removeprefix("<EOF>")),
    r"Syntax error: no viable alternative at input '\.([a-z]+)'": _plain(
        "`{}` can't be a field after a point", "write `x['{}']`"
    ),
    r"Syntax error: no viable alternative at input '(.*)'": _plain("`{}` can't be read"),
    "Syntax error: token recognition": lambda _, at: _unreadable(at),
    r"reserved identifier: (\w+)": _plain("`{}` is a word of CEL's own", "only a field may have it: `x.{}`"),
    r"(\w+)\(\) variable name must be a simple identifier": _plain(
        "`{}` takes a name first, for the element", "write `xs.{}(x, …)`"
    ),
    r"has\(\) argument": _plain("`has` asks for a field", "write `has(x.field)`"),
    "invalid int literal": _plain("a number beyond 64 bits", "write a smaller one"),
}
"""What the compiler says, by form, and how it is told."""
