"""Answers that could not be acted on: words without a move, moves that were refused, passes by the operator.

    turn   a party was asked, and moved in the end, or was passed for

    unparsed   answers that hold no move / turns
    refused    moves against the rules / turns
    passed     turns that the operator passed for

A party may fail more than once in a turn, so the first two can be above 1.

Not here: what a family makes of a pass.

Source: the auctions page of the design, A ("a text that doesn't parse is a recorded refusal").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from ...protocol.auction.turns import AgentUnparsed, TurnPass
from ..measures import Key, Measure, Sums, counted
from .reading import Reading

MEASURES: Final = {
    "unparsed": Measure("ratio", 0, None, "answers without a move, over turns", "-"),
    "refused": Measure("ratio", 0, None, "moves refused, over turns", "-"),
    "passed": Measure("share", 0, 1, "turns that the operator passed for", "-"),
}


def turns(reading: Reading) -> Mapping[str, Sums]:
    """How each bidder's turns went."""
    moved, unparsed, refused, passed = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for deed in reading.episode.deeds:
        sender, action = deed.message.sender, deed.action
        is_accepted = deed.decision.outcome == "accepted"
        if isinstance(action, TurnPass):
            passed[action.party] += is_accepted
        elif isinstance(action, AgentUnparsed):
            unparsed[sender] += 1
        else:
            (moved if is_accepted else refused)[sender] += 1
    return {
        bidder: {
            Key(name): counted(count[bidder], moved[bidder] + passed[bidder])
            for name, count in (("unparsed", unparsed), ("refused", refused), ("passed", passed))
        }
        for bidder in reading.bidders
    }
