"""What every test may ask for, and one rule: shared data that are there get read.

A test that asks for `shared` is marked `shared`. Where the folder is absent (a
user's clone) it is skipped and says so; where the folder is there a skip would
hide that nothing was checked, so it is a failure.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tollbook.protocol import world

if TYPE_CHECKING:
    from linted import Reports

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("TOLLBOOK_SHARED", ROOT.parent / "shared"))

# The settings of whoever runs the tests stay out of them.
for _setting in ("LEDGER", "SECRET", "NAME", "DEBUG"):
    os.environ.pop(f"TOLLBOOK_{_setting}", None)


@pytest.fixture(autouse=True, scope="module")
def _released_worlds() -> Generator[None]:
    """What a module's tests register is gone after it, so that hints list the package's worlds."""
    known = dict(world._REGISTERED)  # noqa: SLF001 - only tests take a world away
    yield
    world._REGISTERED.clear()  # noqa: SLF001
    world._REGISTERED.update(known)  # noqa: SLF001


@pytest.fixture
def shared() -> Path:
    """The folder of shared data, or a skip that says why."""
    if not SHARED.is_dir():
        pytest.skip(f"no shared data: `{SHARED.name}` is not beside the repository")
    return SHARED


@pytest.fixture(scope="session")
def linted(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """What the linter says of a task file, linted once for all processes of the run."""
    from linted import Reports  # noqa: PLC0415 - brings in the linter, which few tests need

    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "linted"
    folder.mkdir(exist_ok=True)
    return Reports(folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker("shared")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    expected = hasattr(report, "wasxfail")
    if report.skipped and not expected and item.get_closest_marker("shared") and SHARED.is_dir():
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped although the shared data are there"
    return report
