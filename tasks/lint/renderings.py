"""Renderings that do nothing or say too little: labels that nothing has, or that make two words one.

    reference under each rendering, in each case ─► the maps and texts that the market showed it

Full credit of those runs is `credit`'s question; right answers in a rendering's texts are `told`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ..play.policies import PolicyAgent
from .finding import LintFinding, error, warning

if TYPE_CHECKING:
    from ..format.task import Task
    from ..play.agent import Answer, Asked

Json = Any


class Reader(PolicyAgent):
    """Plays the reference, and keeps which words it was shown: keys of one map together, and whole texts."""

    def __init__(self, task: Task) -> None:
        super().__init__("reference", task.reference)
        self.keys: set[frozenset[str]] = set()
        self.texts: set[str] = set()

    def act(self, asked: Asked) -> Answer:
        """As `Agent.act`."""
        self._read(asked.market)
        return super().act(asked)

    def _read(self, shown: Json) -> None:
        if isinstance(shown, str):
            self.texts.add(shown)
        elif isinstance(shown, Mapping):
            found = cast("Mapping[str, Json]", shown)
            self.keys.add(frozenset(found))
            for each in found.values():
                self._read(each)
        elif isinstance(shown, (list, tuple)):
            for each in cast("Sequence[Json]", shown):
                self._read(each)


def check(task: Task, readers: Mapping[str, Sequence[Reader]]) -> Iterator[LintFinding]:
    """What is wrong with the labels of each rendering, by those who read under it."""
    for name, read in readers.items():
        place, labels = f"rendering.{name}.labels", task.file.rendering[name].labels
        maps = {keys for reader in read for keys in reader.keys}
        seen = {key for keys in maps for key in keys} | {text for reader in read for text in reader.texts}
        for word in labels:
            if word not in seen:
                text = f"the market shows no `{word}` in any case"
                hint = "label a word that it shows, or leave it out"
                yield warning("lint.rendering", f"{place}.{word}", text, hint)
        for word in sorted({each for keys in maps for each in _alike(keys, labels)}):
            text = f"`{word}` gets the label `{labels[word]}`, which stands beside it"
            hint = "what is told apart must stay apart: give it another label"
            yield error("lint.rendering", f"{place}.{word}", text, hint)


def _alike(keys: frozenset[str], labels: Mapping[str, str]) -> Iterator[str]:
    """The keys of one map whose label another of them has."""
    count = Counter(labels.get(key, key) for key in keys)
    yield from (key for key in keys if key in labels and count[labels[key]] > 1)
