from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from small_run import SECRET, Exported, begin, exported, ledger, play, small_run

from tollbook.ledger.bundle import export_lines
from tollbook.ledger.notes import sign_note
from tollbook.ledger.store import Store
from tollbook.ledger.transfer import Refused, Transfer, import_bundle
from tollbook.ledger.verify import verify_store
from tollbook.ledger.writer import Writer
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.errors import BundleError
from tollbook.protocol.keys import key_text
from tollbook.protocol.retail.actions import ListAllProductTypes

OTHER = bytes(range(32, 64))


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """Two sealed runs that share their blobs."""
    with ledger(tmp_path_factory.mktemp("source") / "a.db") as store:
        first = small_run(store)
        note = f'tollbook.environment/1\n{{"root":"{first.run.root().hex()}"}}\n'
        first.flush([sign_note(note, first.opened.ledger.name, ledger_key(SECRET))])
        small_run(store, trial=1)
        return exported(store)


def other(path: Path) -> Store:
    """A ledger of somebody else."""
    return Store.write(path / "other.db", "other.name", key_text(ledger_key(OTHER).public))


def taken(bundle: Exported, tmp_path: Path) -> tuple[Transfer, Exported]:
    path = bundle.write(tmp_path / "in.jsonl")
    with other(tmp_path) as store:
        return import_bundle(path, store), exported(store)


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(BundleError) as caught:
        act()
    assert caught.value.hint
    assert "\n" not in caught.value.text
    return caught.value.code


def test_what_is_imported_exports_to_the_same_bytes(bundle: Exported, tmp_path: Path) -> None:
    transfer, again = taken(bundle, tmp_path)
    assert bundle.lines == again.lines
    assert ([], [], False) == (transfer.open, transfer.refused, transfer.torn)
    with Store.read(tmp_path / "other.db") as store:
        assert [run_id for _run, run_id in store.runs()] == transfer.runs
        assert all(audit.good for audit in verify_store(store.path, store.runs()))


def test_what_is_withheld_stays_withheld(bundle: Exported, tmp_path: Path) -> None:
    bare = Exported([line for line in bundle.lines if not line.startswith(b'{"part":')])
    transfer, again = taken(bare, tmp_path)
    assert 2 == len(transfer.runs)
    assert bare.lines == again.lines


def test_a_packed_bundle_is_taken(bundle: Exported, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(bundle.lines)))
    with other(tmp_path) as store:
        assert 2 == len(import_bundle(path, store).runs)


def test_a_run_that_is_there_is_refused_and_the_others_are_taken(bundle: Exported, tmp_path: Path) -> None:
    second = next(place for place, line in enumerate(bundle.lines) if b'"trial":1' in line)
    first, _ = taken(Exported(bundle.lines[:second]), tmp_path)
    path = bundle.write(tmp_path / "in.jsonl")
    with other(tmp_path) as store:
        transfer = import_bundle(path, store)
        assert [*first.runs, *transfer.runs] == [run_id for _run, run_id in store.runs()]
    assert [(first.runs[0], "run.exists")] == [(one.run, one.code) for one in transfer.refused]


def test_a_run_that_is_not_good_is_refused_and_the_others_are_taken(bundle: Exported, tmp_path: Path) -> None:
    """The seal of the first run names another root, under a checkpoint that is not of it any more."""
    seal = next(place for place, line in enumerate(bundle.lines) if b'"kind":"seal"' in line)
    lines = list(bundle.lines)
    head, _, tail = lines[seal].partition(b'"root":"')
    lines[seal] = head + b'"root":"' + bytes([tail[0] ^ 1 if tail[0] != 0x39 else 0x38]) + tail[1:]
    transfer, again = taken(Exported(lines), tmp_path)
    (refused,) = transfer.refused
    assert "seal.root" == refused.code
    assert isinstance(refused, Refused)
    assert 1 == len(transfer.runs)
    assert refused.run not in transfer.runs
    assert [line for line in again.lines if line.startswith(b'{"blob":')]


def test_without_its_start_rows_a_run_is_refused_unless_the_ledger_has_them(
    bundle: Exported, tmp_path: Path
) -> None:
    bare = Exported([line for line in bundle.lines if not line.startswith(b'{"blob":{"kind":"rows"')])
    transfer, _ = taken(bare, tmp_path)
    assert ["facts.missing"] * 2 == [one.code for one in transfer.refused]
    path = bare.write(tmp_path / "in.jsonl")
    with ledger(tmp_path / "mine.db") as store:
        begin(store, trial=2)
        assert 2 == len(import_bundle(path, store).runs)


def test_every_cut_is_damage_or_an_open_run_that_can_be_gone_on_with(tmp_path: Path) -> None:
    """At each line's end, and in the middle of each line: never a finding, never more than was whole."""
    with ledger(tmp_path / "a.db") as store:
        small_run(store)
        lines = exported(store).lines
    start = next(place for place, line in enumerate(lines) if line.startswith(b'{"record":'))
    path = tmp_path / "in.jsonl"
    sizes: list[int] = []
    for place in range(len(lines)):
        for cut in (b"", lines[place][: len(lines[place]) // 2], lines[place][:-1]):
            path.write_bytes(b"".join(lines[:place]) + cut)
            mine = tmp_path / "mine.db"
            with ledger(mine) as store:
                if place <= start:
                    assert code_of(lambda store=store: import_bundle(path, store)) in {
                        "bundle.empty",
                        "bundle.torn",
                    }
                    assert [] == store.runs()
                else:
                    transfer = import_bundle(path, store)
                    assert transfer.runs == transfer.open
                    assert [] == transfer.refused
                    assert transfer.torn or not cut
                    sizes.append(store.size(1))
                    writer = Writer.resume(store, SECRET, 1)
                    writer.voice("assistant").say(ListAllProductTypes(), to="platform")
                    writer.seal("abandoned")
                    (audit,) = verify_store(mine, store.runs())
                    assert audit.good
                    assert sizes[-1] + 3 == audit.records
            for made in tmp_path.glob("mine.db*"):
                made.unlink()
    assert sorted(sizes) == sizes
    whole = [line for line in lines if line.startswith(b'{"record":')]
    assert (1, len(whole) - 1) == (sizes[0], sizes[-1])


def test_a_cut_behind_the_checkpoint_leaves_a_sealed_run(bundle: Exported, tmp_path: Path) -> None:
    note = next(place for place, line in enumerate(bundle.lines) if b"tollbook.environment/1" in line)
    lines = [*bundle.lines[:note], bundle.lines[note][:-7]]
    transfer, again = taken(Exported(lines), tmp_path)
    assert (1, [], True) == (len(transfer.runs), transfer.open, transfer.torn)
    assert lines[:-1] == again.lines


def test_an_open_run_is_taken_as_it_is(tmp_path: Path) -> None:
    with ledger(tmp_path / "a.db") as store:
        writer = begin(store)
        play(writer)
        writer.flush()
        bundle = exported(store)
    transfer, again = taken(bundle, tmp_path)
    assert ([writer.id], [writer.id], False) == (transfer.runs, transfer.open, transfer.torn)
    assert bundle.lines == again.lines


def damage(bundle: Exported) -> list[tuple[str, list[bytes]]]:
    lines = bundle.lines
    stray = b'{"blob":{"kind":"task","of":"%b","text":"another text"}}\n' % (b"0" * 64)
    record = next(place for place, line in enumerate(lines) if b'"kind":"turn"' in line)
    part = next(place for place, line in enumerate(lines) if line.startswith(b'{"part":'))
    rows = next(place for place, line in enumerate(lines) if line.startswith(b'{"blob":{"kind":"rows"'))
    second = next(place for place, line in enumerate(lines) if b'"trial":1' in line)
    decision = next(place for place, line in enumerate(lines) if b'"kind":"decision"' in line)
    return [
        ("a torn line in the middle", [*lines[:record], lines[record][:-20] + b"\n", *lines[record + 1 :]]),
        ("a record left out", lines[:record] + lines[record + 1 :]),
        ("a record twice", [*lines[:record], lines[record], *lines[record:]]),
        (
            "two lines in the other order",
            [*lines[: part - 1], lines[part], lines[part - 1], *lines[part + 1 :]],
        ),
        ("a line of nothing", [*lines[:record], b"\n", *lines[record:]]),
        (
            "a part's text",
            [*lines[:part], lines[part].replace(b'"text":"', b'"text":"x'), *lines[part + 1 :]],
        ),
        ("a row", [*lines[:rows], lines[rows].replace(b"Elm", b"Oak", 1), *lines[rows + 1 :]]),
        ("the first run's end, from a decision on", [*lines[:decision], *lines[second:]]),
        ("a run twice", lines + lines[[b'"trial":0' in line for line in lines].index(True) : second]),
        ("a blob that nobody names", [stray, *lines]),
    ]


def test_damage_before_the_end_is_an_error_and_nothing_is_taken(bundle: Exported, tmp_path: Path) -> None:
    found: dict[str, str] = {}
    for what, lines in damage(bundle):
        path = Exported(lines).write(tmp_path / "in.jsonl")
        with other(tmp_path) as store:
            found[what] = code_of(lambda path=path, store=store: import_bundle(path, store))
            assert [] == store.runs(), what
    assert dict.fromkeys(found, "bundle.damaged") == found


def test_a_file_that_changes_between_the_passes_gives_nothing(
    bundle: Exported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bundle.write(tmp_path / "in.jsonl")
    with other(tmp_path) as store:
        refuse = store.refuse_known

        def change(run_id: str) -> None:
            refuse(run_id)
            seen.append(run_id)
            if len(seen) == 2:  # with the last run, when all was read
                Exported(bundle.lines[:-1]).write(path)

        seen: list[str] = []

        monkeypatch.setattr(store, "refuse_known", change)
        assert "bundle.changed" == code_of(lambda: import_bundle(path, store))


def test_what_is_no_bundle_is_refused(tmp_path: Path) -> None:
    cases: list[tuple[str, bytes]] = [
        ("bundle.empty", b""),
        ("bundle.form", b"something else\n"),
        ("bundle.form", b"SQLite format 3\0\n"),
        ("bundle.torn", b"{"),
        ("bundle.gzip", gzip.compress(b"x" * 1000, mtime=0)[:-9]),
    ]
    with other(tmp_path) as store:
        for code, data in cases:
            path = tmp_path / "in.jsonl"
            path.write_bytes(data)
            assert code == code_of(lambda path=path: import_bundle(path, store))
        assert "bundle.missing" == code_of(lambda: import_bundle(tmp_path / "none", store))
        assert "bundle.directory" == code_of(lambda: import_bundle(tmp_path, store))


def test_any_text_survives(tmp_path: Path) -> None:
    with ledger(tmp_path / "a.db") as store:
        writer = begin(store)
        writer.brief("user", "a\0b\r\n\u2028 \U0001f600 \x7f\x1b")
        writer.seal("completed")
        bundle = Exported(list(export_lines(store, store.runs())))
    transfer, again = taken(bundle, tmp_path)
    assert 1 == len(transfer.runs)
    assert bundle.lines == again.lines


def test_damage_that_is_at_no_record_names_none(bundle: Exported, tmp_path: Path) -> None:
    path = Exported([*bundle.lines, bundle.lines[-1]]).write(tmp_path / "in.jsonl")
    with other(tmp_path) as store, pytest.raises(BundleError) as caught:
        import_bundle(path, store)
    with Store.read(tmp_path / "other.db") as store:
        assert [] == store.runs()
    assert re.match(r"the file is damaged at run [0-9a-f]{12}: bundle\.form: ", caught.value.text)
