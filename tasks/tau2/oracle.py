"""What grading a recorded run needs beside its trace, worked out anew on each rescoring.

    replayed run + recorded task ─► reference replayed in a fresh state ─► oracle {state_matches, strings, …}

Predicates can't replay a reference or go through a shop's rows, so what they
ask of these is put into the case view under `oracle`. Nothing here comes from
the recorded grade. What nobody graded, or what may stand in a withheld text,
is left open.

Source: the retail shop's grading as tau2-bench states it: state equal by
value after the reference actions, strings told in some assistant text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...protocol.retail.actions import SendMessage
from ...protocol.retail.arithmetic import cents, is_whole
from ...protocol.retail.comparison import equal
from ...protocol.retail.rules import WRITES
from ...protocol.tables import State
from ...protocol.world import Accepted, Act, kind_of
from ...scorers.view import Withheld
from .calls import action_of
from .recorded import RecordedTask, ReferenceAction, arguments_of, read_recorded_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    import msgspec

    from ...ledger.audit import Audit, Deed
    from ...protocol.retail.rows import Line, Order, Product
    from ...protocol.world import World

ENDED = ("agent_stop", "user_stop")
_FINDS = ("tool.find_user_id_by_email", "tool.find_user_id_by_name_zip")


def oracle_of(audit: Audit) -> dict[str, Any]:
    """The oracle of a recorded run's audit, which kept its deeds.

    Raises:
        ScoreError: the run's task is not that of a recorded run.
    """
    run = audit.replayed
    assert run is not None
    assert run.world is not None
    assert run.state is not None
    task = read_recorded_task(audit.task or "")
    deeds = [deed for deed in audit.deeds if deed.decision.outcome == "accepted"]
    orders = _touched(deeds, "order")
    users = _touched(deeds, "user")
    owner, authenticated = _authenticated(deeds)
    return {
        "authenticated": authenticated,
        "ended": task.termination in ENDED,
        "first_write": next((deed.seq for deed in deeds if type(deed.action) in WRITES), None),
        "graded": task.graded,
        "groups": _groups(audit.deeds, task),
        "orders": [_order(run.state, key, orders[key]) for key in sorted(orders)],
        "owner": owner,
        "state_matches": _matches(run.world, run.state, task) if task.graded else Withheld.PART,
        "strings": _strings(task, audit.deeds) if task.graded else Withheld.PART,
        "termination": task.termination,
        "touched_users": sorted({*users, *(run.state.get("order", key).user_id for key in orders)}),
        "writes": [{"asked": asked, "seq": seq} for seq, asked in _writes(audit.deeds)],
    }


def _kind(deed: Deed) -> str:
    action: msgspec.Struct = deed.action
    return kind_of(type(action))


def _matches(world: World, state: State, task: RecordedTask) -> bool:
    """Whether a state equals a fresh one after the reference actions; one that errors is skipped."""
    fresh = State(state.facts)
    for reference in task.actions:
        _perform(world, fresh, reference)
    return equal(state, fresh)


def _perform(world: World, state: State, reference: ReferenceAction) -> None:
    action = action_of(reference.name, arguments_of(reference), reference.arguments)
    kind = kind_of(type(action))
    if reference.requestor not in world.roles.get(kind, {reference.requestor}):
        return
    verdict = world.decide(state, Act(action, reference.requestor, reference.requestor, 0))
    if isinstance(verdict, Accepted):
        for event in verdict.events:
            world.evolve(state, event)
        state.commit()


def _strings(task: RecordedTask, deeds: list[Deed]) -> list[dict[str, Any]] | Withheld:
    """Each string, whether it was told, and in which messages; open if it may stand in a withheld text."""
    mine = [deed for deed in deeds if deed.message.sender == "assistant"]
    said = [deed for deed in mine if isinstance(deed.action, SendMessage)]
    texts = [(deed.seq, deed.texts["text"].lower().replace(",", "")) for deed in said if "text" in deed.texts]
    found: list[dict[str, Any]] = []
    for text in task.strings:
        seqs = [seq for seq, own in texts if text.lower() in own]
        if not seqs and len(texts) < len(said):
            return Withheld.PART
        found.append({"seqs": seqs, "text": text, "told": bool(seqs)})
    return found


def _touched(deeds: list[Deed], table: str) -> dict[str, list[int]]:
    """The rows that accepted calls read or changed, and where."""
    found: dict[str, list[int]] = {}
    for deed in deeds:
        for name, key in deed.decision.reads:
            if name == table and key != "*":
                found.setdefault(key, []).append(deed.seq)
    return found


def _order(state: State, key: str, seqs: list[int]) -> dict[str, Any]:
    order: Order = state.get("order", key)
    lines = [{"consistent": _consistent(state, line), "item_id": line.item_id} for line in order.items]
    paid = [cents(row.amount) for row in order.payment_history if row.transaction_type == "payment"]
    refunded = [cents(row.amount) for row in order.payment_history if row.transaction_type == "refund"]
    payments = [
        {"amount_cents": cents(row.amount), "whole": is_whole(row.amount)} for row in order.payment_history
    ]
    return {
        "cancelled": order.status == "cancelled",
        "id": key,
        "lines": lines,
        "lines_cents": sum(cents(line.price) for line in order.items),
        "paid_minus_refunded_cents": sum(paid) - sum(refunded),
        "payments": payments,
        "seqs": seqs,
    }


def _consistent(state: State, line: Line) -> bool:
    """Whether a line's price and options are those of its variant."""
    product: Product | None = state.get("product", line.product_id)
    variants = () if product is None else product.variants
    wanted = (line.item_id, line.price, line.options)
    return any((one.item_id, one.price, one.options) == wanted for one in variants)


def _authenticated(deeds: list[Deed]) -> tuple[str | None, int | None]:
    """The user that the first successful search found, and where."""
    for deed in deeds:
        if _kind(deed) in _FINDS:
            return next(key for table, key in deed.decision.reads if table == "user"), deed.seq
    return None, None


def _groups(deeds: list[Deed], task: RecordedTask) -> list[list[int]]:
    place = {deed.message.n: deed.seq for deed in deeds if deed.message.sender == "assistant"}
    return [[place[n] for n in group if n in place] for group in task.groups]


def _writes(deeds: list[Deed]) -> Iterator[tuple[int, bool]]:
    """Each accepted write, and whether since the write before it the assistant spoke and then the user."""
    offered = answered = False
    for deed in deeds:
        kind = None if deed.action is None else _kind(deed)
        if kind == "message.send" and deed.decision.outcome == "accepted":
            if deed.message.sender == "assistant":
                offered = True
            elif offered:
                answered = True
        elif type(deed.action) in WRITES and deed.decision.outcome == "accepted":
            yield deed.seq, answered
            offered = answered = False
