"""Which trial comes next: the ledger gives them out, by task file, case and agents.

Source: design section 2, "Keys and the secret".
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from ...protocol.bodies import Open
from .baselines import company
from .recorder import seats_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...ledger.store import Store
    from ..format.task import Task
    from .agent import Seated

_OPEN = msgspec.json.Decoder(Open)


def next_trials(
    store: Store, task: Task, agent: Seated, others: Mapping[str, Seated] | None = None
) -> Counter[str]:
    """The next unused trial of each case of a task, played by this agent, among these others."""
    found = Counter[str]()
    agents: dict[str, Seated] = {**company(task, ""), **(others or {}), task.actor: agent}
    seats = [(seat.id, seat.agent) for seat in seats_of(task, agents)]
    for body in store.opens(task.digest):
        opened = _OPEN.decode(body)
        if opened.task is not None and [(party.id, party.agent) for party in opened.parties] == seats:
            case = opened.task.case
            found[case] = max(found[case], opened.trial + 1)
    return found
