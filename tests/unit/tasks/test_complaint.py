"""Every exception becomes two lines and a code; ours alone is called a bug."""

from __future__ import annotations

import errno
import os

import click
import pytest

from tollbook.protocol.errors import BundleError, UsageError
from tollbook.tasks import cli
from tollbook.tasks.complaint import Complaint, complaint_of
from tollbook.tasks.console import Exit, printable
from tollbook.tasks.session import Session

ANY_FILE = "check the files named on the command line"


def system(number: int, path: object = None) -> OSError:
    return OSError(number, os.strerror(number), path)


@pytest.mark.parametrize(
    ("expected", "error"),
    [
        (("a is b", "try c", 1), BundleError("bundle.form", "a is b", "try c")),
        (("a is b", "see `tollbook --help`", 1), BundleError("bundle.form", "a is b")),
        (("a is b", "try c", 2), UsageError("usage.verb", "a is b", "try c")),
        (("no `a` here", "see `tollbook --help`", 2), click.UsageError("No 'a'\n  here.")),
        (("there is no command `a`", "see `tollbook --help`", 2), click.UsageError("No such command 'a'.")),
        (("`x` is not a whole number", "see `tollbook --help`", 2),
         click.UsageError("'x' is not a valid integer range.")),
        (("0 is not from 1 up", "see `tollbook --help`", 2), click.UsageError("0 is not in the range x>=1.")),
        (("0 is not from 1 to 64", "see `tollbook --help`", 2),
         click.UsageError("0 is not in the range 1<=x<=64.")),
        (("`x` cannot be read", "see `tollbook --help`", 1), click.ClickException("'x' cannot be read.")),
        (("interrupted", "run the command again", 130), KeyboardInterrupt()),
        (("interrupted", "run the command again", 130), click.Abort()),
        (("out of memory", "free some, or give the command less at once", 1), MemoryError()),
        (("the input is nested too deeply", "check the input file", 1), RecursionError("maximum depth")),
        (("`a.db` does not exist", "check the path", 1), system(errno.ENOENT, "a.db")),
        (("`a.db` does not exist", "check the path", 1), system(errno.ENOENT, b"a.db")),
        (("`a` cannot be used: is a directory", "name a file, not a folder", 1), system(errno.EISDIR, "a")),
        (("input/output error", ANY_FILE, 1), system(errno.EIO, 7)),
        (("not a gzipped file", ANY_FILE, 1), OSError("Not a gzipped file")),
    ],
)
def test_complaints(expected: tuple[str, str, int], error: BaseException) -> None:
    assert Complaint(*expected[:2], Exit(expected[2])) == complaint_of(error)


@pytest.mark.parametrize(
    "error", [EOFError("ended early"), ValueError("a\x1b[2J\nb"), KeyError("k"), AssertionError()]
)
def test_what_nobody_foresaw_is_our_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    def fail(_: Session) -> bytes:
        raise error

    monkeypatch.setattr(Session, "secret", fail)
    assert cli.main(["key", "show"]) == Exit.COULD_NOT
    lines = capsys.readouterr().err.splitlines()
    assert [
        f"error: internal: {type(error).__name__} {printable(str(error))}".strip(),
        "hint: this is a bug in tollbook: please report it; TOLLBOOK_DEBUG=1 shows where it happened",
    ] == lines
    monkeypatch.setenv("TOLLBOOK_DEBUG", "1")
    with pytest.raises(type(error)):
        cli.main(["key", "show"])


def test_debug_raises_only_what_is_our_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOLLBOOK_DEBUG", "1")
    assert cli.main(["nonsense"]) == Exit.USAGE


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("plain, é, 漢, 😀", "plain, é, 漢, 😀"),
        ("\\x1b[2J\\r\\n\\t\\x00\\x7f\\x9b", "\x1b[2J\r\n\t\x00\x7f\x9b"),
        ("a\\u202eb\\u2028c\\u200bd\\xa0e", "a\u202eb\u2028c\u200bd\xa0e"),
        ("\\udcff\\ufeff", "\udcff\ufeff"),
    ],
)
def test_printable(expected: str, text: str) -> None:
    assert expected == printable(text)
