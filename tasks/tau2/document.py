"""A JSON document as its makers left it: read whole, unpacked, and bounded.

    path ─► bytes (≤ 1 GiB, gzip unpacked) ─► JSON as Python's own reader takes it ─► document, SHA-256

Makers wrote their files with Python, so `NaN` and lone surrogates are read as
Python reads them, and refused where they would have to be kept. A number of
more digits than any Python may be asked to turn into text is kept as a mark,
so that one such number costs one run and not the file.

Not here: what the document must hold (`source`, the shop's own reader).

Source: RFC 8259; RFC 1952 2.3.1 (a gzip member begins with 1f 8b); Python's
"Integer string conversion length limitation" (at least 640 digits are allowed).
"""

from __future__ import annotations

import gzip
import json
import zlib
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING, Any, NoReturn, cast, final

from ...protocol.errors import SourceError

if TYPE_CHECKING:
    from pathlib import Path

MAX_CONTENT_BYTES = 2**30
MAX_DIGITS = 640
_GZIP = b"\x1f\x8b"
_SHOWN = 40
_HINT = "check that it is the right file"


@final
class Oversized:
    """Stands for an integer of too many digits."""

    def __init__(self, digits: int) -> None:
        self.digits = digits

    def __str__(self) -> str:
        return f"a number of {self.digits} digits"


def read_json(path: Path) -> tuple[Any, str]:
    """A JSON file's document, unpacked if it is gzip, and SHA-256 of its content in hex.

    Raises:
        SourceError: it is missing, unreadable, damaged, too large or not JSON.
    """
    content = _content(path)
    try:
        document = json.loads(content, parse_int=_integer)
    except RecursionError:
        raise SourceError("source.json", f"`{path}` is nested too deep", _HINT) from None
    except ValueError as error:
        raise SourceError("source.json", f"`{path}` is not JSON: {error}", _HINT) from None
    return document, sha256(content).hexdigest()


def text_of(value: object, what: str) -> str:
    """A value's JSON text.

    Raises:
        SourceError: it is nested too deep, or holds a number of too many digits.
    """
    try:
        return json.dumps(value, default=_refuse)
    except RecursionError:
        raise SourceError("source.depth", f"{what} is nested too deep") from None


def object_of(value: object) -> dict[str, Any] | None:
    """The value where it is a JSON object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def list_of(value: object) -> list[Any] | None:
    """The value where it is a JSON array."""
    return cast("list[Any]", value) if isinstance(value, list) else None


def shown(value: object) -> str:
    """A value in backticks, short and printable, for an error's one line."""
    text = str(value) if isinstance(value, (str, Oversized)) else type(value).__name__
    text = ascii(text)[1:-1]
    return f"`{text}`" if len(text) <= _SHOWN else f"`{text[:_SHOWN]}…`"


def _integer(digits: str) -> int | Oversized:
    return int(digits) if len(digits) <= MAX_DIGITS else Oversized(len(digits))


def _refuse(value: object) -> NoReturn:
    raise SourceError("source.number", f"it holds {value}, over the limit of {MAX_DIGITS}")


def _content(path: Path) -> bytes:
    try:
        # Read once, so that a pipe will do.
        with path.open("rb") as file:
            content = file.read(MAX_CONTENT_BYTES + 1)
        if content.startswith(_GZIP):
            content = gzip.GzipFile(fileobj=BytesIO(content)).read(MAX_CONTENT_BYTES + 1)
    except FileNotFoundError:
        raise SourceError("source.missing", f"there is no file `{path}`", "check the path") from None
    except IsADirectoryError:
        raise SourceError("source.directory", f"`{path}` is a directory", "give a file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        what = f"`{path}` is a damaged or cut gzip file"
        raise SourceError("source.gzip", what, "get a whole copy") from None
    except OSError as error:
        raise unreadable(path, error) from None
    if len(content) > MAX_CONTENT_BYTES:
        raise SourceError("source.size", f"`{path}` is over {MAX_CONTENT_BYTES} bytes", "import it in pieces")
    return content


def unreadable(path: Path, error: OSError) -> SourceError:
    """The error for a path that the system doesn't let us read."""
    return SourceError("source.open", f"`{path}` can't be read: {error.strerror}", "check its permissions")
