"""What only a real process shows: streams that are closed or full, signals, start-up, settings."""

from __future__ import annotations

import os
import pty
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from script import KNOWN_SECRET, Stage

COMMAND = [sys.executable, "-m", "tollbook.tasks.cli"]
KEY = "tollbook.local+e028c6d8+ASIf0E8rdAm59tvlC+3chp8frswTkHOT9RDLKgdMZqUs\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    secret = tmp_path / "tollbook.db.secret"
    secret.write_bytes(KNOWN_SECRET)
    secret.chmod(0o600)
    return tmp_path


def shell(folder: Path, line: str, **settings: str) -> tuple[int, str, str]:
    done = subprocess.run(
        ["bash", "-c", line.replace("tollbook", " ".join(COMMAND), 1)],
        cwd=folder,
        env={**os.environ, "PYTHONUNBUFFERED": "", **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def failed(text: str, hint: str, code: int = 1) -> tuple[int, str, str]:
    return code, "", f"error: {text}\nhint: {hint}\n"


FULL = failed("no space left on device", "free some space, or name a place on another disk")


needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


@needs_full
@pytest.mark.parametrize(
    ("expected",                 "line"),
    [
        ((0, KEY, ""),           "tollbook key show"),
        ((0, KEY, ""),           "tollbook key show 2>&-"),
        ((0, "", ""),            "tollbook key show >&-"),
        ((1, "", ""),            "tollbook key show 2>&1 >/dev/full | true; exit ${PIPESTATUS[0]}"),
        (FULL,                   "tollbook key show >/dev/full"),
        (FULL,                   "tollbook --help >/dev/full"),
        ((2, "", ""),            "tollbook nonsense 2>/dev/full"),
        (failed("there is no command `\\udcff`", "see `tollbook --help`", 2), "tollbook $'\\xff'"),
    ],
)  # fmt: skip
def test_streams(folder: Path, expected: tuple[int, str, str], line: str) -> None:
    assert expected == shell(folder, line)


def test_a_reader_that_has_gone_is_met_with_silence(folder: Path) -> None:
    # The command starts writing when its reader is gone for sure.
    line = "{ sleep 0.3; tollbook key show; } | exec true; exit ${PIPESTATUS[0]}"
    assert (1, "", "") == shell(folder, line)


@pytest.mark.parametrize(
    "settings",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1:strict"},
        {"PYTHONOPTIMIZE": "1"},
        {"TZ": "Pacific/Apia", "PYTHONHASHSEED": "1"},
    ],
    ids=str,
)
def test_settings_change_nothing(folder: Path, settings: dict[str, str]) -> None:
    assert (0, KEY, "") == shell(folder, "tollbook key show", **settings)


@pytest.mark.parametrize("settings", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "latin-1:strict"}], ids=str)
def test_output_is_utf8(folder: Path, settings: dict[str, str]) -> None:
    expected = failed("there is no command `…é`", "see `tollbook --help`", 2)
    assert expected == shell(folder, "tollbook …é", **settings)


@pytest.mark.parametrize(
    ("expected",                                        "line"),
    [
        ("15 runs, 15 good, 0 findings",                "tollbook verify <&-"),
        ("15 runs, 15 good, 0 findings",                "tollbook verify --jobs 2 2>&- <&-"),
        ("exported 15 runs to a.jsonl",                 "tollbook export -o a.jsonl <&- 2>&-"),
        ("imported 15 runs: 230 messages, 67 calls; 0 outputs differ, 3 could not be compared",
         "tollbook --ledger a.db import tau2 recorded.json --db shop.json <&- 2>&-"),
    ],
)  # fmt: skip
def test_no_command_needs_stdin_or_stderr(folder: Path, expected: str, line: str) -> None:
    for step in ("suite .", "ledger tollbook.db"):
        Stage(folder).prepare(step)
    code, stdout, stderr = shell(folder, line)
    assert (0, expected, "") == (code, stdout.splitlines()[-1], stderr)


def on_a_terminal(folder: Path, *words: str) -> tuple[int, str, str]:
    """A command whose stderr is a terminal, and what both streams got."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 65_536):
                shown += piece
        except OSError:  # Linux ends a terminal so once nobody holds its other side
            pass
        os.close(ours)
        assert process.stdout is not None
        stdout = process.stdout.read().decode()
    return process.returncode, stdout, shown.decode()


IMPORT = ("import", "tau2", "recorded.json", "--db", "shop.json")


@pytest.mark.parametrize(
    ("label",     "words"),
    [
        ("importing", ("--ledger", "new.db", *IMPORT)),
        ("verifying", ("verify",)),
        ("scoring",   ("score",)),
    ],
)  # fmt: skip
def test_a_bar_is_for_terminals_and_people(folder: Path, label: str, words: tuple[str, ...]) -> None:
    for step in ("suite .", "ledger tollbook.db"):
        Stage(folder).prepare(step)
    code, stdout, shown = on_a_terminal(folder, *words)
    assert (0, True, True) == (code, label in shown, "100%" in shown)
    assert label not in stdout
    (folder / "new.db").unlink(missing_ok=True)
    code, stdout, shown = on_a_terminal(folder, *words, "--json")
    assert (0, 1, "") == (code, stdout.count("\n"), shown)


PATIENT = """
import signal, sys, time
from tollbook.tasks import cli
signal.signal(signal.SIGINT, signal.default_int_handler)
def wait(args):
    print("ready", flush=True)
    time.sleep(30)
cli._run = wait
sys.exit(cli.main([]))
"""


def test_an_interrupt_ends_with_130(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PATIENT], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert (130, b"error: interrupted\nhint: run the command again\n") == (process.returncode, stderr)


SLOW = """
import os, signal, sys, time
from tollbook.ledger import verify
from tollbook.tasks import cli
signal.signal(signal.SIGINT, signal.default_int_handler)
def wait(*_args, **_options):
    os.write(1, b"ready\\n")
    time.sleep(30)
verify.audit_run = wait
sys.exit(cli.main(["verify", "--jobs", "2"]))
"""


def test_an_interrupt_reaches_every_process_and_is_told_once(folder: Path) -> None:
    Stage(folder).prepare("ledger tollbook.db")
    with subprocess.Popen(
        [sys.executable, "-c", SLOW],
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert [b"ready\n"] * 2 == [process.stdout.readline() for _ in range(2)]
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert (130, b"error: interrupted\nhint: run the command again\n") == (process.returncode, stderr)


WRITES = """
import sys
from tollbook.tasks import cli
cli._run = lambda args: sys.stdout.write('result')
sys.exit(cli.main())
"""


@needs_full
def test_a_result_still_in_a_buffer_reaches_the_disk_or_fails(folder: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", WRITES],
            cwd=folder,
            env={**os.environ, "PYTHONUNBUFFERED": ""},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert FULL == (done.returncode, "", done.stderr)


def test_the_version_costs_a_quarter_of_a_second_at_most(folder: Path) -> None:
    def cpu() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    costs: list[float] = []
    for _ in range(3):
        before = cpu()
        subprocess.run([*COMMAND, "--version"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        costs.append(cpu() - before)
    assert min(costs) <= 0.25


@pytest.mark.parametrize("heavy", ["msgspec", "cryptography", "sqlite3", "sqlite_utils", "cel_expr_python"])
def test_the_version_imports_nothing_heavy(heavy: str) -> None:
    code = "import sys; from tollbook.tasks import cli; cli.main(['--version']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "click" in done.stdout.split()
    assert heavy not in done.stdout.split()
