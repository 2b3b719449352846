"""A buyer for `t4.buyer_zopa`: opens low, raises evenly, takes the last ask if it can afford it.

Told one line of JSON at a time on stdin; answers each turn with one line on stdout, flushed at once.
"""

import json
import re
import sys


def act(last: dict | None, heard: dict) -> dict | None:
    """What to do next: `last` is the act before and what became of it, `heard` the merchant's since."""
    if last is None:
        return {"kind": "listing.get", "listing": "l1"}
    if last["kind"] == "listing.get":
        listing.update(last["result"]["listing"][0])  # a result holds the rows shown, by table
        deal = {"listing": "l1", "quantity": 1, "to": listing["merchant"]}
        return {"kind": "negotiation.propose", **deal, **offer()}
    for said in (last, heard):
        if said.get("kind") == "negotiation.accept" and said["ok"]:  # by either side: there is an agreement
            return {"kind": "agreement.settle", "agreement": said["agreement"], "to": listing["merchant"]}
    if heard.get("kind") != "negotiation.counter":
        return None  # refused, or turned down: nothing is left to do
    asks.append(heard["unit_price"])
    answer = {"negotiation": heard["negotiation"], "to": listing["merchant"]}
    if len(asks) < rounds - 1:
        return {"kind": "negotiation.counter", **offer(), **answer}
    if asks[-1] <= told["mandate"]["budget"]:
        return {"kind": "negotiation.accept", **answer}
    return {"kind": "negotiation.reject", "reason": "Too dear.", **answer}


def offer() -> dict:
    """35 % of the list price at first, and 5 % more for each ask heard; whole cents, never a float."""
    return {"unit_price": listing["price"] * (35 + 5 * len(asks)) // 100, "note": ""}


listing, asks = {}, []
told = json.loads(sys.stdin.readline())["begin"]
rounds = int(re.search(r"at most (\d+) offers", told["brief"])[1])
for line in sys.stdin:
    turn = json.loads(line)["turn"]
    chosen = act(turn["last"], turn["inbox"][-1] if turn["inbox"] else {})
    print(json.dumps({"act": chosen} if chosen else {"done": True}), flush=True)
