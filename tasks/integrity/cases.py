"""The thirteen cases, in order.

    scratch    each in a ledger of its own, in a folder
    of_runs    8, 11 and 13, of exports of named runs

Source: spec/commerce.md A5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from .case import Shown
from .damage import changed_bytes, cut_tail, forged_row
from .identity import impostor, in_process_and_over_http, sent_elsewhere
from .lasting import reopened, told_code
from .market import Scratch, agreed, shelf
from .trading import expired, once, over_fill, reserved, twice

Damage = Callable[[Sequence[bytes], Path], Shown]


def _of_scratch(damage: Damage) -> Callable[[Path], Shown]:
    return lambda folder: damage(_sealed(folder), folder / "damaged.jsonl")


CASES: Final[dict[int, Callable[[Path], Shown]]] = {
    1: over_fill,
    2: twice,
    3: reserved,
    4: impostor,
    5: expired,
    6: once,
    7: in_process_and_over_http,
    8: _of_scratch(changed_bytes),
    9: reopened,
    10: told_code,
    11: _of_scratch(forged_row),
    12: sent_elsewhere,
    13: _of_scratch(cut_tail),
}
"""What does each case in a folder, by its number."""


def scratch(folder: Path) -> Iterator[Shown]:
    """Each case, done in the folder."""
    for case in CASES.values():
        yield case(folder)


def of_runs(exports: Sequence[tuple[str, Sequence[bytes]]]) -> Iterator[Shown]:
    """The cases that are about an export, done to those of named runs."""
    with TemporaryDirectory(prefix="tollbook-check-") as folder:
        for run, lines in exports:
            for damage in (changed_bytes, forged_row, cut_tail):
                yield damage(lines, Path(folder) / "damaged.jsonl", run)


@cache
def _sealed(folder: Path) -> Sequence[bytes]:
    """The export of a scratch run that ends with a settlement."""
    rows = {**shelf(2), "agreement": {"deal": agreed(1, "ann")}}
    market = Scratch(folder / "sealed.db", rows)
    market.say("ann", "listing.get", listing="lamp")
    market.say("bob", "message.send", to="shop", text="Is there one left?")
    market.say("ann", "agreement.settle", to="shop", agreement="deal")
    market.seal()
    lines = market.export()
    market.close()
    return lines
