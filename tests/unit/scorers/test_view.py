"""The case view of a run played in the small shop, and of what doesn't fit one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from small_run import begin, exported, ledger, signed

from tollbook.ledger.audit import Audit
from tollbook.ledger.verify import audit_run, shelf_of, verify_bundle
from tollbook.ledger.writer import Writer
from tollbook.protocol.errors import CanonicalError, ScoreError
from tollbook.protocol.retail import actions
from tollbook.scorers import view as view_module
from tollbook.scorers.acts import figures
from tollbook.scorers.cel import JUDGE
from tollbook.scorers.view import Answers, View, Withheld, case_view

LAMP, BENCH = "#ann-lamp", "#ann-bench"


def played(writer: Writer) -> None:
    user, assistant = writer.voice("user"), writer.voice("assistant")
    user.say(actions.SendMessage("cancel it, I paid 12.50"), to="assistant")
    assistant.say(actions.FindUserIdByEmail("ann@example.com"), to="platform")
    assistant.say(actions.GetOrderDetails(LAMP), to="platform")
    assistant.say(actions.SendMessage("1,300 and 7.5?"), to="user")
    assistant.say(actions.CancelPendingOrder(LAMP, "no longer needed"), to="platform", key="once")
    assistant.say(actions.CancelPendingOrder(LAMP, "no longer needed"), to="platform", key="once")
    assistant.say(actions.CancelPendingOrder(BENCH, "no longer needed"), to="platform")
    assistant.say(actions.GetOrderDetails("#none"), to="platform")
    user.say(actions.GetUserDetails("ann"), to="platform")
    writer.seal("completed")


def audited(path: Path, play: Callable[[Writer], object] = played) -> Audit:
    with ledger(path / "a.db") as store:
        play(begin(store))
        ((run, run_id),) = store.runs()
        return audit_run(store, run, run_id, shelf_of(store), keep=True)


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    return audited(tmp_path_factory.mktemp("view"))


@pytest.fixture(scope="module")
def view(audit: Audit) -> dict[str, Any]:
    return dict(case_view(audit, "assistant", Answers(oracle={"n": 3})).document)


def test_every_name_is_there_and_all_is_plain_json(view: dict[str, Any]) -> None:
    assert set(JUDGE.names) == view.keys()
    assert view == msgspec.json.decode(msgspec.json.encode(view))


def test_the_names_that_the_run_doesnt_make(audit: Audit, view: dict[str, Any]) -> None:
    assert ({"id": "first"}, {}, {"n": 3}, 0) == (view["case"], view["mandate"], view["oracle"], view["tick"])
    given = case_view(audit, "assistant", Answers({"id": "other", "pace": 2}, {"budget": 5})).document
    assert ({"id": "other", "pace": 2}, {"budget": 5}) == (given["case"], given["mandate"])


def test_every_kind_is_there(view: dict[str, Any]) -> None:
    nouns = {"tool", "message", "call", "agent"}
    for name in ("did", "refused", "heard"):
        assert nouns == view[name].keys()
        assert 16 == len(view[name]["tool"])
    assert {"order", "user"} == view["events"].keys()
    assert {"cancelled", "address_changed", "items_changed", "payment_changed", "return_requested",
            "exchange_requested"} == view["events"]["order"].keys()
    for name in ("known", "initial", "final", "facts", "read"):
        assert {"order", "product", "user"} == view[name].keys()


def test_an_act(view: dict[str, Any]) -> None:
    first, again = view["did"]["tool"]["cancel_pending_order"]
    assert {
        "seq": 9,
        "n": 3,
        "tick": 0,
        "kind": "tool.cancel_pending_order",
        "from": "assistant",
        "to": "platform",
        "ok": True,
        "rule": None,
        "figures": [],
        "order_id": LAMP,
        "reason": "no longer needed",
        "result": again["result"],
    } == first
    assert {**first, "seq": 11, "n": 4, "rule": "message.retry"} == again


def test_acts_are_told_apart(view: dict[str, Any]) -> None:
    assert [3, 5, 7, 9, 11, 13, 15] == [act["seq"] for act in view["acts"]]
    assert [13] == [act["seq"] for act in view["refused"]["tool"]["cancel_pending_order"]]
    assert "cancel.not_pending" == view["refused"]["tool"]["cancel_pending_order"][0]["rule"]
    assert [15] == [act["seq"] for act in view["refused"]["tool"]["get_order_details"]]
    assert [5] == [act["seq"] for act in view["did"]["tool"]["get_order_details"]]
    (heard,) = view["heard"]["message"]["send"]
    assert (1, "cancel it, I paid 12.50", [1250]) == (heard["seq"], heard["text"], heard["figures"])
    assert [] == view["heard"]["tool"]["get_user_details"]


def test_results_are_what_was_shown(view: dict[str, Any]) -> None:
    found, before, said, after, again, refused, _ = view["acts"]
    assert "ann" == found["result"]
    assert '"status": "pending"' in before["result"]
    assert '"status": "cancelled"' in after["result"]
    assert after["result"] == again["result"]
    assert (None, None) == (said["result"], refused["result"])


def test_events(view: dict[str, Any]) -> None:
    (cancelled,) = view["events"]["order"]["cancelled"]
    assert (9, LAMP, "order.cancelled") == (cancelled["seq"], cancelled["order"], cancelled["kind"])
    assert 1010 == cancelled["refunds"][0]["amount"]


def test_rows(view: dict[str, Any]) -> None:
    def lamp(name: str) -> dict[str, Any]:
        return next(row for row in view[name]["order"] if row["id"] == LAMP)

    assert ("pending", "cancelled") == (lamp("initial")["status"], lamp("final")["status"])
    assert lamp("initial") == view["facts"]["order"][LAMP]
    assert 9 == len(view["final"]["order"]) == len(view["initial"]["order"])
    keys = [row["id"] for row in view["final"]["order"]]
    assert sorted(keys) == keys
    assert ["cancelled"] == [row["status"] for row in view["known"]["order"]]
    assert {"order": {LAMP: 5}, "user": {"ann": 3}, "product": {}} == view["read"]


def test_a_large_state_shows_what_was_read_or_changed(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_module, "LARGE", 14)
    document = case_view(audit, "assistant", Answers()).document
    for name in ("initial", "final"):
        assert {"order": [LAMP], "user": ["ann"], "product": []} == {
            table: [row["id"] for row in rows] for table, rows in document[name].items()
        }
    monkeypatch.setattr(view_module, "LARGE", 15)
    assert 9 == len(case_view(audit, "assistant", Answers()).document["final"]["order"])


@pytest.mark.parametrize(
    ("made", "want"),
    [
        (set(),                                ["oracle"]),
        ({"acts", "did", "refused", "heard"},  ["did"]),
        ({"events"},                           ["events"]),
        ({"read"},                             ["read"]),
        ({"facts", "initial", "final"},        ["final"]),
        ({"known"},                            ["known"]),
    ],
)  # fmt: skip
def test_only_what_is_wanted_is_made(
    audit: Audit, view: dict[str, Any], made: set[str], want: list[str]
) -> None:
    document = case_view(audit, "assistant", Answers(oracle={"n": 3}), want).document
    assert {"case", "mandate", "oracle", "tick"} | made == document.keys()
    assert all(document[name] == view[name] for name in made - {"acts", "did", "refused", "heard"})


def test_the_other_side_sees_the_other_side(audit: Audit) -> None:
    document = case_view(audit, "user", Answers()).document
    assert [1, 17] == [act["seq"] for act in document["acts"]]
    assert ["1,300 and 7.5?"] == [act["text"] for act in document["heard"]["message"]["send"]]
    assert ({}, []) == (document["read"]["user"], document["known"]["order"])
    assert ["party.role"] == [act["rule"] for act in document["refused"]["tool"]["get_user_details"]]


def test_acts_that_the_world_doesnt_know_or_that_dont_fit(tmp_path: Path) -> None:
    def play(writer: Writer) -> None:
        def say(action: Any) -> None:
            writer.admit(*signed(writer.run, "outsider", action, to="platform"))

        say({"kind": "tool.fly", "seq": 99, "ok": True})
        say({"kind": "tool.get_order_details", "order_id": 7})
        say({"kind": "tool.get_order_details"})
        say({"kind": "nonsense"})
        writer.seal("completed")

    document = case_view(audited(tmp_path, play), "outsider", Answers()).document
    assert ["tool.fly", "tool.get_order_details", "tool.get_order_details", "nonsense"] == [
        act["kind"] for act in document["acts"]
    ]
    unknown = document["acts"][0]
    assert (1, False, "action.unknown") == (unknown["seq"], unknown["ok"], unknown["rule"])
    unfit = document["refused"]["tool"]["get_order_details"]
    assert [("action.invalid", None)] * 2 == [(act["rule"], act["order_id"]) for act in unfit]
    assert "fly" not in document["refused"]["tool"]


def withheld(path: Path, actor: str, oracle: dict[str, Any]) -> View:
    with ledger(path / "a.db") as store:
        played(begin(store))
        exported(store, withhold=True).write(path / "a.jsonl")
    (audit,) = verify_bundle(path / "a.jsonl", keep=True)
    return case_view(audit, actor, Answers(oracle=oracle))


def test_withheld_parts(tmp_path: Path) -> None:
    made = withheld(tmp_path, "assistant", {"strings": Withheld.PART, "n": 3})
    missing = frozenset({"text", "figures"})
    assert {"did": missing, "acts": missing, "heard": missing, "oracle": {"strings"}} == made.withheld
    assert {"strings": None, "n": 3} == made.document["oracle"]
    assert [None] == [act["text"] for act in made.document["heard"]["message"]["send"]]
    assert [[]] == [act["figures"] for act in made.document["heard"]["message"]["send"]]


def test_only_parts_that_the_view_shows_are_missed(tmp_path: Path) -> None:
    assert {} == withheld(tmp_path, "platform", {}).withheld


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ([],                    ""),
        ([],                    "no number, ٣ neither"),
        ([13_000],              "130"),
        ([13_000],              "130.00"),
        ([13_050],              "it is 130.5."),
        ([13_005],              "$130.05!"),
        ([13_012],              "130.129"),
        ([130_000],             "1,300"),
        ([123_456_789],         "1,234,567.89"),
        ([100, 200],            "1,2"),
        ([100, 30_000],         "1, 300"),
        ([120_000, 3_400],      "1200,34"),
        ([120, 300],            "1.2.3"),
        ([500],                 "-5"),
        ([7_700, 200],          "W77x2"),
        ([999_999_999_999_900], "9999999999999"),
        ([],                    "99999999999999"),
        ([700],                 "007"),
    ],
)  # fmt: skip
def test_figures(expected: list[int], text: str) -> None:
    assert expected == figures(text)


def test_who_is_not_there(audit: Audit) -> None:
    with pytest.raises(ScoreError) as caught:
        case_view(audit, "nobody", Answers())
    assert "score.actor" == caught.value.code


@pytest.mark.parametrize(
    "audit_of",
    [
        lambda audit: audit._replace(outcome=None),
        lambda audit: audit._replace(replayed=None),
        lambda audit: audit._replace(checks={**audit.checks, "2": "not done"}),
        lambda audit: audit._replace(checks={**audit.checks, "3": "failed"}),
        lambda audit: audit._replace(checks={**audit.checks, "5": "failed"}),
    ],
)
def test_an_unverified_run_has_no_view(audit: Audit, audit_of: Callable[[Audit], Audit]) -> None:
    with pytest.raises(ScoreError) as caught:
        case_view(audit_of(audit), "assistant", Answers())
    assert "score.unverified" == caught.value.code


def test_an_oracle_is_made_plain(audit: Audit) -> None:
    oracle = {"pairs": ((1, 2),)}
    assert {"pairs": [[1, 2]]} == case_view(audit, "assistant", Answers(oracle=oracle)).document["oracle"]


@pytest.mark.parametrize("value", [1.0, 2**53, {"a": 0.5}, {"a": object()}, {"ä": 1}])
def test_an_oracle_of_what_has_no_canonical_form(audit: Audit, value: object) -> None:
    with pytest.raises(CanonicalError):
        case_view(audit, "assistant", Answers(oracle={"n": value}))
