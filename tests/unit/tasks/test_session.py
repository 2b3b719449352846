"""The ledger, its secret and its name: made together, and refused before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from script import KNOWN_SECRET, OTHER_SECRET, Stage, without_powers

from tollbook.protocol.errors import LedgerError
from tollbook.tasks.session import DEFAULT_NAME, Session, secret_path_of


def session(folder: Path, ledger: str = "tollbook.db", name: str = DEFAULT_NAME) -> Session:
    return Session(folder / ledger, secret_path_of(folder / ledger), name)


def refusal(folder: Path, ledger: str = "tollbook.db") -> str:
    """The code with which a first use is refused; nothing is made."""
    before = sorted(path.name for path in folder.rglob("*"))
    with without_powers(), pytest.raises(LedgerError) as error:
        session(folder, ledger).secret_or_new()
    assert before == sorted(path.name for path in folder.rglob("*"))
    assert error.value.hint
    return error.value.code


def test_a_new_ledger_has_a_new_secret_and_keeps_it(tmp_path: Path) -> None:
    one = session(tmp_path)
    secret = one.secret_or_new()
    assert secret == one.secret_or_new() == one.secret()
    with one.store_to_write(secret) as store:
        assert store.runs() == []
    assert secret == one.secret_or_new()
    with one.store() as store:
        assert store.identity()[0] == DEFAULT_NAME


@pytest.mark.parametrize(
    ("expected",          "ledger",      "steps"),
    [
        ("ledger.folder",    "no/a.db",     ()),
        ("ledger.directory", "a.db",        ("folder a.db",)),
        ("ledger.form",      "a.db",        ("text a.db no ledger",)),
        ("ledger.foreign",   "a.db",        ("sqlite a.db",)),
        ("ledger.open",      "a.db",        ("read-only .",)),
        ("ledger.open",      "a.db",        ("ledger a.db", "read-only a.db")),
        ("ledger.open",      "a.db",        ("ledger a.db", "read-only .")),
        ("secret.length",    "a.db",        ("text a.db.secret short", "mode a.db.secret 600")),
        ("secret.open_to_others", "a.db",   ("secret a.db.secret 644",)),
    ],
)  # fmt: skip
def test_what_no_ledger_can_be_is_refused_first(
    tmp_path: Path, expected: str, ledger: str, steps: tuple[str, ...]
) -> None:
    for step in steps:
        Stage(tmp_path).prepare(step)
    assert expected == refusal(tmp_path, ledger)


def test_a_device_is_no_ledger() -> None:
    with pytest.raises(LedgerError, match="is not a file"):
        Session(Path("/dev/null"), Path("/dev/null.secret"), DEFAULT_NAME).secret_or_new()


def test_a_missing_secret_is_not_replaced(tmp_path: Path) -> None:
    Stage(tmp_path).prepare("ledger tollbook.db")
    (tmp_path / "tollbook.db.secret").unlink()
    assert refusal(tmp_path) == "secret.missing"


def test_what_else_is_wrong_with_its_secret_is_told_as_ever(tmp_path: Path) -> None:
    for step in ("ledger tollbook.db", "mode tollbook.db.secret 644"):
        Stage(tmp_path).prepare(step)
    with pytest.raises(LedgerError, match="is open to others") as error:
        session(tmp_path).secret_or_new()
    assert "chmod 600" in str(error.value.hint)


def test_the_empty_file_of_a_process_that_was_killed_is_a_new_ledger(tmp_path: Path) -> None:
    (tmp_path / "tollbook.db").touch()
    one = session(tmp_path)
    with one.store_to_write(one.secret_or_new()) as store:
        assert store.runs() == []


@pytest.mark.parametrize(
    ("expected",       "name",        "secret"),
    [
        (None,          DEFAULT_NAME, KNOWN_SECRET),
        ("ledger.key",  DEFAULT_NAME, OTHER_SECRET),
        ("ledger.name", "market",     KNOWN_SECRET),
        ("ledger.key",  "market",     OTHER_SECRET),
    ],
)  # fmt: skip
def test_only_its_own_name_and_key_write_to_a_ledger(
    tmp_path: Path, expected: str | None, name: str, secret: bytes
) -> None:
    Stage(tmp_path).prepare("ledger tollbook.db")
    one = session(tmp_path, name=name)
    if expected is None:
        with one.store_to_write(secret) as store:
            assert len(store.runs()) == 15
        return
    with pytest.raises(LedgerError) as error, one.store_to_write(secret):
        pass
    assert expected == error.value.code
    assert "tollbook.db`" in error.value.text


def test_damage_is_told_with_the_ledgers_path(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.prepare("ledger tollbook.db")
    stage.prepare("cut tollbook.db 100000")
    with pytest.raises(LedgerError) as error, session(tmp_path).store() as store:
        store.runs()
    assert error.value.code == "store.damaged"
    assert error.value.text.startswith(f"`{tmp_path / 'tollbook.db'}` is damaged: ")
