"""What `verify` and the independent verifier make of one file, in a form that can be compared.

The independent verifier doesn't know the market: of what `verify` finds, checks 1, 2 and 5 are
compared with it. Nor does it read a field that these checks don't need: where `verify` names a
malformed one, it names what the change broke (`FORMLESS`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import verify_trace

from tollbook.ledger.audit import Audit
from tollbook.ledger.verify import verify_bundle
from tollbook.protocol.errors import BundleError

SHARED = ("1", "2", "5")
"""The checks that both do."""

FORMLESS = {
    "record.form": {
        "brief.party", "checkpoint.root", "key.form", "key.unknown", "message.from", "message.seen",
        "part.orphan", "record.prev", "record.spelling", "signature.form", "signature.invalid", "turn.party",
    },
    "turn.n": {"record.prev"},
    "bundle.form": {"blob.digest", "note.signature", "part.digest"},
}  # fmt: skip
"""What the independent verifier says instead of a form that it doesn't know."""


class Verdict(NamedTuple):
    """What a verifier makes of a file: is anything found, and what first, in the file and in each run."""

    found: bool
    first: tuple[str | None, ...]


def alike(ours: Verdict, theirs: Verdict) -> bool:
    """Whether both find something or nothing, and the same first, as far as the independent one can tell."""
    return ours.found == theirs.found and len(ours.first) == len(theirs.first) and all(
        one == other or other in FORMLESS.get(one or "", ())
        for one, other in zip(ours.first, theirs.first, strict=True)
    )


def by_verify(data: bytes, path: Path) -> Verdict:
    path.write_bytes(data)
    try:
        audits = list(verify_bundle(path))
    except BundleError as error:
        return Verdict(found=True, first=(error.code,))
    found = not audits or not all(audit.good and not audit.findings for audit in audits)
    return Verdict(found, tuple(_firsts(audits)))


def _firsts(audits: list[Audit]) -> Iterator[str | None]:
    """The first code of what is shared: of the file, then of each run."""
    told = [finding for audit in audits for finding in audit.findings if finding.check in SHARED]
    for run in ("", *(audit.run for audit in audits)):
        yield next((finding.code for finding in told if finding.run == run), None)


def by_trace(data: bytes) -> Verdict:
    findings, runs = verify_trace.audit(data)
    first = tuple(next((code for run, _seq, code in findings if run == name), None) for name in ("-", *runs))
    return Verdict(any(first) or not runs or not all(runs.values()), first)
