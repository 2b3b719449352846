"""`tollbook demo`: the whole promise in one go, on a task and on runs that come with the package.

    lint a task ─► run it ─► verify ─► an operator who cheats
    import ─► verify ─► export ─► check with the independent verifier ─► forge a row, forge a byte ─► rescore

Every line after a `$` is a command that was run as it stands; what a forger
does is said in words. All happens in a folder of its own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...protocol.errors import LedgerError
from ..console import PATH, Exit

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

_TASK = "t4.buyer_zopa"
_MOST = 5  # lines of one command's output
_VERIFIER = Path(__file__).resolve().parents[2] / "docs" / "verify_trace.py"


@click.command()
@click.option("--keep", type=PATH, help="Leave the files in this new folder.")
def command(keep: Path | None) -> Exit:
    """Play a task, import, verify, export, forge and rescore small runs, and show what is found."""
    with _folder(keep) as folder:
        return _play(folder)


@contextmanager
def _folder(keep: Path | None) -> Generator[Path]:
    if keep is not None:
        if os.path.lexists(keep):
            raise LedgerError("demo.folder", f"`{keep}` is there already", "name a folder that is new")
        keep.mkdir(parents=True)
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="tollbook-demo-") as name:
        yield Path(name)


def _play(folder: Path) -> Exit:
    good = _played(folder)
    good &= _recorded(folder)
    _say("All as it should be." if good else "Something is not as it should be.")
    return Exit.GOOD if good else Exit.FOUND_FALSE


def _played(folder: Path) -> bool:
    from ..forgery import play_unfairly  # noqa: PLC0415 - the help needs none

    at = ("--ledger", "market.db")
    _say("A task is one file. It is rehearsed: as its reference plays it, as mutations and cheats do.")
    good = _run(folder, "task", "lint", _TASK, lines=".*runs played") == Exit.GOOD
    _say("Played: every act a signed message, every message decided by the rules, every run scored.")
    good &= _run(folder, *at, "run", _TASK, lines="[0-9]+ runs|mean|at full") == Exit.GOOD
    _say("Did the operator do what the task says? Its scripts are played again, message by message.")
    good &= _run(folder, *at, "verify", lines="[0-9]+ runs") == Exit.GOOD
    _say("Now the operator, who holds every key, lets the seller give in at the first offer.")
    play_unfairly(folder / "market.db", _TASK)
    return good & (_run(folder, *at, "verify", lines=".*(INVALID|conduct)") == Exit.FOUND_FALSE)


def _recorded(folder: Path) -> bool:
    suite = files("tollbook.tasks") / "suites" / "retail"
    for name in ("shop.json", "recorded.json"):
        with as_file(suite / name) as path:
            shutil.copy(path, folder / name)
    _say("Recorded runs of a shop's service agent: each message is said again, each call ruled on again.")
    good = _run(folder, "import", "tau2", "recorded.json", "--db", "shop.json") == Exit.GOOD
    _say("Are they what they claim to be? Keys, hashes, and every decision made again from the rules.")
    good &= _run(folder, "verify", lines="[0-9]+ runs") == Exit.GOOD
    _say("One file that a stranger can check, without this program.")
    good &= _run(folder, "export", "-o", "runs.jsonl") == Exit.GOOD
    good &= _stranger(folder)
    good &= _forge(folder)
    _say("What were they worth? The predicates judge the replayed runs; no model is called.")
    return good & (_run(folder, "score", lines="[0-9]+ runs|mean|at full|agreement|label") == Exit.GOOD)


def _stranger(folder: Path) -> bool:
    if not _VERIFIER.is_file():
        _say("(The independent verifier, docs/verify_trace.py, comes with the source and is not here.)")
        return True
    shutil.copy(_VERIFIER, folder)
    words = ["verify_trace.py", "runs.jsonl"]
    return _show(folder, [sys.executable, *words], " ".join(["python", *words])) == Exit.GOOD


def _forge(folder: Path) -> bool:
    from ..forgery import flip_byte, forge_row  # noqa: PLC0415 - the help needs none

    bundle = (folder / "runs.jsonl").read_bytes()
    _say("Now somebody raises a refund in a recorded decision, and makes every hash after it again.")
    (folder / "row.jsonl").write_bytes(forge_row(bundle))
    row = _run(folder, "verify", "row.jsonl", lines=".*(INVALID|differs)") == Exit.FOUND_FALSE
    _say("And somebody changes one byte of what was said.")
    (folder / "byte.jsonl").write_bytes(flip_byte(bundle))
    byte = _run(folder, "verify", "byte.jsonl", lines=".*(INVALID|part)") == Exit.FOUND_FALSE
    return row and byte


def _run(folder: Path, *words: str, lines: str = ".*") -> int:
    command_line = [sys.executable, "-m", "tollbook.tasks.cli", *words]
    return _show(folder, command_line, " ".join(["tollbook", *words]), lines)


def _show(folder: Path, command_line: Sequence[str], shown: str, lines: str = ".*") -> int:
    """Runs a command in the folder and prints the first lines of its output that begin as `lines` says."""
    click.echo(f"$ {shown}")
    # The reader's own ledger and secret are none of the demo's business.
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("TOLLBOOK_")}
    ran = subprocess.run(  # noqa: S603 - our own words
        command_line,
        cwd=folder,
        env=surroundings,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    found = [line.strip() for line in ran.stdout.splitlines() if re.match(lines, line)]
    for line in [*found[:_MOST], *(["…"] if len(found) > _MOST else [])]:
        click.echo(f"  {line}")
    if ran.returncode not in (Exit.GOOD, Exit.FOUND_FALSE):
        click.echo(ran.stderr, err=True)
    return ran.returncode


def _say(text: str) -> None:
    click.echo(f"\n{text}")
