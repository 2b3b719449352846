"""The garbage collector can walk every type we define.

msgspec 0.23 builds a broken node for a bounded integer beside a fixed tuple in
one union; the next full collection then ends the process. So every module is
imported in a process of its own, and the collector run over all of it.
"""

from __future__ import annotations

import subprocess
import sys

_WALK = """
import gc, importlib, pkgutil
gc.disable()
count = 0
for room in ("protocol", "ledger", "scorers", "tasks"):
    package = importlib.import_module(f"tollbook.{room}")
    for module in pkgutil.walk_packages(package.__path__, f"tollbook.{room}."):
        importlib.import_module(module.name)
        count += 1
gc.collect()
print(count)
"""


def test_a_collection_over_every_module_ends_well() -> None:
    ran = subprocess.run([sys.executable, "-c", _WALK], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert int(ran.stdout) > 40
