"""Cases 9 and 10: what was settled stands after the ledger was closed; what decided it is told with it."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path
from shutil import copytree, ignore_patterns

from ...ledger.notes import parse_note
from ..play.environment import ROOMS, code_digest, code_of, modules
from .case import Claims, Shown
from .market import Scratch, agreed, audit_of, shelf

_DECIDES = "tollbook.protocol."
_VERIFY = """
import sys
from pathlib import Path
# Before the installed package, whatever way it was installed.
sys.meta_path[:] = [each for each in sys.meta_path if "__editable__" not in str(each)]
sys.path.insert(0, sys.argv[1])
from tollbook.ledger.verify import verify_bundle
from tollbook.tasks.play.environment import code_digest
audit = next(iter(verify_bundle(Path(sys.argv[2]))))
print(code_digest(), *(f"{each.code}@{each.seq}" for each in audit.findings))
"""
_CHANGED = """
_as_it_was = _settlement


def _settlement(state, act, agreement, more):
    return _as_it_was(state, act, agreement, more)[:-1]
"""


def reopened(folder: Path) -> Shown:
    """Case 9."""
    claims = Claims()
    rows = {**shelf(2), "agreement": {"deal": agreed(1, "ann")}}
    roots: list[str] = []
    for name in ("whole", "closed"):
        market = Scratch(folder / f"9.{name}.db", rows)
        market.say("ann", "agreement.settle", to="shop", agreement="deal")
        if name == "closed":
            state, log = market.root, market.writer.run.root().hex()
            market.reopen()
            claims.equal("state root", state, market.root)
            claims.equal("log root", log, market.writer.run.root().hex())
        market.say("ann", "order.get", order=market.rows("order")[0])
        roots.append(market.seal())
        market.close()
    claims.equal("run root, as of a run without a break", *roots)
    did = "an agreement was settled, the ledger closed and opened again, and the run gone on with and sealed"
    return claims.shown(9, "what was settled is the same after closing and opening", did)


def told_code(folder: Path) -> Shown:
    """Case 10."""
    claims = Claims()
    rows = {**shelf(2), "agreement": {"deal": agreed(1, "ann")}}
    market = Scratch(folder / "10.db", rows)
    market.say("ann", "agreement.settle", to="shop", agreement="deal")
    market.seal()
    lines, notes = market.export(), market.notes()
    market.close()
    bundle = folder / "10.jsonl"
    audit_of(lines, bundle)
    named = {name for name, _digest in modules()}
    loaded = {
        f"{module.__name__.removeprefix('tollbook.').replace('.', '/')}"
        for name, module in sys.modules.items()
        if name.startswith(_DECIDES)
    }
    untold = sorted(each for each in loaded if not {f"{each}.py", f"{each}/__init__.py"} & named)
    claims.equal("modules that decide and aren't in it", [], untold)
    claims.note(modules=len(named), deciding=len(loaded))
    claims.equal("digest in the run's note", code_digest(), code_of(parse_note(notes[1]).text))
    for name, change, expected in (
        ("another comment in a rule", "# one more\n", []),
        ("another rule", _CHANGED, ["decision.differs@2"]),
    ):
        code, *found = _verified(folder / name.replace(" ", "_"), bundle, change)
        claims.equal(f"{name}: the digest is", "another", "the same" if code == code_digest() else "another")
        claims.equal(f"{name}: found", expected, [each for each in found if each.startswith("decision")])
    did = "a run was verified by the code that made it, by one with a comment more, by one with another rule"
    return claims.shown(10, "the code that decided is told with a run; only other results are findings", did)


def _verified(folder: Path, bundle: Path, change: str) -> list[str]:
    """What a copy of the package says of a bundle, with this at the end of a module of its rules."""
    for room in ROOMS:
        with as_file(files(f"tollbook.{room}")) as source:
            copytree(source, folder / "tollbook" / room, ignore=ignore_patterns("__pycache__", "suites"))
    module = folder / "tollbook" / "protocol" / "commerce" / "agreements.py"
    module.write_text(module.read_text(encoding="utf-8") + change, encoding="utf-8")
    ran = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-c", _VERIFY, str(folder), str(bundle)],
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout.split() or [ran.stderr.strip()[-200:]]

