"""What a command says, and the number it ends with.

    result   → stdout   text, or with --json one document with a "schema"
    the rest → stderr   progress, notes, and of a failure these two lines:

        error: <one lower-case line, the user's values in backticks>
        hint: <what to try>

Texts from outside are shown with control characters, line ends and invisible
characters escaped, so that nothing read from a file moves the cursor or forges
a line. What went wrong is told in `tollbook.tasks.complaint`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from enum import IntEnum
from io import TextIOWrapper
from pathlib import Path
from typing import Final

import click

from ..protocol.errors import UsageError


class Exit(IntEnum):
    """The numbers a command ends with."""

    GOOD = 0
    COULD_NOT = 1
    USAGE = 2
    FOUND_FALSE = 3
    """Checked, and found false: the answer is no, not "could not"."""
    BELOW_REQUIRED = 4
    """Good as far as checked, and less than `--require` asks for."""
    INTERRUPTED = 130


PATH: Final = click.Path(path_type=Path, readable=False)
"""A file or folder as an option or argument; whether it can be used is found, and told, by who uses it."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
"""`--json`, for every command that has a result."""


def print_document(verb: str, fields: Mapping[str, object]) -> None:
    """Prints a command's result as one line of JSON that names its schema.

    Values may be anything msgspec can write; floats and the order of sets are the caller's to avoid.
    """
    click.echo(document_text(verb, fields), nl=False)


def document_text(verb: str, fields: Mapping[str, object]) -> str:
    """As `print_document`, not printed; ended by a line end."""
    import msgspec  # noqa: PLC0415 - `--version` and the help need none

    return msgspec.json.encode({"schema": f"tollbook.{verb}/1", **fields}).decode() + "\n"


def check_form(**forms: bool) -> None:
    """Refuses to give two forms of one result; each is an option, named by its word.

    Raises:
        UsageError: `usage.form`.
    """
    given = [f"`--{word}`" for word, is_given in forms.items() if is_given]
    if len(given) > 1:
        raise UsageError("usage.form", f"{' and '.join(given[:2])} are two forms", "give one of them")


def print_error(text: str, hint: str) -> None:
    """Prints the two lines of a failure to stderr."""
    click.echo(f"error: {printable(text)}\nhint: {printable(hint)}", err=True)


def printable(text: str) -> str:
    """A text with what can't be seen, or would act on a terminal, escaped as Python escapes it.

    That is control and format characters, line and paragraph ends, spaces
    other than the plain one, lone surrogates and unassigned code points.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def counted(count: int, noun: str) -> str:
    """So many of something, in words: `1 run`, `0 runs`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def speak_utf8() -> None:
    """Makes both streams UTF-8 whatever the locale says, and unable to fail on a lone surrogate."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def flush() -> None:
    """Brings out what was printed; a full disk or a reader that left shows here at the latest."""
    for stream in (sys.stdout, sys.stderr):
        # A stream is None when its descriptor was closed before the start (`>&-`).
        if stream is not None:  # pyright: ignore[reportUnnecessaryComparison]
            stream.flush()


def fall_silent() -> None:
    """Sends what is still in the buffers nowhere: its reader has gone or its disk is full."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
