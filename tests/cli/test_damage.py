"""A ledger that somebody changed: who only shows it says what can't be shown, and `verify` what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from script import Stage

RUN = 1 << 31  # the place of the first run's first record
SEAL = RUN + 25
GONE = f"DELETE FROM records WHERE place BETWEEN {RUN} AND {SEAL}"
OPENLESS = f"DELETE FROM records WHERE place = {RUN}"
NOT_ITS_OWN = "the records of run `491b0a273b85` are not those of its id and checkpoint"
UNREAD = "record 25 of run `491b0a273b85` can't be read"
NO_OPEN = "run `491b0a273b85` doesn't begin with an open"


def seal(text: str) -> str:
    return f"UPDATE records SET body = '{text}' WHERE place = {SEAL}"


@pytest.mark.parametrize(
    ("code", "error",                                    "command",                  "table",   "sql"),
    [
        (1, NO_OPEN,                                     "log 491b",                 "records", GONE),
        (1, NO_OPEN,                                     "log 491b",                 "records", OPENLESS),
        (1, NO_OPEN,                                     "show 491b",                "records", GONE),
        (1, "run `491b0a273b85` has no record 1",        "show 491b --seq 1",        "records", GONE),
        (1, "run `491b0a273b85` has no record 0",        "replay 491b --at 0",       "records", GONE),
        (1, NOT_ITS_OWN,                                 "prove inclusion 491b 1",   "records", OPENLESS),
        (1, NOT_ITS_OWN,                                 "prove inclusion 491b 1",   "records",
         f"DELETE FROM records WHERE place = {SEAL}"),
        (1, NOT_ITS_OWN,                                 "prove consistency 491b 1", "notes",
         "UPDATE notes SET text = replace(text, char(10) || '26', char(10) || '25') WHERE run = 1"),
        (1, NOT_ITS_OWN,                                 "prove inclusion 491b 1",   "notes",
         "UPDATE notes SET text = 'none' WHERE run = 1"),
        (1, "run `491b0a273b85` has no checkpoint",      "prove checkpoint 491b",    "notes",
         "DELETE FROM notes WHERE run = 1"),
        (1, UNREAD,                                      "log 491b",                 "records", seal("{")),
        (1, UNREAD,                                      "show 491b",                "records", seal("{}")),
        (1, UNREAD,                                      "show 491b --seq 25",       "records", seal("[]")),
        (3, None,                                        "verify 491b",              "records", seal("{}")),
        (3, None,                                        "verify 491b",              "records", OPENLESS),
        (3, None,                                        "score 491b",               "records", OPENLESS),
        (0, None,                                        "verify 9c62",              "records", GONE),
    ],
)  # fmt: skip
def test_what_is_damaged_is_named(  # noqa: PLR0913 - a table
    tmp_path: Path, code: int, error: str | None, command: str, table: str, sql: str
) -> None:
    with Stage(tmp_path) as stage:
        stage.prepare("ledger tollbook.db")
        stage.damage(table, sql)
        ran = stage.run(f"tollbook {command}")
    assert (code, error) == (ran.exit, first_error(ran.stderr))


def first_error(stderr: str) -> str | None:
    lines = [line.removeprefix("error: ") for line in stderr.splitlines() if line.startswith("error: ")]
    return lines[0] if lines else None
