"""The whole market played at random through a run's door: every kind of act, by every role.

    a choice ─► an act, signed ─► the door ─► the rules ─► what holds of the rows, whatever the act was
    the run  ─► sealed ─► audited: each decision made again, and the rows that they come to

What holds is written down here anew, from the specification and not from the rules: the books, the stock, the
steps of each state machine, who may read which row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from market_readers import may_read
from small_run import NAME, SECRET, key_of, signed
from whole_market import (
    CHOICES,
    COMMERCE,
    FACTS,
    QUERIES,
    ROLES,
    STRICT_FACTS,
    WORLD,
    WRITES,
    Choice,
    formed,
    rows_of,
)

from tollbook.ledger.audit import Auditor
from tollbook.ledger.blobs import Blob, Shelf, facts_blob
from tollbook.ledger.plan import Plan, Seat
from tollbook.ledger.records import Stored
from tollbook.ledger.store import Draft
from tollbook.ledger.writer import Writer
from tollbook.protocol.bodies import Agent, Message, Origin
from tollbook.protocol.commerce.world import MACHINES, REFUSALS
from tollbook.protocol.engine import Ruling, read_action
from tollbook.protocol.tables import NO_CHANGE

Rows = dict[str, dict[str, Any]]

STEPS = {
    "order": "proposed: accepted cancelled. accepted: settled partially_settled backordered cancelled."
    " settled: dispatched cancelled. partially_settled: settled cancelled."
    " backordered: settled partially_settled cancelled. dispatched: delivered refunded."
    " delivered: returned refunded exchanged. returned: refunded exchanged.",
    "payment": "authorized: captured voided. captured: partially_refunded refunded."
    " partially_refunded: refunded.",
    "packing": "created: packed cancelled. packed: handed_off cancelled.",
    "shipment": "in_transit: delayed delivered. delayed: missing_scan delivered."
    " missing_scan: lost delivered.",
    "negotiation": "active: accepted rejected withdrawn.",
    "agreement": "agreed: settled expired.",
    "cart_quote": "requested: quoted. quoted: ordered.",
    "offer_ranking": "open: accepted.",
    "match_certificate": "issued: used.",
    "return": "requested: authorized denied. authorized: received.",
    "refund_case": "open: approved denied.",
    "exchange": "requested: authorized denied. authorized: completed denied.",
    "dispute": "open: under_review ruled withdrawn. under_review: ruled withdrawn.",
    "listing_claim": "draft: published. published: corrected retracted.",
    "inquiry": "open: answered.",
    "campaign": "draft: published. published: active.",
    "governance_case": "open: accepted rejected reported. accepted: reported. rejected: reported."
    " reported: upheld dismissed.",
    "remediation_plan": "issued: accepted. accepted: completed.",
    "protocol_event": "issued: processed rejected.",
}
"""The steps of A2 of the specification, and of the rows that it names no states of."""


def steps_of(words: str) -> dict[str, frozenset[str]]:
    """The states that may follow each state."""
    steps = (each.partition(":") for each in words.split(".") if each)
    return {before.strip(): frozenset(after.split()) for before, _, after in steps}


def test_the_state_machines_are_those_of_the_specification() -> None:
    assert {table: steps_of(words) for table, words in STEPS.items()} == {
        table: dict(machine.steps) for table, machine in MACHINES.items()
    }


def sums_of(postings: Sequence[Any], column: str) -> dict[tuple[str, str], int]:
    """What postings come to, by a column and currency."""
    sums: dict[tuple[str, str], int] = {}
    for posting in postings:
        place = getattr(posting, column), posting.currency
        sums[place] = sums.get(place, 0) + posting.amount
    return sums


def check_rows(rows: Rows) -> None:
    """The books balance, accounts say what their postings say, and no stock is below zero."""
    postings = list(rows["posting"].values())
    assert not any(sums_of(postings, "entry").values())
    assert sums_of(postings, "account") == {
        (name, currency): balance
        for name, row in rows["account"].items()
        for currency, balance in row.balances.items()
    }
    for key, payment in rows["payment"].items():
        moved = [each for each in postings if each.payment == key and each.account.startswith("buyer:")]
        assert -sum(each.amount for each in moved) == payment.captured - payment.refunded >= 0
    for stock in rows["inventory"].values():
        assert stock.on_hand == stock.available + stock.reserved
        assert min(stock.available, stock.reserved) >= 0


def check_steps(before: Rows, after: Rows) -> None:
    """No row went, none of the books changed, and no state machine skipped a state."""
    for table, found in before.items():
        assert found.keys() <= after[table].keys()
    assert before["posting"].items() <= after["posting"].items()
    for table, words in STEPS.items():
        steps = steps_of(words)
        for key, row in before[table].items():
            assert after[table][key].state in {row.state, *steps.get(row.state, ())}, (table, key)


def shown_rows(ruling: Ruling) -> list[tuple[str, str, dict[str, Any]]]:
    """What the sender is shown, as (table, key, columns)."""
    value: Any = {} if ruling.shown is None else ruling.shown.value
    return [(table, row.pop("id"), row) for table, listed in value.items() for row in map(dict, listed)]


def check_shown(kind: str, rows: Rows, ruling: Ruling) -> None:
    """What is shown are rows as they stand, and those that are shown whole are said to be read."""
    shown = shown_rows(ruling)
    if kind != "evidence.list":  # which names records, and shows none whole
        assert ruling.decision.reads == [(table, key) for table, key, _row in shown]
    for table, key, row in shown:
        columns = rows[table][key].__struct_fields__
        assert row == {name: getattr(rows[table][key], name) for name in columns if name in row}
        assert kind == "evidence.list" or set(columns) == set(row)


class Kept:
    """A keeper in memory: it keeps the records of one run."""

    def __init__(self) -> None:
        self.records: list[Draft] = []
        self.notes: list[str] = []

    def add_run(self, _id: str, records: Sequence[Draft], _blobs: object, notes: Sequence[str] = ()) -> int:
        self.append(1, 0, records, notes)
        return 1

    def append(self, _run: int, _seq: int, records: Sequence[Draft], notes: Sequence[str] = ()) -> None:
        self.records += records
        self.notes += notes

    def refuse_known(self, _run_id: str) -> None:
        return

    def signed(self, _run: int, seq: int) -> tuple[bytes, str | None]:
        return self.records[seq].body, self.records[seq].sig


@cache
def shelf() -> Shelf:
    blobs: dict[str, Blob] = {facts.root: facts_blob(facts) for facts in (FACTS, STRICT_FACTS)}
    return Shelf(blobs.get)


AGENT = Agent(model="", name="test", settings={}, version="1")
SEATS = [Seat(party, role, AGENT, key_of(party).public) for party, role in ROLES.items()]
RUNS, ROUNDS = 8, 2
keyed = st.sampled_from(["k1", "k2", "k3"])


class MarketMachine(RuleBasedStateMachine):
    @initialize(facts=st.sampled_from([FACTS, STRICT_FACTS]))
    def opened(self, facts: Any) -> None:
        plan = Plan(COMMERCE, SEATS, "0" * 64, Origin(custody="played", source=None))
        self.kept = Kept()
        self.writer = Writer.begin(self.kept, SECRET, NAME, plan, facts, [])
        assert self.writer.run.state is not None
        self.state = self.writer.run.state
        self.rows = rows_of(self.state)
        self.accepted: list[tuple[Message, Ruling]] = []

    def teardown(self) -> None:
        if not hasattr(self, "writer"):
            return
        root = self.writer.seal("completed")
        auditor = Auditor(shelf())
        for seq, draft in enumerate(self.kept.records):
            auditor.record(Stored(seq, draft.kind, draft.body, draft.sig))
        audit = auditor.finish(self.kept.notes)
        assert ([], root) == (audit.findings, audit.root)
        assert audit.replayed is not None
        assert audit.replayed.state is not None
        assert self.state.root() == audit.replayed.state.root()

    def say(self, message: Message, key: str | None) -> Ruling:
        """The ruling on a message, said through the door; a refusal changes nothing."""
        root = self.state.root()
        action = read_action(WORLD, bytes(message.action))
        key_fields = {"to": message.to, "key": key}
        body, sig = signed(self.writer.run, message.sender, action, key_of(message.sender), **key_fields)
        ruling = self.writer.admit(body, sig, verified=True)
        if ruling.decision.outcome == "refused" or ruling.decision.rule == "message.retry":
            assert (NO_CHANGE, [], root) == (ruling.decision.delta, ruling.decision.events, self.state.root())
            assert ruling.shown is None
        return ruling

    @rule(choice=CHOICES)
    def act(self, choice: Choice) -> None:
        message = formed(self.state, choice)
        self.check(message, choice.kind, self.say(message, None))

    @rule(choice=CHOICES, key=keyed)
    def act_under_a_key(self, choice: Choice, key: str) -> None:
        """The first act that is accepted under a key is the only one."""
        message = formed(self.state, choice)
        used = [each for each, _ruling in self.accepted if (each.sender, each.key) == (message.sender, key)]
        ruling = self.say(message, key)
        self.check(message, choice.kind, ruling)
        if used:
            is_same = (used[0].to, bytes(used[0].action)) == (message.to, bytes(message.action))
            assert ruling.decision.rule == ("message.retry" if is_same else "message.key")
        elif ruling.decision.outcome == "accepted":
            kept = Message(message.action, message.sender, key, 0, None, (0, ""), message.to)
            self.accepted.append((kept, ruling))

    @precondition(lambda self: self.accepted)
    @rule(pick=st.integers(0, 9))
    def retry(self, pick: int) -> None:
        """The same again under its key gives the first confirmation, however much happened since."""
        message, first = self.accepted[pick % len(self.accepted)]
        again = self.say(message, message.key).decision
        assert ("message.retry", "accepted") == (again.rule, again.outcome)
        assert (first.decision.result, {"message": first.decision.message}) == (again.result, again.detail)

    def check(self, message: Message, kind: str, ruling: Ruling) -> None:
        """What holds after every act."""
        decision, before = ruling.decision, self.rows
        rows = self.rows = rows_of(self.state)
        if decision.outcome == "refused":
            assert decision.rule in REFUSALS or decision.rule in ("party.role", "message.key")
            assert before == rows
            return
        if kind in WORLD.queries:
            assert before == rows
        check_rows(rows)
        check_steps(before, rows)
        if decision.rule is None:
            check_shown(kind, rows, ruling)
        for table, key, _row in shown_rows(ruling):
            is_own_work = before[table].get(key) != rows[table][key]
            assert is_own_work or may_read(rows, table, key, message.sender), (kind, table, key)


MarketMachine.TestCase.settings = settings(max_examples=70, stateful_step_count=50, deadline=None)
test_the_whole_market_played_at_random = MarketMachine.TestCase


def test_every_kind_of_act_is_taken_by_the_market() -> None:
    """Each in its turn, from other rows in each run, so that none is only ever refused in this file."""
    taken: set[str] = set()
    for first in range(RUNS):
        machine = MarketMachine()
        machine.opened((FACTS, STRICT_FACTS)[first % 2])
        for turn in range(first, first + ROUNDS):
            for place, kind in enumerate([*WRITES, *QUERIES]):
                number = (1, 2, 900, 3)[turn % 4]
                message = formed(machine.state, Choice(kind, turn, 11 * turn + 2 * place, number, 0, None))
                ruling = machine.say(message, None)
                machine.check(message, kind, ruling)
                if ruling.decision.outcome == "accepted":
                    taken.add(kind)
        machine.teardown()
    never = set(WORLD.kinds) - taken
    assert {"agent.unparsed"} == never, "of kinds that are never taken, `FITTING` says what they need"
