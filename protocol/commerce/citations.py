"""Evidence that is cited in a matter of an order.

    cited = records, each once, that both parties of the order may read,
            on the order, on one of its returns or on a listing of its lines

Whoever cites a record says that it bears on the matter; whose word counts is for whoever decides it.
Not here: what evidence is (`evidence`), or what it is cited for (`returns`, `disputes`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated

import msgspec

from ..tables import State
from ..world import Refusal
from .evidence import readable
from .orders import Order
from .terms import EvidenceRecordId

Cited = Annotated[tuple[EvidenceRecordId, ...], msgspec.Meta(max_length=64)]


def miscited(  # noqa: PLR0913 - what is cited, in which matter, and what was before
    state: State, noun: str, cited: Sequence[str], key: str, order: Order, before: Collection[str] = ()
) -> Refusal | None:
    """Why records can't be cited in a matter of order `key`, or None; ``before`` were cited already."""
    for place, name in enumerate(cited):
        if any(readable(state, name, party) is None for party in (order.buyer, order.merchant)):
            return Refusal(f"{noun}.evidence", {"evidence_record": name})
        if name in before or name in cited[:place]:
            return Refusal(f"{noun}.evidence", {"evidence_record": name})
    subjects = {key, *order.returns, *(line.listing for line in order.lines)}
    for name in cited:
        if state.get("evidence_record", name).subject not in subjects:
            return Refusal(f"{noun}.relevance", {"evidence_record": name})
    return None
