"""A buyer for `t4.buyer_zopa`: opens low, raises evenly, takes the last ask that it can afford.

Told one line of JSON at a time on stdin; answers each turn with one line on stdout, flushed at once.
"""

import json
import re
import sys


def act(turn):
    """What to do next, from what became of the last act and what the merchant said to it."""
    last, heard = turn["last"], turn["inbox"][-1:]
    if last is None:
        return {"kind": "listing.get", "listing": "l1"}
    if last["kind"] == "listing.get":
        listing.update(last["result"]["listing"][0])  # result: the rows that were shown, by table
        offer = {"listing": "l1", "quantity": 1, "unit_price": listing["price"] * 35 // 100, "note": "For a study."}
        return {"kind": "negotiation.propose", "to": listing["merchant"], **offer}
    for said in [last, *heard]:
        if said["kind"] == "negotiation.accept" and said["ok"]:  # by whichever side: there is an agreement
            return {"kind": "agreement.settle", "to": listing["merchant"], "agreement": said["agreement"]}
    if not heard or heard[0]["kind"] != "negotiation.counter":
        return None  # refused, or turned down: nothing more to do
    asks.append(heard[0]["unit_price"])
    answer = {"to": listing["merchant"], "negotiation": heard[0]["negotiation"]}
    if len(asks) < rounds - 1:
        price = listing["price"] * (35 + 5 * len(asks)) // 100
        return {"kind": "negotiation.counter", "unit_price": price, "note": "", **answer}
    if asks[-1] <= told["mandate"]["budget"]:
        return {"kind": "negotiation.accept", **answer}
    return {"kind": "negotiation.reject", "reason": "Too dear.", **answer}


listing, asks = {}, []
told = json.loads(sys.stdin.readline())["begin"]
rounds = int(re.search(r"at most (\d+) offers", told["brief"])[1])
for line in sys.stdin:
    chosen = act(json.loads(line)["turn"])
    print(json.dumps({"act": chosen} if chosen else {"done": True}), flush=True)
