"""Check 6 of played runs, as a command asks for it: only what a run needs is brought in.

Not here: the check itself (`tollbook.tasks.play.conduct`); recorded runs (`tollbook.tasks.tau2`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..ledger.audited import Audit


def played(audit: Audit) -> Audit:
    """The audit with check 6, where the run was played here; then without what only that check needs."""
    if audit.custody != "played":
        return audit
    from ..ledger.verify import slim  # noqa: PLC0415 - as below
    from .play.conduct import with_conduct  # noqa: PLC0415 - brings in CEL, which imported runs need not

    return slim(with_conduct(audit))
