"""A bar for work that takes a while, seen only by who watches a terminal.

    with progress(114, "importing", quiet=as_json) as step:
        step()    one of them is done

It is drawn on stderr. Where stderr is no terminal, or a program reads the
result (`--json`), nothing is written at all.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


@contextmanager
def progress(length: int, label: str, *, quiet: bool) -> Generator[Callable[[], None]]:
    """A bar over `length` pieces of work, as the function that notes one as done."""
    # A stream is None when its descriptor was closed before the start (`2>&-`).
    if quiet or sys.stderr is None or not sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison]
        yield _silent
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield lambda: bar.update(1)


def _silent() -> None:
    return
