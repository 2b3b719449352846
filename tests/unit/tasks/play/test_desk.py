"""A record is compared with what is due in everything that the schedule gives."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tollbook.ledger.audited import Deed
from tollbook.tasks.format.task import load_task
from tollbook.tasks.play.desk import Departure, DryDesk, RecordedDesk
from tollbook.tasks.play.play import Play
from tollbook.tasks.play.policies import PolicyAgent
from tollbook.tasks.shelf import find_task

TASK = load_task(find_task("t4.buyer_zopa").text)
SCENE = TASK.scenes.stage("linear", TASK.scenes.seed("linear", 0))


@pytest.fixture(scope="module")
def deeds() -> list[Deed]:
    desk = DryDesk(TASK.world, TASK.roles, SCENE.facts)
    Play(TASK, SCENE, desk, PolicyAgent("reference", TASK.reference)).run()
    return desk.deeds


def replayed(deeds: list[Deed]) -> None:
    desk = RecordedDesk(TASK.world, TASK.roles, SCENE.facts, deeds)
    Play(TASK, SCENE, desk, PolicyAgent("reference", TASK.reference)).run()
    assert [] == list(desk.left)


def test_a_record_is_what_was_said(deeds: list[Deed]) -> None:
    replayed(deeds)


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("conduct.to", {"to": "operator"}),
        ("conduct.reply_to", {"reply_to": None}),
        ("conduct.key", {"key": "again"}),
        ("conduct.order", {"sender": "operator"}),
    ],
)
def test_what_differs_is_a_departure(deeds: list[Deed], code: str, change: dict[str, Any]) -> None:
    place = next(at for at, deed in enumerate(deeds) if deed.message.sender == "merchant")
    changed = list(deeds)
    message = msgspec.structs.replace(deeds[place].message, **change)
    changed[place] = deeds[place]._replace(message=message)
    with pytest.raises(Departure) as found:
        replayed(changed)
    assert (code, deeds[place].seq) == (found.value.code, found.value.seq)


def test_a_text_that_is_withheld_is_not_compared_and_said(deeds: list[Deed]) -> None:
    place = next(at for at, deed in enumerate(deeds) if deed.message.sender == "merchant")
    bare = [*deeds[:place], deeds[place]._replace(texts={}), *deeds[place + 1 :]]
    desk = RecordedDesk(TASK.world, TASK.roles, SCENE.facts, bare)
    Play(TASK, SCENE, desk, PolicyAgent("reference", TASK.reference)).run()
    assert desk.withheld
