"""Three forgeries, for the demonstration that they are found.

    play_unfairly   an operator plays another script than the task's, with every signature good
    forge_row       a decision's event is altered and every hash after it made again
    flip_byte       one character of a text is another one

Who has only a file can do the last two; for the first it takes the ledger's secret.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from ..ledger.records import leaf_of_record

if TYPE_CHECKING:
    from pathlib import Path

_AMOUNT = re.compile(rb'"events":\[\{[^\]]*?"amount":"(?P<amount>[0-9.]+)"')
_PREV = re.compile(rb'(?<="prev":")[0-9a-f]{64}(?=")')
_TEXT = re.compile(rb'\{"part":\{"field":"text","salt":"[0-9a-f]{32}","text":"(?P<text>[A-Za-z])')


def play_unfairly(ledger: Path, name: str) -> None:
    """Records a run of a built-in task whose seller takes what it is offered, as one of the task as it is."""
    from .format.task import load_task  # noqa: PLC0415 - brings in CEL
    from .play.casting import Part, cast  # noqa: PLC0415 - as above
    from .play.recorder import Ledger, record  # noqa: PLC0415 - as above
    from .session import DEFAULT_NAME, Session, secret_path_of  # noqa: PLC0415 - as above
    from .shelf import find_task  # noqa: PLC0415 - as above

    text = find_task(name).text
    honest = load_task(text)
    unfair = load_task(text.replace("message.unit_price >= ask", "true"))
    session = Session(ledger, secret_path_of(ledger), DEFAULT_NAME)
    secret = session.secret()
    with session.store_to_write(secret) as store:
        played = unfair._replace(text=text, digest=honest.digest)
        case, agent = next(iter(honest.file.case)), cast(honest, Part("cheat:takes_the_first_ask"))("")
        record(Ledger(store, secret, session.name), played, case, 0, agent)


def forge_row(bundle: bytes) -> bytes:
    """The bundle with one refund of its first decision that has one raised, and the chain made good."""
    lines = bundle.split(b"\n")
    place = next(place for place, line in enumerate(lines) if _is_record(line) and _AMOUNT.search(line))
    match = _AMOUNT.search(lines[place])
    assert match is not None
    start, end = match.span("amount")
    lines[place] = lines[place][:start] + b"9" + lines[place][start:end] + lines[place][end:]
    records = [at for at, line in enumerate(lines) if at >= place and _is_record(line)]
    for before, after in pairwise(records):
        if b'"kind":"open"' in lines[after]:
            break
        leaf = leaf_of_record(lines[before][len(b'{"record":') : -1]).hex().encode()
        lines[after] = _PREV.sub(leaf, lines[after])
    return b"\n".join(lines)


def flip_byte(bundle: bytes) -> bytes:
    """The bundle with the first letter of a text changed to its neighbour."""
    match = _TEXT.search(bundle)
    assert match is not None
    place = match.start("text")
    return bundle[:place] + bytes([bundle[place] ^ 1]) + bundle[place + 1 :]


def _is_record(line: bytes) -> bool:
    return line.startswith(b'{"record":')
