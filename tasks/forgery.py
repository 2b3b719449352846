"""Two forgeries of an exported run, for the demonstration that they are found.

    forge_row    a decision's event is altered and every hash after it made again
    flip_byte    one character of a text is another one

Who has only the file can go no further: the keys are not in it.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ..ledger.records import leaf_of_record

_AMOUNT = re.compile(rb'"events":\[\{[^\]]*?"amount":"(?P<amount>[0-9.]+)"')
_PREV = re.compile(rb'(?<="prev":")[0-9a-f]{64}(?=")')
_TEXT = re.compile(rb'\{"part":\{"field":"text","salt":"[0-9a-f]{32}","text":"(?P<text>[A-Za-z])')


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
