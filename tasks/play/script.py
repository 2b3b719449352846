"""A scripted counterparty: on an act that reaches it, the first rule that holds answers.

    act heard ─► on? ─► first rule whose `when` holds ─► do, formed ─► the answer, or silence

It stores nothing: what it remembers is what it did and heard. A rule in error
is silent for that act, and said so.

Source: the task format, `[script.P]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ...scorers.cel import activation
from ..format.acts import first_that_holds
from ..format.values import Unformed

if TYPE_CHECKING:
    from ...scorers.acts import Watch
    from ..format.acts import Formed
    from ..format.task import Script

Json = Any
START = "start"


class Silence(NamedTuple):
    """A rule in error: where in the file, why, and at the act of which record (None at the start)."""

    place: str
    text: str
    seq: int | None


class Counterparty:
    """A scripted party of one run."""

    def __init__(
        self, party: str, script: Script, watch: Watch, mandate: Mapping[str, Json], case: Mapping[str, Json]
    ) -> None:
        self.party = party
        self.watch = watch
        self.silences: list[Silence] = []
        self._script = script
        self._place = ""  # of the act that was formed last
        self._heard: int | None = None  # the record of the act that it answers
        self._fixed = {"case": case, "mandate": mandate, "me": party}

    def answer(self, message: Mapping[str, Json] | None, tick: int) -> Formed | None:
        """The answer to an act that reached the party, or to the start (None); None for silence."""
        kind = START if message is None else message["kind"]
        self._heard = None if message is None else message["seq"]
        if kind not in self._script.on:
            return None
        watch = self.watch
        held = activation(
            {**self._fixed, **watch.groups, "known": watch.known, "tick": tick, "message": message},
            self._script.asked,
        )
        try:
            for rule in self._script.rules:
                fits = rule.on is None or kind in rule.on
                if fits and (rule.when is None or rule.when.holds(held)):
                    self._place = f"{rule.place}.do"
                    return first_that_holds(rule.do, held)
        except Unformed as error:
            self.silences.append(Silence(error.place, error.text, self._heard))
        return None

    def take_back(self, why: str) -> None:
        """Is silent instead of the last answer, which can't be sent."""
        self.silences.append(Silence(self._place, why, self._heard))
