"""Built-in tasks played under a known secret, their environment notes the same on every machine.

`Told` is an agent that counts as outside: it does what another does, and its turns are recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from tollbook.ledger.audit import Audit
from tollbook.ledger.store import Store
from tollbook.protocol.bodies import Usage
from tollbook.protocol.canonical import encode
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.keys import key_text
from tollbook.tasks.format.task import Task, load_task
from tollbook.tasks.play import desk
from tollbook.tasks.play.agent import Agent, Answer, Asked, Setup
from tollbook.tasks.play.casting import Part, cast
from tollbook.tasks.play.lines import turn_line
from tollbook.tasks.play.recorder import Ledger, record
from tollbook.tasks.shelf import find_task

SECRET = bytes(range(32))
WORKED = ("t4.buyer_zopa", "t4.merchant_zopa", "t7.merchant_refund")
"""Three of the built-in tasks, for what need not be tried with all: compiling all takes seconds."""


class Told:
    """Does what another agent does, and has its turns recorded, as a program's are."""

    outside = True

    def __init__(self, inner: Agent) -> None:
        self.stated = inner.stated
        self.given: str | None = None
        self._inner = inner
        self._number = 0

    def begin(self, setup: Setup) -> None:
        self._inner.begin(setup)

    def act(self, asked: Asked) -> Answer:
        self._number += 1
        self.given = turn_line(asked, self._number)
        answer = self._inner.act(asked)
        gave = encode({"act": plain(answer.act)} if answer.act else {"done": True}).decode()
        return answer._replace(gave=gave, usage=Usage(cost_micros=7, input_tokens=None, output_tokens=20))

    def close(self) -> None:
        self._inner.close()


def plain(act: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in act.items() if value is not None}


@cache
def builtin(word: str) -> Task:
    """A built-in task."""
    return load_task(find_task(word).text)


@contextmanager
def kept(path: Path, name: str) -> Iterator[Store]:
    """A ledger under the known secret, open for writing."""
    with Store.write(path, name, key_text(ledger_key(SECRET).public)) as store:
        yield store


def play(
    store: Store, word: str, case: str, agent: str = "reference", *, told: type[Told] | None = None
) -> Audit:
    """Plays the first trial of a case and keeps it; ``told`` has its agent count as outside."""
    task = builtin(word)
    player = cast(task, Part(agent))(task.scenes.seed(case, 0))
    return play_task(store, task, case, told(player) if told else player)


def play_task(store: Store, task: Task, case: str, player: Agent) -> Audit:
    """Plays the first trial of a case of any task and keeps it."""
    name, _key = store.identity()
    with mock.patch.object(desk, "environment_note", _note):
        recorded = record(Ledger(store, SECRET, name), task, case, 0, player)
    assert recorded.audit.findings == []
    return recorded.audit


def _note(root: str) -> str:
    fields = {"code": "0" * 64, "python": "3.11.0", "root": root}
    return f"tollbook.environment/1\n{encode(fields).decode()}\n"
