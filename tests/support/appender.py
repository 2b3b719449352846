"""Appends messages to a ledger, a batch at a time, beside other processes that do the same.

    python appender.py PATH TRIAL MESSAGES BATCH

Each batch opens the ledger anew, goes on with the run of this trial (or begins it) and closes the ledger.
"""

from __future__ import annotations

import sys
from pathlib import Path

from small_run import SECRET, begin, ledger, plan

from tollbook.ledger.bundle import opened_of
from tollbook.ledger.store import Store
from tollbook.ledger.writer import Writer
from tollbook.protocol.retail.actions import ListAllProductTypes


def writer_of(store: Store, trial: int) -> Writer:
    for number, _run_id in store.runs():
        if opened_of(store, number).trial == plan(trial).trial:
            return Writer.resume(store, SECRET, number)
    return begin(store, trial)


def main(path: str, trial: str, messages: str, batch: str) -> None:
    for _ in range(int(messages) // int(batch)):
        with ledger(Path(path)) as store:
            writer = writer_of(store, int(trial))
            for _ in range(int(batch)):
                writer.voice("assistant").say(ListAllProductTypes(), to="platform")
            writer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
