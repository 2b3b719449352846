"""A bar where somebody watches, nothing elsewhere."""

from __future__ import annotations

import io
import sys

import pytest

from tollbook.tasks.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("is_shown", "stream",        "quiet"),
    [
        (True,   Terminal(),      False),
        (False,  Terminal(),      True),
        (False,  io.StringIO(),   False),
        (False,  None,            False),
    ],
)  # fmt: skip
def test_a_bar_is_for_a_terminal(
    monkeypatch: pytest.MonkeyPatch, is_shown: bool, stream: io.StringIO | None, quiet: bool  # noqa: FBT001 - columns
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with progress(3, "importing", quiet=quiet) as step:
        for _ in range(3):
            step()
    shown = "" if stream is None else stream.getvalue()
    assert is_shown == bool(shown)
    assert is_shown == ("importing" in shown and "100%" in shown)
