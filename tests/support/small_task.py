"""A small task for tests of playing: a buyer is evaluated, a merchant opens and bargains, a friend is asked.

Its file is small_deal.toml. Its reference's run has every kind of message that a schedule gives: one at the
start, a chain of answers through two scripts, answers with and without a text, the clock after each turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, cast

from tollbook.ledger.store import Draft, Store
from tollbook.ledger.writer import Keeper
from tollbook.protocol.bodies import Agent as Stated
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.keys import key_text
from tollbook.tasks.format.task import Task, load_task
from tollbook.tasks.play.agent import Answer, Asked, Setup
from tollbook.tasks.play.lines import read_answer, turn_line
from tollbook.tasks.play.recorder import Ledger

SECRET = bytes(range(32))
NAME = "tollbook.local"

TEXT = Path(__file__).with_name("small_deal.toml").read_text(encoding="utf-8")


@cache
def task_of(text: str = TEXT) -> Task:
    return load_task(text)


class Memory:
    """A keeper that keeps nothing: a `Copy` before it does."""

    def add_run(
        self,
        run_id: str,
        records: Sequence[Draft],
        blobs: Iterable[tuple[str, Sequence[bytes]]],
        notes: Sequence[str] = (),
    ) -> int:
        del run_id, records, blobs, notes
        return 1

    def append(self, run: int, seq: int, records: Sequence[Draft], notes: Sequence[str] = ()) -> None:
        pass

    def refuse_known(self, run_id: str) -> None:
        pass

    def signed(self, run: int, seq: int) -> tuple[bytes, str | None]:
        raise AssertionError((run, seq))


@contextmanager
def store_at(path: Path) -> Iterator[Store]:
    """A ledger at a path, whose writes nobody waits for: no power is cut here."""
    with Store.write(path, NAME, key_text(ledger_key(SECRET).public)) as store:
        store._connection.execute("PRAGMA synchronous = OFF")  # noqa: SLF001
        yield store


def ledger_on(keeper: Keeper | None = None) -> Ledger:
    return Ledger(Memory() if keeper is None else keeper, SECRET, NAME)


class Says:
    """An agent that gives these answers, acts or whole ones, and then stops; it keeps what it was asked.

    From ``outside`` what it is given and gives is kept, as of a program; an answer may be a line then.
    """

    def __init__(
        self, *answers: dict[str, Any] | str | Answer, name: str = "says", outside: bool = False
    ) -> None:
        self.given: str | None = None
        self.stated = Stated(model="", name=name, settings={}, version="")
        self.outside = outside
        self.asked: list[Asked] = []
        self.closed = 0
        self._answers = list(answers)

    def begin(self, setup: Setup) -> None:
        self.setup = setup

    def act(self, asked: Asked) -> Answer:
        self.asked.append(asked._replace(inbox=list(asked.inbox), watch=cast("Any", None)))
        if self.outside:
            self.given = turn_line(asked, len(self.asked))
        answer = self._answers.pop(0) if self._answers else '{"done":true}'
        if isinstance(answer, dict):
            answer = json.dumps({"act": answer})
        if isinstance(answer, str):
            said = read_answer(answer.encode())
            is_over = said is not None and said.act is None
            answer = Answer(said and said.act, "agent_stopped" if is_over else None, answer)
        return answer if self.outside else answer._replace(gave=None)

    def close(self) -> None:
        self.closed += 1


def changed(*pairs: tuple[str, str], text: str = TEXT) -> str:
    """The task's text with one thing after the other put in another's place."""
    for old, new in pairs:
        assert 1 == text.count(old), old
        text = text.replace(old, new)
    return text


def kinds_of(records: Sequence[Draft]) -> str:
    """The kinds of records, a letter each: `obbmdmd…s`."""
    return "".join(record.kind[0] for record in records)


LOOK = {"kind": "listing.get", "listing": "l1"}
ASK = {"kind": "message.send", "to": "merchant", "text": "May I bargain?"}


def propose(unit_price: int, note: str = "") -> dict[str, Any]:
    return {
        "kind": "negotiation.propose",
        "to": "merchant",
        "listing": "l1",
        "quantity": 1,
        "unit_price": unit_price,
        "note": note,
    }
