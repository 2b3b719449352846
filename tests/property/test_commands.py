"""Whatever a command is given, it ends in an exit code and words: never a traceback, nothing half written.

    words, or a file changed at random  →  commands in this process  →  what must hold of any ending

Each seed is a case of its own, so one that fails is played again by its name. One run in the files is
enough: what is wrong with a file doesn't depend on how many are in it.
"""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from forge import Entry, Hand, Trace, mend
from script import Ran, Stage

from tollbook.protocol.errors import CanonicalError
from tollbook.protocol.keys import SigningKey
from tollbook.tasks.cli import VERBS
from tollbook.tasks.console import Exit

RUN = "be937f89a2c8"  # the beginning of its id
PLAYED = "run t4.buyer_zopa --case linear"
PROMISED = (Exit.COULD_NOT, Exit.USAGE, Exit.BELOW_REQUIRED)
"""The codes of an ending that is told in two lines."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a ledger with one run, scored, and of all that a command may be given beside it."""
    stage = Stage(tmp_path_factory.mktemp("made"))
    secrets = ("secret tollbook.db.secret", "secret played.db.secret")
    for step in ("suite .", *secrets, "predicates mine.toml"):
        stage.prepare(step)
    recorded = json.loads((stage.folder / "recorded.json").read_bytes())
    recorded["simulations"] = recorded["simulations"][:1]
    (stage.folder / "recorded.json").write_text(json.dumps(recorded))
    for line in (
        "import tau2 recorded.json --db shop.json", "score", "export -o runs.jsonl", "export -o runs.jsonl.gz"
    ):  # fmt: skip
        assert stage.run(f"tollbook {line}").exit == Exit.GOOD
    for agent in ("reference", "mutation:stops_early"):
        assert stage.run(f"tollbook --ledger played.db {PLAYED} --agent buyer={agent}").exit == Exit.GOOD
    assert stage.run("tollbook --ledger played.db export -o played.jsonl").exit == Exit.GOOD
    stage.prepare("task task.toml t4.buyer_zopa")
    for line, name in ((f"prove checkpoint {RUN}", "kept.note"), ("key show", "ledger.key")):
        (stage.folder / name).write_text(stage.run(f"tollbook {line}").stdout, encoding="utf-8")
    return stage.files()


@contextlib.contextmanager
def staged(folder: Path, files: dict[str, bytes]) -> Iterator[Stage]:
    """A folder with these files."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
        (folder / name).chmod(0o600)
    with Stage(folder) as stage:
        yield stage
        assert [path.name for path in folder.iterdir() if path.name.endswith(".part")] == []


def run(stage: Stage, *words: str) -> Ran:
    """One command, and what must hold of any ending."""
    ran = stage.run_words(words)
    seen = f"{words}: {ran}"
    starts = [line.split(" ", 1)[0] for line in ran.stderr.splitlines()]
    assert "internal:" not in ran.stderr, seen
    assert "Traceback" not in ran.stderr, seen
    if ran.exit in PROMISED:
        assert starts[-2:] == ["error:", "hint:"], seen
        assert (starts.count("error:"), starts.count("hint:")) == (1, 1), seen
    else:
        assert ran.exit in (Exit.GOOD, Exit.FOUND_FALSE), seen
        assert not {"error:", "hint:"} & set(starts), seen
    if "--json" in words and ran.stdout and not {"--help", "-h", "--version"} & {*words}:
        assert ran.stdout.count("\n") == 1, seen
        assert "schema" in json.loads(ran.stdout), seen
    return ran


OPTIONS = (
    "--json", "--help", "-h", "--version", "--seq", "--at", "--db", "--mode", "--key", "--checkpoint",
    "--require", "--source", "--jobs", "--task", "--markdown", "-o", "--output", "--withhold", "--ledger",
    "--secret", "--name", "--keep", "--nonsense", "--jobs=2", "--seq=1", "--", "-", "--seq=x", "--agent",
    "--case", "--trials=2", "--abandon", "--svg",
)  # fmt: skip
VALUES = (
    RUN, RUN.upper(), RUN + "0", "0", "26", "-1", "9" * 20, "b", "zz", "", "é", "\udcff", "\x1b[2J", "\n",
    "tollbook.db", "tollbook.db.secret", "recorded.json", "shop.json", "runs.jsonl", "runs.jsonl.gz",
    "mine.toml", "kept.note", "ledger.key", "out.jsonl", ".", "nowhere/a", "/dev/null", "a" * 300,
    "strict", "compat", "anchored", "market", "played.db", "played.jsonl", "task.toml", "t4.buyer_zopa",
    "linear", "buyer=cheat:idle", "buyer=exec:", "exec:false",
)  # fmt: skip
CALLS = (
    "", "import", "import tau2", "import bundle", "ls", "log", "show", "replay", "verify", "score", "export",
    "prove", "prove inclusion", "prove consistency", "prove checkpoint", "key", "key show", "key new",
    "demo --keep .", "import tau2 recorded.json --db shop.json", f"log {RUN}", f"show {RUN}", f"replay {RUN}",
    "export -o out.jsonl", f"prove inclusion {RUN}", f"prove consistency {RUN}", f"verify {RUN} --key",
    "verify --checkpoint", "score --task", "import bundle runs.jsonl", "verify --source recorded.json",
    "run", PLAYED, "resume", "diff", f"diff {RUN}", "task", "task list", "task show",
    "task lint nowhere",
    "task new", "task new new.toml", "task show t4.buyer_zopa", "--ledger played.db verify", "import uci",
    "import uci recorded.json", "check", "check integrity nowhere", "study", "study extension",
    "study auctions --cells first_price.2 --sessions 1 --rounds 2", "serve",
    "serve nowhere", "export --journal hledger -o out.jsonl", "analyse", "analyse credit",
    "--ledger played.db analyse pairs", "analyse collisions --svg -o out.svg",
    "report", f"report {RUN}", "report -o out.md", "--ledger played.db report -o out.html",
)  # fmt: skip


def test_every_verb_is_called() -> None:
    assert {*VERBS} == {call.split()[0] for call in CALLS if call and not call.startswith("-")}


@pytest.mark.parametrize("seed", range(150))
def test_any_words(made: dict[str, bytes], tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    before = chance.choice(["", "", "", "--name", "--ledger new.db", "--secret recorded.json", "zz"]).split()
    after = [chance.choice(OPTIONS + VALUES) for _ in range(chance.choice([0, 1, 1, 2, 2, 3]))]
    with staged(tmp_path, made) as stage:
        run(stage, *before, *chance.choice(CALLS).split(), *after)


ABOUT = {
    "tollbook.db": (
        "ls", "verify", f"log {RUN}", f"show {RUN}", "score", f"show {RUN} --seq 1", f"replay {RUN}",
        "export -o out.jsonl", f"prove inclusion {RUN} 3", f"prove consistency {RUN} 3",
        f"prove checkpoint {RUN}", "verify --source recorded.json", "import bundle runs.jsonl",
        "verify --checkpoint kept.note", "import tau2 recorded.json --db shop.json --mode strict",
    ),
    "runs.jsonl": (
        "verify runs.jsonl", "score runs.jsonl", "analyse collisions runs.jsonl",
        "report runs.jsonl -o out.md", "--ledger new.db import bundle runs.jsonl", "import bundle runs.jsonl",
        "verify runs.jsonl --source recorded.json",
        "verify runs.jsonl --checkpoint kept.note --key ledger.key",
    ),
    "runs.jsonl.gz": ("verify runs.jsonl.gz", "--ledger new.db import bundle runs.jsonl.gz"),
    "recorded.json": (
        "--ledger new.db import tau2 recorded.json --db shop.json", "verify --source recorded.json",
        "--ledger new.db import tau2 recorded.json --db shop.json --mode strict",
    ),
    "shop.json": (
        "--ledger new.db import tau2 recorded.json --db shop.json",
        "--ledger new.db import tau2 recorded.json --db shop.json --mode strict",
        "verify --source recorded.json --db shop.json",
    ),
    "mine.toml": ("score --task mine.toml",),
    "played.db": (
        "--ledger played.db verify", "--ledger played.db score", "--ledger played.db resume",
        "--ledger played.db report",
    ),
    "played.jsonl": (
        "verify played.jsonl", "score played.jsonl", "analyse stages played.jsonl",
        "--ledger new.db import bundle played.jsonl",
    ),
    "task.toml": (
        "task lint task.toml", "task show task.toml", "--ledger played.db score --task task.toml",
        "--ledger new.db run task.toml --case linear",
    ),
    "kept.note": ("verify --checkpoint kept.note",),
    "ledger.key": ("verify --key ledger.key",),
    "tollbook.db.secret": ("score", "key show"),
}  # fmt: skip
"""The commands that read each file."""


@pytest.mark.parametrize("name", ABOUT)
@pytest.mark.parametrize("seed", range(25))
def test_any_bytes(made: dict[str, bytes], tmp_path: Path, name: str, seed: int) -> None:
    chance = random.Random(seed)
    with staged(tmp_path, {**made, name: edited(chance, made[name])}) as stage:
        run(stage, *chance.choice(ABOUT[name]).split(), *chance.choice([(), ("--json",)]))


@pytest.mark.parametrize("name", ["recorded.json", "shop.json"])
@pytest.mark.parametrize("seed", range(60))
def test_any_value_of_a_document(made: dict[str, bytes], tmp_path: Path, name: str, seed: int) -> None:
    """What is imported all the same verifies, and has a score."""
    chance = random.Random(seed)
    document = json.loads(made[name])
    for _ in range(chance.randint(1, 3)):
        document = altered(chance, document)
    with staged(tmp_path, {**made, name: json.dumps(document).encode()}) as stage:
        words = chance.choice(ABOUT[name]).split()
        if run(stage, *words).exit == Exit.GOOD and "import" in words:
            for after in ("verify", "score", "ls"):
                assert run(stage, "--ledger", "new.db", after).exit == Exit.GOOD


@pytest.mark.parametrize("seed", range(100))
def test_any_value_of_a_bundle(made: dict[str, bytes], tmp_path: Path, seed: int) -> None:
    """Most of them with every hash and signature made again, by keys of the forger's own."""
    chance = random.Random(seed)
    trace = Trace.read(made["runs.jsonl"])
    hand = Hand({key: SigningKey.from_seed(sha256(key.encode()).digest()) for key in trace.keys()})  # noqa: SIM118 - no dict
    alter(chance, trace)
    with contextlib.suppress(Exception):  # what even a forger can't make good is left as it is
        if chance.random() < 0.7:
            mend(trace, hand, again=chance.random() < 0.5)
    with staged(tmp_path, {**made, "runs.jsonl": lines(trace)}) as stage:
        run(stage, *chance.choice(ABOUT["runs.jsonl"]).split())


def lines(trace: Trace) -> bytes:
    """The bundle; where there is no canonical form, in what comes near to it."""
    with contextlib.suppress(CanonicalError):
        return trace.bundle()
    documents = [{"blob": blob} for blob in trace.blobs]
    for entry in trace.entries:
        documents += [{"record": entry.record}, *({"part": part} for part in entry.parts)]
    documents += [{"note": {"text": note}} for note in trace.notes]
    return b"".join(
        json.dumps(document, sort_keys=True, separators=(",", ":")).encode() + b"\n" for document in documents
    )


def alter(chance: random.Random, trace: Trace) -> None:
    entry = chance.choice(trace.entries)
    match chance.choice(["body", "body", "record", "part", "task", "rows", "note", "gone", "twice"]):
        case "body":
            entry.record["body"] = altered(chance, entry.body)
        case "record":
            entry.record = altered(chance, entry.record)
        case "part":
            entry.parts = [altered(chance, part) for part in entry.parts]
        case "task":
            blob = trace.blob("task")
            blob["text"] = json.dumps(altered(chance, json.loads(blob["text"])))
        case "rows":
            blob = trace.blob("rows")
            blob["rows"] = altered(chance, blob["rows"])
        case "note":
            trace.notes = [altered(chance, note) for note in trace.notes]
        case "gone":
            trace.entries.remove(entry)
        case _:
            twin = Entry(dict(entry.record), entry.parts, entry.signer)
            trace.entries.insert(trace.entries.index(entry), twin)


TABLES = {
    "ledger": ("name", "key"), "runs": ("run", "id"), "records": ("place", "kind", "body", "sig"),
    "parts": ("place", "field", "salt", "text"), "blobs": ("digest", "line", "body"),
    "notes": ("run", "text"), "receipts": ("run", "scorer", "text"),
}  # fmt: skip


@pytest.mark.parametrize("seed", range(100))
def test_any_value_of_a_ledger(made: dict[str, bytes], tmp_path: Path, seed: int) -> None:
    """A column of a row changed by who can write to the file, its triggers taken away first."""
    chance = random.Random(seed)
    table = chance.choice([*TABLES, "records", "records"])
    with staged(tmp_path, made) as stage:
        with contextlib.closing(sqlite3.connect(tmp_path / "tollbook.db")) as database, database:
            for verb in ("update", "delete"):
                database.execute(f"DROP TRIGGER {table}_no_{verb}")
            place = chance.choice([row for (row,) in database.execute(f"SELECT rowid FROM {table}")])
            column = chance.choice(TABLES[table])
            ((old,),) = database.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (place,))
            with contextlib.suppress(sqlite3.IntegrityError):
                if chance.random() < 0.2:
                    database.execute(f"DELETE FROM {table} WHERE rowid = ?", (place,))
                else:
                    row = (other_value(chance, old), place)
                    database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", row)
        for _ in range(3):
            run(stage, *chance.choice(ABOUT["tollbook.db"]).split())


def edited(chance: random.Random, data: bytes) -> bytes:
    """The bytes with a few places changed, cut out, doubled or put in; half the time of the same length."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(changed) + 1)
        if chance.random() < 0.5:
            changed[start : start + 1] = bytes([chance.choice([chance.randrange(256), *b'019"{}[],:\n'])])
        else:
            end = start + chance.choice([0, 0, 1, 2, 8, 100, 5_000])
            changed[start:end] = chance.choice([b"", b"\n", b'"', b"{", b"9" * 30, changed[start:end] * 2])
    return bytes(changed)


def other_value(chance: random.Random, old: object) -> object:
    """Another value for a column."""
    if isinstance(old, bytes):
        return edited(chance, old)
    if isinstance(old, str) and old.startswith("{") and chance.random() < 0.6:
        new = altered(chance, json.loads(old))
        text = json.dumps(new, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return text.encode("utf-8", "replace").decode()
    if isinstance(old, str):
        return edited(chance, old.encode()).decode("utf-8", "replace")
    return chance.choice([0, 1, 2, -1, 2**31, 2**32 - 1, None])


LEAVES: Sequence[Any] = (
    None, True, False, 0, 1, -1, 2**31, 2**63, 1e308, 0.1, "", "0", "a" * 3_000, "\ud800", "\0", [], {}, [[]],
    [None], {"": None}, {"a": 1},
)  # fmt: skip


def altered(chance: random.Random, document: Any) -> Any:
    """The document with one value somewhere in it replaced, dropped, doubled or renamed."""
    if not isinstance(document, (dict, list)) or not document or chance.random() < 0.1:
        return chance.choice(LEAVES)
    way = chance.choice(["in"] * 8 + ["gone", "twice"])
    if isinstance(document, list):
        place = chance.randrange(len(document))
        value = document[place]
        new = {"gone": [], "twice": [value, value]}.get(way, [altered(chance, value)])
        return [*document[:place], *new, *document[place + 1 :]]
    key = chance.choice(sorted(document))
    rest = {name: value for name, value in document.items() if name != key}
    new = {"gone": {}, "twice": {f"{key}s": document[key]}}.get(way, {key: altered(chance, document[key])})
    return {**rest, **new}
