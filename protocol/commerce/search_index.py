"""Which listings hold a word, and which have a feature: worked out once from the start rows.

    word    a run of letters and digits; letters beyond ASCII count as they are, ASCII ones in lower case
    weight  2 where the word stands in a listing's title, else 1

What is indexed never changes in a run: titles, descriptions, features. Whether a listing is still
offered, at which price, with which attributes and stock, is looked up where it is found.

Cases of letters beyond ASCII are kept apart, since Unicode's tables differ from one Python to the next.
Not here: who searches, and how what was found is ranked (`search`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ..tables import Facts
from .catalog import Listing

MAX_WORDS: Final = 12
"""The first words of a query that count."""

IN_TITLE: Final = 2
IN_DESCRIPTION: Final = 1

_WORD = re.compile(rb"[0-9a-z\x80-\xff]+")
_MEMO = "commerce.search"


class SearchIndex(NamedTuple):
    """Weights by word and listing; listings by feature; all listings, sorted by key."""

    words: Mapping[bytes, Mapping[str, int]]
    features: Mapping[str, Sequence[str]]
    listings: Sequence[str]


def index_of(facts: Facts) -> SearchIndex:
    """The index of these start rows."""
    found: SearchIndex | None = facts.memo.get(_MEMO)
    if found is None:
        found = facts.memo[_MEMO] = _made(facts)
    return found


def candidates(index: SearchIndex, query: str, features: Sequence[str]) -> Mapping[str, int]:
    """The listings that hold a word of the query, each with its score: the sum of the words' weights.

    A query without words takes all listings, or those that have the rarest of the features; all score 0.
    """
    words = words_of(query)[:MAX_WORDS]
    if len(words) == 1:
        return index.words.get(words[0], {})
    if words:
        scores: dict[str, int] = {}
        for word in words:
            for key, weight in index.words.get(word, {}).items():
                scores[key] = scores.get(key, 0) + weight
        return scores
    having: Iterable[Sequence[str]] = (index.features.get(feature, ()) for feature in features)
    return dict.fromkeys(min(having, key=len, default=index.listings), 0)


def words_of(text: str) -> list[bytes]:
    """The distinct words of a text, in its order."""
    return list(dict.fromkeys(_WORD.findall(text.encode().lower())))


def _made(facts: Facts) -> SearchIndex:
    words: dict[bytes, dict[str, int]] = {}
    features: dict[str, list[str]] = {}
    row: Listing
    for key, row in facts.tables["listing"].rows.items():  # pyright: ignore[reportAssignmentType]
        for text, weight in ((row.title, IN_TITLE), (row.description, IN_DESCRIPTION)):
            for word in words_of(text):
                words.setdefault(word, {}).setdefault(key, weight)
        for feature in row.features:
            features.setdefault(feature, []).append(key)
    return SearchIndex(words, features, list(facts.tables["listing"].rows))
