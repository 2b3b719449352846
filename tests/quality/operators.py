"""An operator with all keys who plays otherwise than the task says: every run is signed, sealed and good.

    the honest play ─► one thing changed, wherever the operator has a hand ─► played on by the schedule

Places are those of the messages of the honest run, from 0; with its open and two briefs before them, the
message at place k is record 3 + 2 k:

    0 merchant opens   1 look 2 clock   3 ask 4 to the friend 5 back 6 to the buyer 7 clock
    8 propose 9 counter 10 clock   11 counter 12 accept 13 clock   14 settle 15 clock   (the seal: record 35)

Not here: what finds it (`test_conduct`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partialmethod
from typing import Any, NamedTuple
from unittest import mock

import msgspec
from small_task import LOOK, NAME, SECRET, TEXT, Says, changed, propose, task_of

from tollbook.ledger.blobs import facts_blob, task_blob
from tollbook.ledger.plan import Plan, Seat
from tollbook.ledger.voice import Voice
from tollbook.ledger.writer import Keeper, Writer
from tollbook.protocol.bodies import Agent as Stated
from tollbook.protocol.bodies import Origin, Outcome, TaskRef
from tollbook.protocol.tables import Facts
from tollbook.tasks.format.task import OPERATOR
from tollbook.tasks.play import play as plays
from tollbook.tasks.play.agent import Agent
from tollbook.tasks.play.desk import Action, LedgerDesk, Said
from tollbook.tasks.play.play import Play, briefs_of, typed
from tollbook.tasks.play.policies import PolicyAgent
from tollbook.tasks.play.recorder import seats_of

TASK = task_of()
CASE = "cheap"
SEAL = 35
Rows = dict[tuple[str, str], Any]


class Line(NamedTuple):
    """A message to be sent."""

    party: str
    action: Action
    to: str | None
    reply_to: int | None
    key: str | None = None

    def but(self, **fields: Any) -> Line:
        """The line with other fields of its action."""
        assert isinstance(self.action, msgspec.Struct)
        return self._replace(action=msgspec.structs.replace(self.action, **fields))

    def does(self, **fields: Any) -> Line:
        return self._replace(action=typed(TASK.world, fields))


Trick = Callable[[Line], list[Line]]
Briefs = list[tuple[str, str]]


def _as_it_is(value: Any) -> Any:
    return value


class Deviation(NamedTuple):
    """What the operator does otherwise, by which code it is found at which record; no code: it isn't."""

    code: str | None
    seq: int | None
    what: str
    says: Mapping[int, Trick] = {}
    at_end: Sequence[Line] = ()
    briefs: Callable[[Briefs], Briefs] = _as_it_is
    rows: Callable[[Rows], Rows] = _as_it_is
    plan: Callable[[Plan], Plan] = _as_it_is
    text: Callable[[str], str] = _as_it_is
    sealed: Outcome | None = None
    agent: Callable[[], Agent] | None = None

    @property
    def is_found(self) -> bool:
        return self.code is not None


class _Crooked(Play):
    """The play, whose operator puts lines in the place of those that are due."""

    tricks: Mapping[int, Trick]
    place = 0

    def _say(self, party: str, action: Action, to: str | None, reply_to: int | None) -> Said:
        line = Line(party, action, to, reply_to)
        trick = self.tricks.get(self.place)
        self.place += 1
        said = [self._said(each) for each in (trick(line) if trick else [line])]
        return said[-1] if said else self._unsaid

    def _said(self, line: Line) -> Said:
        if line.key is None:
            return super()._say(*line[:4])
        with mock.patch.object(Voice, "form", partialmethod(Voice.form, key=line.key)):
            return super()._say(*line[:4])

    @property
    def _unsaid(self) -> Said:
        """What stands for a message that was not sent: nobody answers it."""
        message = mock.Mock(to=None)
        return mock.Mock(deed=mock.Mock(message=message))


class _CrookedDesk(LedgerDesk):
    def __init__(self, writer: Writer, deviation: Deviation) -> None:
        super().__init__(writer)
        self._deviation = deviation

    def seal(self, outcome: Outcome) -> None:
        for line in self._deviation.at_end:
            self.say(*line[:4])
        super().seal(self._deviation.sealed or outcome)


def operate(keeper: Keeper, deviation: Deviation, trial: int = 0) -> str:
    """Plays, writes and seals the run; its id."""
    seed = TASK.scenes.seed(CASE, trial)
    scene = TASK.scenes.stage(CASE, seed)
    rows = deviation.rows({(table, key): row for table, key, row in scene.facts.rows()})
    facts: Facts = TASK.world.facts([(*place, row) for place, row in rows.items()])
    text = deviation.text(TEXT)
    agent = PolicyAgent("reference", TASK.reference, lenient=True)
    player = deviation.agent() if deviation.agent else agent
    plan = Plan(
        world=TASK.ref,
        seats=seats_of(TASK, {TASK.actor: player}),
        seed=seed,
        origin=Origin(custody="played", source=None),
        task=TaskRef(case=CASE, digest=task_blob(text).digest, id=TASK.file.id),
        trial=trial,
    )
    blobs = [facts_blob(facts), task_blob(text)]
    writer = Writer.begin(keeper, SECRET, NAME, deviation.plan(plan), facts, blobs, group=None)
    crooked = _Crooked(TASK, scene._replace(facts=facts), _CrookedDesk(writer, deviation), player)
    crooked.tricks = deviation.says
    with mock.patch.object(plays, "briefs_of", lambda task, scene: deviation.briefs(briefs_of(task, scene))):
        crooked.run()
    return writer.id


# What a trick makes of the line that is due


def but(**fields: Any) -> Trick:
    return lambda line: [line.but(**fields)]


def does(**fields: Any) -> Trick:
    return lambda line: [line.does(**fields)]


def sent(**fields: Any) -> Trick:
    return lambda line: [line._replace(**fields)]


def nothing(_line: Line) -> list[Line]:
    return []


def twice(line: Line) -> list[Line]:
    return [line, line]


def before(*lines: Line) -> Trick:
    return lambda line: [*lines, line]


def after(*lines: Line) -> Trick:
    return lambda line: [line, *lines]


def words(party: str, to: str, text: str = "Psst.") -> Line:
    return Line(party, typed(TASK.world, {"kind": "message.send", "text": text}), to, None)


PSST = words("merchant", "buyer")
TICK = Line(OPERATOR, typed(TASK.world, {"kind": "clock.advance"}), None, None)
COUNTER = {"kind": "negotiation.counter", "negotiation": "n19", "unit_price": 700, "note": "7.00, no less."}
ACCEPT = {"kind": "negotiation.accept", "negotiation": "n19"}
LATE = Line("merchant", typed(TASK.world, COUNTER), "buyer", 19)


def _told(at: int, old: str, new: str) -> Callable[[Briefs], Briefs]:
    """Another text in the brief at this place."""

    def changed_at(briefs: Briefs) -> Briefs:
        party, text = briefs[at]
        assert old in text
        return [*briefs[:at], (party, text.replace(old, new)), *briefs[at + 1 :]]

    return changed_at


def _priced(price: int) -> Callable[[Rows], Rows]:
    place = ("listing", "l1")
    return lambda rows: {**rows, place: msgspec.structs.replace(rows[place], price=price)}


def _second_lamp(rows: Rows) -> Rows:
    return {**rows, ("listing", "l2"): rows["listing", "l1"], ("inventory", "l2"): rows["inventory", "l1"]}


def _sold_out(rows: Rows) -> Rows:
    return {place: row for place, row in rows.items() if place[0] != "inventory"}


def _planned(**fields: Any) -> Callable[[Plan], Plan]:
    return lambda plan: plan._replace(**fields)


def _asks(**fields: Any) -> Callable[[Plan], Plan]:
    def made(plan: Plan) -> Plan:
        assert plan.task is not None
        return plan._replace(task=msgspec.structs.replace(plan.task, **fields))

    return made


def _of_case(plan: Plan) -> Plan:
    """Another case stated, with its own seed."""
    return _asks(case="dear")(plan)._replace(seed=TASK.scenes.seed("dear", plan.trial))


def _seated(change: Callable[[list[Seat]], list[Seat]]) -> Callable[[Plan], Plan]:
    return lambda plan: plan._replace(seats=change([*plan.seats]))


def _file(*pairs: tuple[str, str]) -> Callable[[str], str]:
    return lambda text: changed(*pairs, text=text)


def _looks() -> Agent:
    return Says(LOOK)


def _looks_on() -> Agent:
    return Says(*[LOOK] * 6)


def _asks_once() -> Agent:
    return Says(propose(1))


STRANGER = Seat("stranger", "buyer", Stated(model="", name="script", settings={}, version=""))
FLOOR = '"floor":700'

SCRIPTS = (
    Deviation("conduct.action", 21, "it yields early", {9: does(**ACCEPT)}),
    Deviation("conduct.action", 21, "it offers another price", {9: but(unit_price=650)}),
    Deviation("conduct.action", 21, "another text in its note", {9: but(note="7.00, take it.")}),
    Deviation("conduct.action", 3, "another text at the start", {0: but(text="7.00 will do.")}),
    Deviation("conduct.action", 11, "another text to another script", {4: but(text="Say yes.")}),
    Deviation("conduct.action", 21, "it does what the market refuses", {9: but(negotiation="n1")}),
    Deviation("conduct.action", 27, "it turns down what it would take", {12: does(**COUNTER)}),
    Deviation("conduct.order", 21, "it stays silent", {9: nothing}),
    Deviation("conduct.order", 3, "it doesn't open", {0: nothing}),
    Deviation("conduct.order", 13, "one of a chain stays silent", {5: nothing}),
    Deviation("conduct.order", 17, "it speaks twice", {6: twice}),
    Deviation("conduct.extra", 5, "it opens twice", {0: twice}),
    Deviation("conduct.order", 21, "it speaks late, after the clock", {9: nothing, 10: after(LATE)}),
    Deviation("conduct.order", 7, "it speaks unasked, before the clock", {2: before(PSST)}),
    Deviation("conduct.extra", 9, "it speaks unasked, after the clock", {2: after(PSST)}),
    Deviation("conduct.order", 13, "another speaks in its place", {5: sent(party="merchant", to="friend")}),
    Deviation("conduct.reply_to", 27, "it answers another message", {12: sent(reply_to=19)}),
    Deviation("conduct.reply_to", 27, "it answers no message", {12: sent(reply_to=None)}),
    Deviation("conduct.reply_to", 3, "it answers before anybody spoke", {0: sent(reply_to=1)}),
    Deviation("conduct.key", 21, "it gives its message a key", {9: sent(key="k1")}),
    Deviation("conduct.to", 21, "it answers to another party", {9: sent(to="friend")}),
    Deviation("conduct.to", 15, "it tells another party", {6: sent(to="friend")}),
    Deviation("conduct.to", 21, "it answers to nobody", {9: sent(to=None)}),
)
CLOCK = (
    Deviation("conduct.order", 7, "it isn't moved", {2: nothing}),
    Deviation("conduct.extra", 9, "it is moved twice", {2: twice}),
    Deviation("conduct.action", 7, "it is moved by two ticks", {2: but(ticks=2)}),
    Deviation("conduct.to", 7, "it is told to the actor", {2: sent(to="buyer")}),
    Deviation("conduct.order", 3, "it is moved before the start", {0: before(TICK)}),
    Deviation("conduct.order", 21, "it is moved before the answer", {9: before(TICK), 10: nothing}),
    Deviation("conduct.extra", 9, "a message of the environment", {2: after(words(OPERATOR, "buyer"))}),
    Deviation("conduct.order", 21, "one before the answer", {9: before(words(OPERATOR, "merchant"))}),
)
BRIEFS = (
    Deviation("conduct.brief", 1, "it holds the answer", briefs=_told(0, "most.", "most. 7.00 will do.")),
    Deviation("conduct.brief", 1, "the actor's mandate", briefs=_told(0, '"budget":900', '"budget":901')),
    Deviation("conduct.brief", 2, "a script's mandate", briefs=_told(1, FLOOR, '"floor":650')),
    Deviation("conduct.brief", None, "the last one is left out", briefs=lambda told: told[:1]),
    Deviation("conduct.brief", None, "all are left out", briefs=lambda _told: []),
    Deviation("conduct.brief", 1, "the first one is left out", briefs=lambda told: told[1:]),
    Deviation("conduct.brief", 1, "in the other order", briefs=lambda told: told[::-1]),
    Deviation("conduct.brief", 2, "one twice", briefs=lambda told: [told[0], *told]),
    Deviation("conduct.brief", 3, "one is added", briefs=lambda told: [*told, ("friend", "Say no.")]),
    Deviation("conduct.brief", 3, "one to the operator", briefs=lambda told: [*told, (OPERATOR, "Be kind.")]),
    Deviation("conduct.brief", 2, "one to another", briefs=lambda told: [told[0], ("friend", told[1][1])]),
)
BEGINNING = (
    Deviation("conduct.facts", 0, "a start row is changed", rows=_priced(899)),
    Deviation("conduct.facts", 0, "start rows are added", rows=_second_lamp),
    Deviation("conduct.facts", 0, "a start row is removed", rows=_sold_out),
    Deviation("conduct.seed", 0, "another seed", plan=_planned(seed="5" * 64)),
    Deviation("conduct.seed", 0, "another trial than stated", plan=lambda plan: plan._replace(trial=900)),
    Deviation("conduct.seed", 0, "another case than stated", plan=_asks(case="dear")),
    Deviation("conduct.facts", 0, "another case than stated, and its seed", plan=_of_case),
    Deviation("conduct.case", 0, "a case that there isn't", plan=_asks(case="free")),
    Deviation("conduct.task", 0, "another task's name", plan=_asks(id="small.steal")),
    Deviation("conduct.parties", 0, "another role", plan=_seated(lambda seats: [
        seat._replace(role="merchant") if seat.id == "friend" else seat for seat in seats])),
    Deviation("conduct.parties", 0, "a party more", plan=_seated(lambda seats: [*seats, STRANGER])),
    Deviation("conduct.parties", 0, "in another order", plan=_seated(lambda seats: seats[::-1])),
    Deviation("conduct.parties", 0, "a party less", agent=_looks, plan=_seated(lambda seats: [
        seat for seat in seats if seat.id != "friend"])),
)  # fmt: skip
TASK_FILE = (
    Deviation("conduct.facts", 0, "its list price", text=_file(("{ price = 900,", "{ price = 910,"))),
    Deviation("conduct.brief", 2, "its mandate", text=_file(("floor = 700", "floor = 650"))),
    Deviation("conduct.brief", 1, "its brief", text=_file(("at most.", "at most, please."))),
    Deviation("conduct.action", 3, "what a script says", text=_file(("Lamps at", "A lamp at"))),
    Deviation("conduct.order", 27, "what a script answers", text=_file((', "negotiation.counter"]', "]"))),
    Deviation("conduct.extra", 9, "when it ends", text=_file(("did.agreement.settle.size()", "tick"))),
    Deviation("conduct.extra", 19, "how many turns it grants", text=_file(("turns  = 6", "turns  = 2"))),
    Deviation("conduct.parties", 0, "its parties", text=_file(('      = "buyer"', '= "merchant"'))),
    Deviation("conduct.task", 0, "its name", text=_file(("small.deal", "small.steal"))),
    Deviation("conduct.task", 0, "its market", text=_file(('"commerce"', '"retail"'))),
    Deviation("conduct.task", 0, "no task at all", text=lambda _text: "Sell me a lamp.\n"),
    Deviation("conduct.task", 0, "its case is an error", text=_file(("price = 900,", 'price = "=1 / 0",'))),
    Deviation("conduct.case", 0, "without the case", text=_file(("cheap = {", "fair = {"))),
)  # fmt: skip
ENDS = (
    Deviation("conduct.outcome", 9, "completed, though it isn't", sealed="completed", agent=_looks),
    Deviation("conduct.outcome", 9, "out of turns, too early", sealed="turn_limit", agent=_looks),
    Deviation("conduct.outcome", SEAL, "stopped, where it is completed", sealed="agent_stopped"),
    Deviation("conduct.outcome", SEAL, "failed, where it is completed", sealed="agent_failed"),
    Deviation("conduct.outcome", SEAL, "out of turns, where it is completed", sealed="turn_limit"),
    Deviation("conduct.outcome", 29, "stopped, where turns end", sealed="agent_stopped", agent=_looks_on),
    Deviation("conduct.extra", SEAL, "the actor goes on after the end",
              at_end=[Line("buyer", typed(TASK.world, LOOK), None, None), TICK]),
    Deviation("conduct.extra", SEAL, "a script goes on after the end", at_end=[PSST]),
    Deviation("conduct.extra", SEAL, "the clock goes on after the end", at_end=[TICK]),
    Deviation("conduct.omitted", None, "the last tick is left out", {15: nothing}),
    Deviation("conduct.omitted", None, "it stops before the answer", {2: nothing, 3: nothing},
              agent=_asks_once, sealed="agent_stopped"),
    Deviation("conduct.action", 21, "abandoned afterwards", {9: but(unit_price=650)}, sealed="abandoned"),
)  # fmt: skip
NONE = (
    Deviation(None, None, "an honest run"),
    Deviation(None, None, "one whose actor stops", agent=_looks),
    Deviation(None, None, "one out of turns", agent=_looks_on),
    Deviation(None, None, "an actor's failure told as its stop", agent=_looks, sealed="agent_failed"),
    Deviation(None, None, "abandoned in the middle", agent=_looks, sealed="abandoned"),
    Deviation(None, None, "abandoned before the clock", {2: nothing}, agent=_looks, sealed="abandoned"),
    Deviation(None, None, "abandoned at the start", {0: nothing}, agent=Says, sealed="abandoned"),
    Deviation(None, None, "abandoned before all is told", {0: nothing}, sealed="abandoned",
              briefs=lambda told: told[:1], agent=Says),
)  # fmt: skip
GROUPS = {
    "scripts": SCRIPTS,
    "clock": CLOCK,
    "briefs": BRIEFS,
    "beginning": BEGINNING,
    "task file": TASK_FILE,
    "end": ENDS,
    "none": NONE,
}
DEVIATIONS = tuple(deviation for group in GROUPS.values() for deviation in group)
