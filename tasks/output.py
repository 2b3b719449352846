"""Where a command's `-o FILE` may be written: not over a folder, a device, or the ledger itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..protocol.errors import BundleError

if TYPE_CHECKING:
    from .session import Session


def check_output(session: Session, output: Path, what: str) -> None:
    """Refuses what must not be written over, and where nothing can be; ``what`` names what is written.

    Raises:
        BundleError: `bundle.write`.
    """
    folder = output.parent
    if output.is_dir():
        raise BundleError("bundle.write", f"`{output}` is a folder", "name a file in it")
    if not folder.is_dir():
        problem = f"there is no folder `{folder}` for the {what}"
        raise BundleError("bundle.write", problem, "make it with `mkdir`, or check the path")
    if output.exists() and not output.is_file():
        raise BundleError("bundle.write", f"`{output}` is not a file", "name a file")
    lock = Path(f"{session.ledger_path}.lock")
    for own in (session.ledger_path, session.secret_path, lock):
        if output.exists() and own.exists() and output.samefile(own):
            problem = f"`{output}` belongs to the ledger, which would be destroyed"
            raise BundleError("bundle.write", problem, "name another file")
