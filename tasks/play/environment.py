"""What of a run can't be made again: the code and the interpreter that it was played with.

    code = SHA-256 over the canonical list of [module, SHA-256 of its source], of every module that decides

Kept beside a run as a signed note. A changed module is no fault of a run: its
rules are chosen by the world's version, and verifying runs them again.

Source: design section 2, environment note; spec/commerce.md A5, case 10.
"""

from __future__ import annotations

import platform
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec

from ...protocol.canonical import digest, encode
from .. import VERSION

_HEAD = "tollbook.environment/1"
ROOMS = ("protocol", "ledger", "scorers", "tasks")


def environment_note(root: str) -> str:
    """The text of the note of the run with this root, to be signed."""
    return f"{_HEAD}\n{encode({**_environment(), 'root': root}).decode()}\n"


@cache
def _environment() -> dict[str, str]:
    return {
        "code": code_digest(),
        "implementation": platform.python_implementation(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "system": platform.system(),
        "tollbook": VERSION,
    }


@cache
def code_digest() -> str:
    """The digest of every module of the four rooms, in hex."""
    return digest(modules())


def modules() -> list[list[str]]:
    """Every module of the four rooms, as [path, digest of its source]."""
    found: list[list[str]] = []
    for room in ROOMS:
        found += _modules(files(f"tollbook.{room}"), room)
    return sorted(found)


def code_of(text: str) -> str | None:
    """The code digest that a note, or its text, states; None where it is of no environment."""
    head, _, rest = text.partition("\n")
    document, _, _ = rest.partition("\n")
    if head != _HEAD:
        return None
    try:
        return msgspec.json.decode(document, type=_Stated).code
    except msgspec.DecodeError:
        return None


class _Stated(msgspec.Struct):
    """What is read of a note again."""

    code: str


def _modules(folder: Traversable, name: str) -> list[list[str]]:
    found: list[list[str]] = []
    for each in folder.iterdir():
        if each.is_dir():
            found += _modules(each, f"{name}/{each.name}")
        elif each.name.endswith((".py", ".sql")):
            found.append([f"{name}/{each.name}", sha256(each.read_bytes()).hexdigest()])
    return found
