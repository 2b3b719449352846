"""The secret file: made whole, made once, refused when unfit."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from tollbook.ledger import secret as module
from tollbook.ledger.secret import ensure_secret, load_secret, make_secret
from tollbook.protocol.errors import LedgerError

KNOWN = bytes(range(32))


def written(path: Path, data: bytes = KNOWN, mode: int = 0o600) -> Path:
    path.write_bytes(data)
    path.chmod(mode)
    return path


def test_a_secret_is_made_at_first_use_and_read_ever_after(tmp_path: Path) -> None:
    path = tmp_path / "a.secret"
    made = ensure_secret(path)
    assert [32, 0o600, [path.name]] == [
        len(made),
        stat.S_IMODE(path.stat().st_mode),
        [entry.name for entry in tmp_path.iterdir()],
    ]
    assert made == path.read_bytes() == ensure_secret(path) == load_secret(path)


def test_its_mode_does_not_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_secret(tmp_path / "a.secret")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.secret").stat().st_mode) == 0o600


def test_two_secrets_differ(tmp_path: Path) -> None:
    assert make_secret(tmp_path / "a") != make_secret(tmp_path / "b")


def test_a_symlink_may_stand_for_the_file(tmp_path: Path) -> None:
    written(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    assert load_secret(tmp_path / "link") == ensure_secret(tmp_path / "link") == KNOWN


def test_a_secret_is_never_overwritten(tmp_path: Path) -> None:
    path = written(tmp_path / "a.secret", b"short", 0o644)
    with pytest.raises(LedgerError) as caught:
        make_secret(path)
    assert caught.value.code == "secret.exists"
    assert path.read_bytes() == b"short"
    assert [path] == list(tmp_path.iterdir())


def missing(path: Path) -> None:
    assert not path.exists()


def dangling(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize(
    ("code",                   "prepare"),
    [
        ("secret.missing",     missing),
        ("secret.missing",     dangling),
        ("secret.not_a_file",  Path.mkdir),
        ("secret.not_a_file",  os.mkfifo),
        ("secret.open_to_others", lambda path: written(path, mode=0o604)),
        ("secret.open_to_others", lambda path: written(path, mode=0o620)),
        ("secret.open_to_others", lambda path: written(path, mode=0o610)),
        ("secret.length",      lambda path: written(path, b"")),
        ("secret.length",      lambda path: written(path, KNOWN[:31])),
        ("secret.length",      lambda path: written(path, KNOWN + b"\n")),
    ],
)  # fmt: skip
def test_an_unfit_file_is_refused(tmp_path: Path, code: str, prepare) -> None:  # noqa: ANN001 - a function of a path
    path = tmp_path / "a.secret"
    prepare(path)
    with pytest.raises(LedgerError) as caught:
        load_secret(path)
    assert caught.value.code == code
    assert f"`{path}`" in caught.value.text
    assert caught.value.hint
    if code != "secret.missing" or path.is_symlink():
        with pytest.raises(LedgerError) as caught:
            ensure_secret(path)
        assert caught.value.code == code


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=f"folder `{tmp_path}/nowhere` does not exist") as caught:
        ensure_secret(tmp_path / "nowhere" / "a.secret")
    assert caught.value.code == "secret.folder"


@pytest.mark.parametrize("name", [".", ".."])
def test_a_path_without_a_name_is_a_folder(name: str) -> None:
    with pytest.raises(LedgerError) as caught:
        make_secret(Path(name))
    assert caught.value.code == "secret.exists"


@pytest.mark.parametrize("step", ["_write_new", "link"])
def test_a_failure_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "draft")

    monkeypatch.setattr(module if step == "_write_new" else os, step, full)
    with pytest.raises(OSError, match="No space") as caught:
        make_secret(tmp_path / "a.secret")
    assert caught.value.filename == str(tmp_path / "a.secret")
    assert list(tmp_path.iterdir()) == []


def test_file_then_folder_reach_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []

    def fsync(descriptor: int) -> None:
        state = os.fstat(descriptor)
        synced.append("folder" if stat.S_ISDIR(state.st_mode) else f"{state.st_size} bytes")

    monkeypatch.setattr(os, "fsync", fsync)
    make_secret(tmp_path / "a.secret")
    assert synced == ["32 bytes", "folder"]


def test_all_who_race_get_the_one_secret(tmp_path: Path) -> None:
    path, gate, found = tmp_path / "a.secret", threading.Barrier(8), []

    def race() -> None:
        gate.wait()
        found.append(ensure_secret(path))

    racers = [threading.Thread(target=race) for _ in range(8)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert [path.read_bytes()] * 8 == found
    assert [path] == list(tmp_path.iterdir())
