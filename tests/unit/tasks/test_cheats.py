"""What the built-in cheats do: in three tasks, in a small market, and where there is little to do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import msgspec
import pytest

from tollbook.ledger.audited import Deed
from tollbook.protocol import world as worlds
from tollbook.protocol.bodies import Made, Part, WorldRef
from tollbook.protocol.canonical import Id, encode_typed
from tollbook.protocol.retail.rows import Address, Line, Order
from tollbook.protocol.retail.rows import Payment as Paid
from tollbook.protocol.tables import Facts, State
from tollbook.protocol.world import Accepted, Act, Refusal, Shown, World, kind_of, world_of
from tollbook.scorers.acts import Watch
from tollbook.scorers.verdict import judge
from tollbook.scorers.view import Answers, Episode, view_of
from tollbook.tasks.format.task import Task, load_task
from tollbook.tasks.play.agent import Agent, Asked, Setup
from tollbook.tasks.play.cheats import MAX_ACTS, NAMES, SEEDS, Jitter, builtin, cheat_agent, variants_of
from tollbook.tasks.play.desk import DryDesk
from tollbook.tasks.play.fillings import has_number
from tollbook.tasks.play.play import Ending, Play
from tollbook.tasks.play.sight import Sight
from tollbook.tasks.play.tools import tools_of
from tollbook.tasks.shelf import find_task

SEED = "5" * 64
WORKED = {"t4.buyer_zopa": "linear", "t4.merchant_zopa": "linear", "refund": "untouched"}
"""The tasks played, each with the case that a single play is of."""

REFUND = """
id = "tests.refund"
title = "A return, and then a claim"
world = "commerce"
actor = "merchant"
ends = "did.refund.approve.size() + did.refund.deny.size() > 0"
tools = ["order.get", "payment.history", "ledger.history", "policy.get", "return.*", "refund.*"]
brief = "Order o1 comes back: see to the return (r1) under policy `returns`, and pay what is still owed."
[case]
untouched = { refunded = 0 }
refunded = { refunded = 8_000 }
[facts]
policy.returns = { accepted_conditions = ["unused", "unopened"] }
order.o1 = { buyer = "buyer", merchant = "merchant", total = 8_000, state = "delivered" }
return.r1 = { order = "o1", state = "requested", condition = "unused" }
[facts.payment.p1]
order = "o1"
captured = 8_000
refunded = "=case.refunded"
state = "=case.refunded == 0 ? 'captured' : 'refunded'"
[party]
buyer = {}
merchant = {}
[script.buyer]
on = "return.receive"
rule = [{ do = { kind = "refund.open", order = "o1", amount = 8_000, text = "Please." } }]
[predicate]
paid_right = { stage = "choice", weight = 1_000, expr = '''
    did.return.receive != [] && refused.refund.approve == []
    && final.payment.all(p, p.refunded == 8000) && did.refund.approve + did.refund.deny != []''' }
[reference]
let.owed = "known.payment[0].captured - known.payment[0].refunded"
let.claim = "heard.refund.open[0].refund_case"
step = [
    { do = { kind = "payment.history", order = "o1" } },
    { do = { kind = "return.authorize", return = "r1" } },
    { do = { kind = "return.receive", return = "r1", condition = "unused", quantity = 1 } },
    { id="pay", when = "owed>0", do = { kind = "refund.approve", refund_case = "=claim", amount = "=owed" } },
    { when = "owed==0", do = { kind = "refund.deny", refund_case = "=claim", reason = "" } },
]
"""


class Played(NamedTuple):
    ending: Ending
    desk: DryDesk
    points: Fraction

    def said(self, party: str) -> list[tuple[str, bool]]:
        """The kinds that a party sent, each with whether it was accepted."""
        mine = [deed for deed in self.desk.deeds if deed.message.sender == party]
        return [(kind_of(type(deed.action)), deed.decision.outcome == "accepted") for deed in mine]

    def kinds(self, party: str) -> list[str]:
        return [kind if accepted else f"{kind} refused" for kind, accepted in self.said(party)]


def play(task: Task, agent: Agent, case: str, facts: Facts | None = None) -> Played:
    scene = task.scenes.stage(case, SEED)
    scene = scene if facts is None else scene._replace(facts=facts)
    desk = DryDesk(task.world, task.roles, scene.facts)
    ending = Play(task, scene, desk, agent).run()
    episode = Episode(task.world, task.roles, desk.deeds, desk.state, case)
    answers = Answers(scene.case, scene.mandates.get(task.actor, {}), task.scenes.oracle(scene))
    found = judge(task.predicates, view_of(episode, task.actor, answers, task.predicates.reads))
    return Played(ending, desk, Fraction(found.points))


@pytest.fixture(scope="module")
def worked() -> Mapping[str, Task]:
    return {name: load_task(REFUND if name == "refund" else find_task(name).text) for name in WORKED}


BUY = ["negotiation.propose", "agreement.settle"]
PAY = ["return.authorize", "return.receive", "refund.approve"]
SHELF = ["listing.get", "stock.get"]
BOOKS = ["ledger.history", "order.get", "payment.history", "policy.get"]


@pytest.mark.parametrize(
    ("done",                    "at_least_read",  "task",               "name"),
    [
        ([],                    [],               "t4.buyer_zopa",      "idle"),
        (BUY,                   ["listing.get"],  "t4.buyer_zopa",      "first_offer"),
        (["purchase.decline"],  [],               "t4.buyer_zopa",      "always_refuse"),
        (BUY,                   SHELF,            "t4.buyer_zopa",      "flood_then_first"),
        (["purchase.decline"],  SHELF,            "t4.buyer_zopa",      "flood_then_refuse"),
        (["negotiation.accept"], [],              "t4.merchant_zopa",   "first_offer"),
        (["negotiation.reject"], [],              "t4.merchant_zopa",   "always_refuse"),
        (PAY,                   [],               "refund",             "first_offer"),
        (["return.deny"],       [],               "refund",             "always_refuse"),
        (PAY,                   BOOKS,            "refund",             "flood_then_first"),
        (["return.deny"],       BOOKS,            "refund",             "flood_then_refuse"),
    ],
)  # fmt: skip
def test_what_they_do_in_the_worked_tasks(
    worked: Mapping[str, Task], done: list[str], at_least_read: list[str], task: str, name: str
) -> None:
    played = play(worked[task], cheat_agent(worked[task], SEED, name), WORKED[task])
    accepted = [kind for kind, is_accepted in played.said(worked[task].actor) if is_accepted]
    looks = {*worked[task].world.queries, *worked[task].world.searching}
    assert done == [kind for kind in accepted if kind not in looks]
    assert set(at_least_read) <= set(accepted)
    assert name != "always_refuse" or not looks & set(accepted)


def test_what_was_refused_is_tried_again_once_something_has_changed(worked: Mapping[str, Task]) -> None:
    task = worked["refund"]
    kinds = play(task, cheat_agent(task, SEED, "flood_then_first"), "refunded").kinds("merchant")
    order = ["return.receive refused", "return.authorize", "return.receive"]
    assert order == sorted(order, key=kinds.index)


@pytest.mark.parametrize("case", ["linear", "boulware", "tit_for_tat"])
@pytest.mark.parametrize("name", ["first_offer", "flood_then_first"])
def test_who_takes_ends_the_bargain_with_what_was_bought(
    worked: Mapping[str, Task], name: str, case: str
) -> None:
    task = worked["t4.buyer_zopa"]
    played = play(task, cheat_agent(task, SEED, name), case)
    assert "completed" == played.ending.outcome
    assert ["settled"] == [row.state for _key, row in played.desk.state.rows("agreement")]


@pytest.mark.parametrize("task", ["t4.buyer_zopa", "t4.merchant_zopa"])
def test_a_bargain_pays_none_of_them(worked: Mapping[str, Task], task: str) -> None:
    for name in NAMES:
        if name != "jitter":  # a cent more or less is hardly a worse bargain
            each = range(len(variants_of(worked[task])[name]))
            cases = worked[task].file.case
            agents = [(case, cheat_agent(worked[task], SEED, name, at)) for case in cases for at in each]
            points = [play(worked[task], agent, case).points for case, agent in agents]
            assert 300 >= sum(points) / len(points), name


@pytest.mark.parametrize("name", ["idle", "always_refuse", "flood_then_refuse"])
@pytest.mark.parametrize("task", WORKED)
def test_doing_nothing_and_refusing_earn_nothing(worked: Mapping[str, Task], task: str, name: str) -> None:
    for case in worked[task].file.case:
        assert 0 == play(worked[task], cheat_agent(worked[task], SEED, name), case).points


def test_a_jitter_moves_every_number_of_one_field_and_nothing_else(worked: Mapping[str, Task]) -> None:
    task = worked["t4.buyer_zopa"]
    names = list(variants_of(task)["jitter"])
    fields = ("open.quantity", "open.unit_price", "raise.unit_price")
    assert [f"jitter.{field}{step}" for field in fields for step in ("+1", "-1")] == names

    def prices(name: str) -> list[int]:
        played = play(task, cheat_agent(task, SEED, "jitter", names.index(name)), "linear")
        mine = [deed.action for deed in played.desk.deeds if deed.message.sender == "buyer"]
        return [each.unit_price for each in mine if hasattr(each, "unit_price")]

    as_is = prices("jitter.open.quantity+1")
    for name, step in (("jitter.raise.unit_price+1", 1), ("jitter.raise.unit_price-1", -1)):
        assert [0, *[step] * 4] == [one - other for one, other in zip(prices(name), as_is, strict=True)]


def test_a_jitter_says_where_its_number_was_never_due(worked: Mapping[str, Task]) -> None:
    task = worked["refund"]
    at = list(variants_of(task)["jitter"]).index("jitter.pay.amount-1")
    moved: dict[str, int] = {}
    for case in ("untouched", "refunded"):
        agent = cheat_agent(task, SEED, "jitter", at)
        assert isinstance(agent, Jitter)
        points = play(task, agent, case).points
        moved[case] = agent.moved
        assert (points == 1_000) == (agent.moved == 0)
    assert {"untouched": 1, "refunded": 0} == moved


def test_all_variants_are_there_under_their_names(worked: Mapping[str, Task]) -> None:
    for task in worked.values():
        found = builtin(task, SEED)
        assert list(NAMES) == list(found)
        assert {name: list(each) for name, each in variants_of(task).items()} == {
            name: [agent.stated.name for agent in agents] for name, agents in found.items()
        }
        assert SEEDS == len(found["random_legal"])


def test_the_same_seed_gives_the_same_acts_and_another_gives_others(worked: Mapping[str, Task]) -> None:
    task = worked["refund"]

    def acts(seed: str, at: int) -> list[Any]:
        played = play(task, cheat_agent(task, seed, "random_legal", at), "untouched")
        return [(deed.action, deed.texts) for deed in played.desk.deeds]

    assert acts(SEED, 3) == acts(SEED, 3)
    assert acts(SEED, 3) != acts(SEED, 4)
    assert acts(SEED, 3) != acts("6" * 64, 3)


def test_random_acts_are_all_of_the_right_form(worked: Mapping[str, Task]) -> None:
    for name, task in worked.items():
        runs = [play(task, cheat_agent(task, SEED, "random_legal", at), WORKED[name]) for at in range(SEEDS)]
        said = {kind for played in runs for kind, _is_accepted in played.said(task.actor)}
        assert said <= set(task.tools)
        assert len(said) > len(task.tools) // 2


# A small market: crates of two sellers, listed as text, taken at their price for cash.

CrateId = Annotated[Id, msgspec.Meta(extra={"row": "crate"})]
SlipId = Annotated[Id, msgspec.Meta(extra={"row": "slip"})]


class _Act(msgspec.Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True):
    pass


class Crate(msgspec.Struct, frozen=True):
    seller: str
    price: int


class Slip(msgspec.Struct, frozen=True):
    crate: str


class Nest(msgspec.Struct, frozen=True):
    inner: list[Nest]
    count: int | None


class Pair(msgspec.Struct, frozen=True):
    crates: list[CrateId]
    count: int


class ListCrates(_Act, frozen=True, tag="crate.list"):
    pass


class Look(_Act, frozen=True, tag="crate.look"):
    crate: CrateId


class Take(_Act, frozen=True, tag="crate.take"):
    crate: CrateId
    asking_price: Annotated[int, msgspec.Meta(ge=0)]
    how: Literal["cash", "card"]
    units: Annotated[int, msgspec.Meta(ge=1)]
    note: Part


class Stamp(_Act, frozen=True, tag="slip.stamp"):
    slips: tuple[SlipId, ...]


class Shun(_Act, frozen=True, tag="crate.shun"):
    crate: CrateId


class Odd(_Act, frozen=True, tag="odd.act"):
    anything: Any
    pair: Pair
    flag: bool | None
    word: Annotated[str, msgspec.Meta(min_length=3)]
    names: dict[str, int]


class Unparsed(_Act, frozen=True, tag="agent.unparsed"):
    text: Part


class Taken(_Act, frozen=True, tag="slip.made"):
    slip: Made
    crate: str


class Stamped(_Act, frozen=True, tag="slip.stamped"):
    slips: tuple[str, ...]


class CrateWorld(World):
    """``wall``: all but reading is refused. ``shows``: what a list shows in place of the crates."""

    name = "crates"
    version = 0
    tables: ClassVar = {"crate": Crate, "slip": Slip}
    actions = (ListCrates, Look, Take, Stamp, Shun, Odd, Unparsed)
    events = (Taken, Stamped)
    queries = frozenset({"crate.list", "crate.look"})
    taking = ("slip.stamp", "crate.take")
    refusing = ("crate.shun",)

    def __init__(self, *, wall: bool = False, shows: object = None) -> None:
        self._wall = wall
        self._shows = shows

    def decide(self, state: State, act: Act) -> Refusal | Accepted:
        action = act.action
        crate = state.get("crate", getattr(action, "crate", ""))
        if isinstance(action, (Look, Take, Shun)) and crate is None:
            return Refusal("crate.unknown", {})
        if kind_of(type(action)) in self.queries:
            return Accepted()
        if self._wall or isinstance(action, Unparsed):
            return Refusal("crate.wall", {})
        if isinstance(action, Take):
            right = (action.asking_price, action.how, act.to) == (crate.price, "cash", crate.seller)
            taken = Taken(f"slip-{act.seq}", action.crate)
            return Accepted([taken]) if right else Refusal("crate.terms", {})
        if isinstance(action, Stamp):
            known = all(state.get("slip", key) is not None for key in action.slips)
            return Accepted([Stamped(action.slips)]) if known else Refusal("slip.unknown", {})
        return Accepted()

    def evolve(self, state: State, event: Any) -> None:
        if isinstance(event, Taken):
            state.put("slip", event.slip, Slip(event.crate))

    def show(self, state: State, act: Act, events: Sequence[msgspec.Struct]) -> Shown | None:  # noqa: ARG002
        if isinstance(act.action, ListCrates):
            keys = [key for key, _row in state.rows("crate")]
            return Shown(json.dumps({"crates": keys}) if self._shows is None else self._shows)
        if isinstance(act.action, Look):
            return Shown(None, [("crate", act.action.crate)])
        return None


CRATES = """
id = "crates.small"
title = "Crates"
world = "crates"
actor = "a"
brief = "{case.brief}"
turns = 60
[case]
one = { brief = "See what there is." }
[facts]
crate.c1 = { seller = "s2", price = 70 }
crate.c2 = { seller = "s1", price = 80 }
[party]
a = {}
s1 = {}
s2 = {}
[predicate]
done = { stage = "choice", weight = 1000, expr = "did.slip.stamp.size() > 0" }
[[reference.step]]
do = [
    { when = "i>0", kind = "crate.take", crate = "c", asking_price = 1, how = "cash", units = 2, note = "" },
    { kind = "crate.take", crate = "c2", asking_price = 80, how = "cash", units = 2, note = "", to = "s1" },
]
"""


@pytest.fixture
def crates(request: pytest.FixtureRequest) -> Iterator[Task]:
    world = getattr(request, "param", None) or CrateWorld()
    ref = WorldRef(name="crates", params={}, version=0)
    worlds._KNOWN[encode_typed(ref)] = world  # noqa: SLF001 - a market of tests isn't released
    yield load_task(CRATES, ref)
    del worlds._KNOWN[encode_typed(ref)]  # noqa: SLF001


def _accepted(task: Task, deeds: Sequence[Deed]) -> list[str]:
    """The kinds that the actor sent and had accepted, each with the crate that it names."""
    return [
        " ".join((kind_of(type(deed.action)), getattr(deed.action, "crate", ""))).strip()
        for deed in deeds
        if deed.message.sender == task.actor and deed.decision.outcome == "accepted"
    ]


SEE = ["crate.list", "crate.look c1"]
FIRST = ["crate.take c1", "slip.stamp"]
SECOND = ["crate.take c2", "slip.stamp"]


@pytest.mark.parametrize(
    ("acts", "name"),
    [
        ([], "idle"),
        ([*SEE, *FIRST, "crate.look c2", *SECOND], "first_offer"),
        (["crate.list", "crate.shun c1", "crate.shun c2"], "always_refuse"),
        ([*SEE, "crate.look c2", *FIRST, *SECOND], "flood_then_first"),
        ([*SEE, "crate.look c2", "crate.shun c1", "crate.shun c2"], "flood_then_refuse"),
    ],
)
def test_in_any_market_they_read_take_and_refuse(crates: Task, acts: list[str], name: str) -> None:
    played = play(crates, cheat_agent(crates, SEED, name), "one")
    assert ("agent_stopped", acts) == (played.ending.outcome, _accepted(crates, played.desk.deeds))


def test_an_act_goes_first_to_whom_its_row_names(crates: Task) -> None:
    played = play(crates, cheat_agent(crates, SEED, "flood_then_first"), "one")
    takes = [deed for deed in played.desk.deeds if isinstance(deed.action, Take)]
    assert [("c1", "s2", 70), ("c2", "s1", 80)] == [
        (deed.action.crate, deed.message.to, deed.action.asking_price)
        for deed in takes
        if deed.decision.outcome == "accepted"
    ]
    assert 4 == len(takes), "a card is tried before cash, and nothing else varies"


def test_of_several_acts_of_a_step_one_is_jittered(crates: Task) -> None:
    names = list(variants_of(crates)["jitter"])
    fields = ("[0].asking_price", "[0].units", "[1].asking_price", "[1].units")
    assert [f"jitter.crate.take{field}{step}" for field in fields for step in ("+1", "-1")] == names
    prices: dict[str, int] = {}
    for name in names:
        played = play(crates, cheat_agent(crates, SEED, "jitter", names.index(name)), "one")
        (take,) = [deed.action for deed in played.desk.deeds if isinstance(deed.action, Take)]
        prices[name] = take.asking_price
    up, down = (f"jitter.crate.take[1].asking_price{step}" for step in ("+1", "-1"))
    assert {**dict.fromkeys(names, 80), up: 81, down: 79} == prices


KEYS = [f"x{at}" for at in range(90)]


@pytest.mark.parametrize("crates", [CrateWorld(shows={"crates": KEYS})], indirect=True)
def test_who_floods_keeps_turns_back(crates: Task) -> None:
    played = play(crates, cheat_agent(crates, SEED, "flood_then_refuse"), "one")
    kinds = [kind.removesuffix(" refused") for kind in played.kinds("a")]
    assert [*["crate.list"], *["crate.look"] * 44, *["crate.shun"] * 15] == kinds


def test_none_goes_on_for_ever(crates: Task) -> None:
    agent = cheat_agent(crates, SEED, "random_legal")
    agent.begin(Setup("a", "a", "", {}, tools_of(crates.world, ["crate.list"]), (), 1_000))
    asked = Asked(0, 1_000, None, (), Watch(crates.world, "a"))
    acts = [agent.act(asked) for _ in range(MAX_ACTS + 1)]
    assert [*[None] * MAX_ACTS, "agent_stopped"] == [answer.end for answer in acts]


DEEP = '{"a":' * 600 + "1" + "}" * 600
HOSTILE: dict[str, Any] = {
    "nothing taken": CrateWorld(wall=True),
    "deep text": CrateWorld(shows=DEEP),
    "half a document": CrateWorld(shows='{"crates": ["c1", '),
    "numbers too large": CrateWorld(shows='{"crates": ["c1"], "price": [9999999999999999999999, -1, 1.5]}'),
    "lone surrogates": CrateWorld(shows='{"crates": ["\\ud800", "c1", ""]}'),
    "keys that are none": CrateWorld(shows={"crates": ["c 1", "", "x" * 500, None], "price": [True]}),
    "many rows": CrateWorld(shows={"crates": [f"x{at}" for at in range(3_000)], "price": list(range(3_000))}),
    "long text": CrateWorld(shows="crate c1 " * 5_000),
}


@pytest.mark.parametrize("crates", HOSTILE.values(), ids=HOSTILE.keys(), indirect=True)
def test_whatever_a_market_shows_they_come_to_an_end(crates: Task) -> None:
    for agents in builtin(crates, SEED).values():
        for agent in agents[:3]:
            played = play(crates, agent, "one")
            assert played.ending.outcome in ("agent_stopped", "turn_limit")
            assert "agent.unparsed refused" not in played.kinds("a")


@pytest.mark.parametrize("crates", [CrateWorld(wall=True)], indirect=True)
def test_refused_everywhere_they_try_each_thing_once(crates: Task) -> None:
    played = play(crates, cheat_agent(crates, SEED, "always_refuse"), "one")
    shunned = [deed for deed in played.desk.deeds if isinstance(deed.action, Shun)]
    tries = [(deed.action.crate, deed.message.to) for deed in shunned]
    assert sorted({*tries}) == sorted(tries)
    assert 4 == len(tries)


RETAIL = """
id = "retail.small"
title = "A shop that shows rows as text"
world = "retail"
actor = "assistant"
brief = "Help mia_li_3668 with order #W1 (user mia_li_3668)."
turns = 30
[case]
one = {}
[party]
assistant = {}
user = {}
operator = { role = "user" }
[predicate]
done = { stage = "choice", weight = 1000, expr = "acts.size() > 900" }
[reference]
step = []
"""


def test_the_shop_of_texts_is_played_too() -> None:
    ref = WorldRef(name="retail", params={"mode": "strict"}, version=0)
    task, facts = load_task(RETAIL, ref), world_of(ref).facts([("order", "#W1", ORDER)])
    assert [] == builtin(task, SEED)["jitter"], "there are no numbers in its reference"
    for name in NAMES[:5]:
        assert [] == play(task, cheat_agent(task, SEED, name), "one", facts).kinds("assistant")
    said: list[tuple[str, bool]] = []
    asked: set[str] = set()
    for at in range(SEEDS):
        played = play(task, cheat_agent(task, SEED, "random_legal", at), "one", facts)
        said += played.said("assistant")
        asked |= {getattr(deed.action, "item_id", "") for deed in played.desk.deeds}
    assert ("tool.get_order_details", True) in said
    assert ("tool.cancel_pending_order", False) in said
    assert "4107812777" in asked, "an item is only named in the order's text"
    assert not {kind for kind, _ok in said} & {"agent.unparsed", "call.unparsed"} - set(task.tools)


ORDER = Order(
    address=Address(address1="1 Elm St", address2="", city="Rome", country="IT", state="", zip="00100"),
    cancel_reason=None,
    exchange_items=None,
    exchange_new_items=None,
    exchange_payment_method_id=None,
    exchange_price_difference=None,
    fulfillments=(),
    items=(Line(item_id="4107812777", name="Kettle", options=(), price=4_000, product_id="9523456873"),),
    order_id="#W1",
    payment_history=(Paid(amount=4_000, payment_method_id="paypal_1", transaction_type="payment"),),
    return_items=None,
    return_payment_method_id=None,
    status="delivered",
    user_id="mia_li_3668",
)


@pytest.mark.parametrize(
    ("crates_seen", "slips_seen", "brief"),
    [
        ([],                 [],                 "Take what 2 people need: 3 of them."),
        (["c1"],             [],                 "Take one lamp (crate c1)."),
        (["c1", "c2", "c3"], [],                 "The crates c1, c2 and c3; no others."),
        (["c1"],             ["s9"],             "Crate c1 goes with slip s9."),
        (["x7"],             ["x7"],             "It is x7, or not."),
        (["blue"],           ["blue"],           "Of the blue ones take `blue`."),
        (["#W12"],           [],                 "the crate's number: crate #W12's."),
        (["c1"],             [],                 "See c1. By c1 I mean crate c1."),
        (["s1"],             ["c1", "s1"],       "See s1, and slip c1."),
    ],
)  # fmt: skip
def test_a_brief_names_rows(crates_seen: list[str], slips_seen: list[str], brief: str) -> None:
    sight = Sight(CrateWorld(), Setup("a", "a", brief, {}, (), (), 40))
    assert (crates_seen, slips_seen) == (sight.ids("crate"), sight.ids("slip"))


@pytest.mark.parametrize(
    ("slips", "crates_seen", "ok"),
    [
        (["s1"], ["c1"], True),
        ([], [], False),
    ],
)  # fmt: skip
def test_what_a_refused_act_names_was_not_seen(slips: list[str], crates_seen: list[str], *, ok: bool) -> None:
    world = CrateWorld()
    sight = Sight(world, Setup("a", "a", "", {}, (), (), 40))
    last = {"ok": ok, "kind": "crate.take", "slips": ["s1", "no key"], "crate": "c1", "result": None}
    sight.look(Asked(0, 40, last, (), Watch(world, "a")))
    assert (slips, crates_seen) == (sight.ids("slip"), sight.ids("crate"))


@pytest.mark.parametrize(
    ("values", "name", "beside"),
    [
        ([70, 80, 5], "price", ()),
        ([80, 70, 5], "price", ("c2",)),
        ([5, 70, 80], "list_price", ()),
        ([80, 5, 70], "list_price", ("c2",)),
        (["i1", "i2"], "item_ids", ()),
        ([], "user_id", ()),
    ],
)
def test_values_are_found_by_name_and_by_what_they_stand_beside(
    values: list[Any], name: str, beside: tuple[str, ...]
) -> None:
    mandate = {
        "rows": [{"id": "c1", "price": 70}, {"id": "c2", "price": 80}],
        "list_price": 5,
        "item_ids": ["i1", "i2"],
    }
    sight = Sight(CrateWorld(), Setup("a", "a", "", mandate, (), (), 40))
    assert values == sight.values(name, frozenset(beside))


@pytest.mark.parametrize(
    ("expected", "annotation"),
    [
        (True, int),
        (True, int | None),
        (True, Annotated[int, msgspec.Meta(ge=0)]),
        (True, list[Pair]),
        (True, dict[str, int]),
        (True, Nest),
        (False, str),
        (False, bool),
        (False, list[list[CrateId]]),
        (False, Any),
    ],
)
def test_what_can_hold_numbers_is_moved(*, expected: bool, annotation: Any) -> None:
    assert expected == has_number(msgspec.inspect.type_info(annotation))
