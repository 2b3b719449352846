"""An exception, told to the person at the terminal: one line of error, one of hint, an exit code.

    TollbookError            its own text and hint         1, UsageError 2
    click's usage errors     in the same form              2
    OSError                  which path, and what of it    1
    out of memory, too deep  what to give less of          1
    interrupted              that it was                   130
    anything else            a bug of ours                 1

This is the one place that does so: commands raise and leave the wording of what
the system reports to this module. A reader that has gone (`| head`) is no
failure worth a line; `tollbook.tasks.cli` lets it end the command quietly.
"""

from __future__ import annotations

import errno
import os
import re
from difflib import get_close_matches
from typing import NamedTuple

import click

from ..protocol.errors import TollbookError, UsageError
from .console import Exit


class Complaint(NamedTuple):
    """What is printed of a failure, and the code the command ends with."""

    text: str
    hint: str
    exit: Exit


_HINTS = {
    errno.ENOENT: "check the path",
    errno.EISDIR: "name a file, not a folder",
    errno.ENOTDIR: "check the path: a part of it is no folder",
    errno.EACCES: "check its owner and mode with `ls -ld`",
    errno.EPERM: "check its owner and mode with `ls -ld`",
    errno.EEXIST: "name another file",
    errno.EROFS: "name a place that can be written",
    errno.ENOSPC: "free some space, or name a place on another disk",
    errno.EDQUOT: "free some space, or name a place on another disk",
    errno.EMFILE: "raise the limit with `ulimit -n`",
}
_NO_COMMAND = re.compile(r"No such command '(.*?)'\.")
_INTERNAL_HINT = "this is a bug in tollbook: please report it; TOLLBOOK_DEBUG=1 shows where it happened"


def complaint_of(error: BaseException) -> Complaint | None:
    """What to print of an exception, or None where it can only be a bug of ours."""
    match error:
        case TollbookError():
            code = Exit.USAGE if isinstance(error, UsageError) else Exit.COULD_NOT
            return Complaint(error.text, error.hint or "see `tollbook --help`", code)
        case click.UsageError():
            return _of_usage(error)
        case click.ClickException():
            return Complaint(_sentence(error.format_message()), "see `tollbook --help`", Exit.COULD_NOT)
        case KeyboardInterrupt() | click.Abort():
            return Complaint("interrupted", "run the command again", Exit.INTERRUPTED)
        case MemoryError():
            return Complaint("out of memory", "free some, or give the command less at once", Exit.COULD_NOT)
        case RecursionError():
            return Complaint("the input is nested too deeply", "check the input file", Exit.COULD_NOT)
        case OSError():
            return _of_system(error)
        case _:
            return None


def bug_of(error: BaseException) -> Complaint:
    """What to print of an exception that nobody foresaw."""
    return Complaint(f"internal: {type(error).__name__} {error}".strip(), _INTERNAL_HINT, Exit.COULD_NOT)


def _of_usage(error: click.UsageError) -> Complaint:
    hint = f"see `{error.ctx.command_path if error.ctx else 'tollbook'} --help`"
    if match := _NO_COMMAND.match(error.message):
        group = error.ctx.command if error.ctx else None
        near = get_close_matches(match[1], group.commands if isinstance(group, click.Group) else (), 1)
        hint = f"did you mean `{error.ctx.command_path} {near[0]}`?" if error.ctx and near else hint
        return Complaint(f"there is no command `{match[1]}`", hint, Exit.USAGE)
    if not isinstance(error, click.NoSuchOption):
        return Complaint(_sentence(error.format_message()), hint, Exit.USAGE)
    if error.possibilities:
        hint = f"did you mean {' or '.join(f'`{name}`' for name in sorted(error.possibilities))}?"
    return Complaint(f"there is no option `{error.option_name}`", hint, Exit.USAGE)


def _of_system(error: OSError) -> Complaint:
    text = _sentence(error.strerror or str(error) or type(error).__name__)
    # An error of a descriptor has its number, or nothing, where others have the path.
    if isinstance(error.filename, (str, bytes)):
        is_missing = error.errno == errno.ENOENT
        what = "does not exist" if is_missing else f"cannot be used: {text}"
        text = f"`{os.fsdecode(error.filename)}` {what}"
    hint = _HINTS.get(error.errno or 0, "check the files named on the command line")
    return Complaint(text, hint, Exit.COULD_NOT)


def _sentence(text: str) -> str:
    """A message of click's or the system's in our form: one lower-case line, no stop, backticks."""
    line = " ".join(text.split()).removesuffix(".")
    line = re.sub(r"'([^']*)'", r"`\1`", line)
    line = re.sub(r"(extra arguments?) \((.*)\)$", r"\1 `\2`", line)
    line = re.sub(r"a valid integer( range)?$", "a whole number", line)
    line = re.sub(r"not in the range x>=(\d+)$", r"not from \1 up", line)
    line = re.sub(r"not in the range (\d+)<=x<=(\d+)$", r"not from \1 to \2", line)
    return line[:1].lower() + line[1:]
