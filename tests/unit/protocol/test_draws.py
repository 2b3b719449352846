"""Draws: the stated rule written out, fixed values, uniformity, refusals."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter

import pytest

from tollbook.protocol.draws import Draws, seed_of
from tollbook.protocol.errors import UsageError

SEED = "5e" * 32


def words(seed: str, label: str) -> list[int]:
    """The first 4,000 words, by the rule in the module's docstring."""
    texts = (json.dumps([seed, label, k], separators=(",", ":")) for k in range(4_000))
    return [int(hashlib.sha256(text.encode()).hexdigest()[:16], 16) for text in texts]


def naive(low: int, high: int, words: list[int]) -> list[int]:
    span = high - low + 1
    return [low + word % span for word in words if word < 2**64 // span * span]


@pytest.mark.parametrize(
    ("rejected", "low", "high"),
    [
        (0, 0, 0),
        (0, 0, 1),
        (0, 1, 6),
        (0, -3, 3),
        (0, 0, 2**53 - 1),
        (0, 0, 2**64 - 1),
        (0, -(2**63), 2**63 - 1),
        (3, 0, 2**53),  # 2^53 − 2047 words are over: about one in 2,048 is rejected
        (1_933, 1, 2**63 + 1),  # almost half of all words
    ],
)
def test_integer_is_the_next_word_below_the_fair_limit(rejected: int, low: int, high: int) -> None:
    drawn = words(SEED, "supply")
    expected = naive(low, high, drawn)
    draws = Draws(SEED, "supply")
    assert [draws.integer(low, high) for _ in expected] == expected
    assert len(drawn) - len(expected) == rejected


class Fixed:
    """Stands for the hash: its digests begin with the words given."""

    def __init__(self, *words: int) -> None:
        self.words = iter(words)

    def copy(self) -> Fixed:
        return self

    def update(self, data: bytes) -> None:
        pass

    def digest(self) -> bytes:
        return next(self.words).to_bytes(8, "big") + bytes(24)


@pytest.mark.parametrize(
    ("expected", "high", "words"),
    [
        (0, 2, [0]),
        (2, 2, [2**64 - 2]),
        (1, 2, [2**64 - 1, 1]),  # 2^64 = 1 (mod 3): the last word is over
        (2**63, 2**63, [2**63]),
        (7, 2**63, [2**63 + 1, 2**64 - 1, 7]),  # the first word that is over, and the last
        (2**64 - 1, 2**64 - 1, [2**64 - 1]),
    ],
)
def test_words_at_the_fair_limit(expected: int, high: int, words: list[int]) -> None:
    draws = Draws(SEED, "x")
    draws._prefix = Fixed(*words)  # type: ignore[assignment]  # noqa: SLF001
    assert draws.integer(0, high) == expected


def test_fixed_values() -> None:
    # Part of the format: scripted parties and environments draw these.
    draws = Draws(SEED, 'a label, with "quotes" and é')
    assert [draws.integer(1, 100) for _ in range(8)] == [28, 81, 99, 68, 72, 89, 56, 29]
    assert draws.choice("abcdefghij") == "i"
    assert draws.shuffle(range(10)) == [9, 4, 2, 1, 6, 7, 5, 3, 8, 0]


def test_seed_and_label_both_count() -> None:
    def first(seed: str, label: str) -> list[int]:
        draws = Draws(seed, label)
        return [draws.integer(0, 2**64 - 1) for _ in range(4)]

    seen = [*first(SEED, "a"), *first(SEED, "b"), *first("00" * 32, "a"), *first("", SEED + "a")]
    assert len(set(seen)) == 16
    assert first(SEED, "a") == first(SEED, "a")


def test_draws_of_one_source_go_on() -> None:
    one, two = Draws(SEED, "x"), Draws(SEED, "x")
    mixed = [one.integer(0, 9), one.integer(5, 5), one.integer(0, 9)]
    plain = [two.integer(0, 9) for _ in range(3)]
    assert (mixed[0], mixed[2]) == (plain[0], plain[2])  # (5, 5) took a word as well


def test_integers_are_uniform() -> None:
    draws = Draws(SEED, "dice")
    counts = Counter(draws.integer(1, 6) for _ in range(60_000))
    assert sorted(counts) == [1, 2, 3, 4, 5, 6]
    # Chi-squared with 5 degrees of freedom: 20.5 has probability 0.001.
    assert sum((count - 10_000) ** 2 / 10_000 for count in counts.values()) < 20.5


def test_every_order_is_equally_likely() -> None:
    draws = Draws(SEED, "cards")
    counts = Counter("".join(draws.shuffle("abcd")) for _ in range(24_000))
    assert sorted(counts) == ["".join(order) for order in itertools.permutations("abcd")]
    # Chi-squared with 23 degrees of freedom: 49.7 has probability 0.001.
    assert sum((count - 1_000) ** 2 / 1_000 for count in counts.values()) < 49.7


@pytest.mark.parametrize("items", [[], ["a"], ["a", "a", "b"], list(range(100))])
def test_shuffle_keeps_the_items_and_the_list(items: list[object]) -> None:
    before = list(items)
    assert Counter(Draws(SEED, "s").shuffle(items)) == Counter(before)
    assert items == before


def test_choice_takes_the_item_at_a_drawn_place() -> None:
    items = list("abcdefg")
    one, two = Draws(SEED, "c"), Draws(SEED, "c")
    assert [one.choice(items) for _ in range(50)] == [items[two.integer(0, 6)] for _ in range(50)]


@pytest.mark.parametrize(("low", "high"), [(1, 0), (0, -1), (0, 2**64), (-(2**64), 0)])
def test_an_impossible_range_is_refused(low: int, high: int) -> None:
    with pytest.raises(UsageError) as caught:
        Draws(SEED, "x").integer(low, high)
    assert caught.value.code == "draws.range"


def test_a_choice_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        Draws(SEED, "x").choice([])
    assert caught.value.code == "draws.empty"


def test_seed_of() -> None:
    expected = hashlib.sha256(b'["suite/task","base",3]').hexdigest()
    assert seed_of("suite/task", "base", 3) == expected
