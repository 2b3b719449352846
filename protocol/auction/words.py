"""What a bidder's own words come to: one of two moves, or an amount; nothing where they leave a doubt.

    words     = sentences                                      `.` `!` `?` `;` or a new line ends one
    a move    = [reason] SMALL… NAME SMALL… [because …]         the last sentence that names a move
    SMALL     = words that change nothing: `I will`, `now`, `my answer is`, `at` the price as it is
    a reason  = anything before `so I`, `therefore I` …; before `, I` only what doesn't turn what follows

    "The price is not above my value, so I stay."   stay      "I will not exit."              nothing
    "Decision: **EXIT**"                            exit      "Stay or exit? I can't tell."   nothing
    "I stay because it isn't over 3.00."            stay      "I exit at 5.00." (at 3.20)     nothing

Whoever names both moves, turns one round (`not`, `never`, `rather than`, `refuse to`
…) or names it with anything else around it has made no move: asked again it can
say it plainly, and a guess would be the market's move, not its own.

    an amount = the one right after `bid`, `maximum`, `answer` …; else that of a sentence of small words

    "I bid 4.00 because my value is 5.00."          4.00      "I bid 4.00, not 5.00."         nothing
    "So 4.00."                                      4.00      "My value is 5.00."             nothing

Where the word that bids nothing is there too, an amount is in doubt.

Not here: which moves a format has (each family), what an agent's typed act is (`tollbook.tasks`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TypeVar

T = TypeVar("T")

AMOUNT = re.compile(
    r"(?<![\w.,$€£−-])[$€£]?\s?([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,13})(?:\.([0-9]{1,2}))?(?![\w.,]*\w)(?!\s?%)"
    r"(\s?(?:cents?|ct|¢)(?!\w))?"
)
"""An amount in words: `3.20`, `$3.20`, `1,200`, `320 cents`; a whole number alone is whole units."""

MAX_SENTENCE = 500
"""The most characters of a sentence that is read; a longer one leaves a doubt, and would take long."""

_DIGIT = re.compile(r"[0-9]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|[;\n]+")
_DRESS = str.maketrans({**dict.fromkeys('*_`"“”«»()[]{}<>#/\\|', " "), "\u2019": "'"})
_NEGATION = r"not|\w+n't|cannot|cant|dont|wont|never|no|none|nobody|nothing|neither|nor|without|hardly|barely"
_TURN = re.compile(
    rf"\b(?:{_NEGATION}|nope|nah|instead|rather|refus\w+|reject\w*|avoid\w*|against|unwilling|reluctant|unable"
    r"|fail\w*|forget|less|until|unless|if|when|whenever|once|whether|while|should|would|could|might|may|maybe"
    r"|perhaps|later|soon|next|unsure|suppose\w*|except|but)\b"
)
"""A word that turns round or conditions what comes after it."""
_DENIAL = re.compile(r"\W*(?:not|no|nope|nah|never|just kidding|scratch that|on second thought|actually)\b")
_REASON = re.compile(r".*(?:\b(?:so|therefore|thus|hence)\b,?|=>|→)\s*(?=(?:i|i'll|i'm|we|we'll)\b)")
_SPLICE = re.compile(r"(.*)(?:,|:|-|–|—)\s*(?:and\s+)?(?=(?:i|i'll|i'm|we|we'll)\b)")
_BECAUSE = re.compile(r",?\s*\b(?:because|since)\b.*|,\s*as\b(?! long).*")
_BID = re.compile(
    r"\b(?:bid|bids|bidding|offer|maximum|max|amount|answer|submit)\W*"
    r"(?:\b(?:of|is|at|to|be|will|up|a|my|amount|maximum|now|then|it)\b\W*)*$"
)
_RANGE = re.compile(r"\s*(?:to|or|and|-|–)\s*[$€£]?\s?\d")
_DOUBT = re.compile(rf"\b(?:{_NEGATION}|if|unless|when|until|instead|rather|avoid\w*|refus\w*)\b")
_SMALL = frozenset(
    re.findall(
        r"\S+",
        "a action act am answer at auction bid bidder boxed bidding choice choose choosing clock continue "
        "current decide decided decision do final finally from go going have hence here i i'd i'll i'm "
        "i've in is it item keep kind let let's like me most move must my need now of offer ok okay opt "
        "play please posted prefer price proxy ready right round say selected selection shall so still "
        "sure take text thanks that the then therefore this thus to turn us want we we'll we're will wish "
        "with yes",
    )
)
_CONTRARY = frozenset({"out", "away", "tuned", "put", "order", "price", "point", "strategy"})
"""Small words, or others, that after a move's name make something else of it: `stay out`, `exit price`."""


def choice(text: str, moves: Mapping[str, T], price: int) -> T | None:
    """The move that the words name, by its name; None for none, or a doubt. ``price`` is what stands."""
    plain = text.translate(_DRESS).lower()
    named = [name for name in moves if _name(name).search(plain)]
    if len(named) != 1:
        return None
    name, sentences = _name(named[0]), _SENTENCE.split(plain)
    places = [place for place, sentence in enumerate(sentences) if name.search(sentence)]
    if any(len(sentences[place]) > MAX_SENTENCE or _is_turned(sentences[place], name) for place in places):
        return None
    after = sentences[places[-1] + 1 :]
    if not _is_plain(sentences[places[-1]], name, price) or any(map(_DENIAL.match, after)):
        return None
    return moves[named[0]]


@cache
def _name(move: str) -> re.Pattern[str]:
    """A move's name in any form: `stay`, `staying`, `stop`, `stopped`."""
    last = move[-1]
    return re.compile(rf"(?<![\w-])({move}(?:{last}?ing|{last}?ed|s)?|{move[:-1]}(?:ing|ed))(?![\w-])")


def _is_turned(sentence: str, name: re.Pattern[str]) -> bool:
    """Whether a word before the name denies it, where no reason ends between the two."""
    found = name.search(sentence)
    assert found is not None
    before = _BECAUSE.sub("", _REASON.sub("", sentence[: found.end()]))
    return re.search(rf"\b(?:{_NEGATION})\b", before) is not None


def _is_plain(sentence: str, name: re.Pattern[str], price: int) -> bool:
    """Whether a sentence says the move and nothing else."""
    words = _clause(sentence)
    reason = _SPLICE.match(words)
    if reason is not None and not _TURN.search(reason[1]) and not name.search(reason[1]):
        words = words[reason.end() :]
    if any(amount != price for amount in amounts(words)):
        return False
    words = AMOUNT.sub(" ", words)
    found = name.search(words)
    if found is None:
        return False
    before, after = _words(words[: found.start()]), _words(words[found.end() :])
    if set(after[:1]) & _CONTRARY or ("i" in before and found[0].endswith("ed")):
        return False
    return all(word in _SMALL or name.fullmatch(word) for word in (*before, *after))


def _words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text)


def amounts(text: str) -> list[int]:
    """The amounts in a text, in minor units, in order."""
    return [_minor(found) for found in AMOUNT.finditer(text)]


def _minor(found: re.Match[str]) -> int:
    whole, part, cents = found.groups()
    number = int(whole.replace(",", ""))
    return number if cents and not part else number * 100 + int(f"{part or ''}00"[:2])


def amount(text: str, nothing: str) -> int | str | None:
    """The amount that the words bid, or ``nothing``, the word for no bid; None for neither, or a doubt."""
    plain = text.translate(_DRESS).lower()
    sentences = [each for each in _SENTENCE.split(plain) if _DIGIT.search(each)]
    if any(len(each) > MAX_SENTENCE for each in sentences):
        return None
    sentences = [each for each in sentences if AMOUNT.search(each)]
    if not sentences:
        return choice(text, {nothing: nothing}, 0)
    if _name(nothing).search(plain):
        return None
    said = [each for sentence in sentences for each in _bids(sentence)] or _alone(sentences[-1])
    return said[0] if len(set(said)) == 1 else None


def _bids(sentence: str) -> list[int]:
    """The amounts that a word for a bid stands before, where nothing before it turns it round."""
    words = _clause(sentence)
    found = [each for each in AMOUNT.finditer(words) if _BID.search(words[: each.start()])]
    if any(_RANGE.match(words, each.end()) for each in found):
        return []
    return [_minor(each) for each in found if not _DOUBT.search(words[: each.start()])]


def _alone(sentence: str) -> list[int]:
    """The amounts of a sentence that says nothing else."""
    words = _clause(sentence)
    return amounts(words) if all(word in _SMALL for word in _words(AMOUNT.sub(" ", words))) else []


def _clause(sentence: str) -> str:
    """A sentence without the reasons it gives; nothing of a question."""
    return "" if sentence.rstrip().endswith("?") else _REASON.sub("", _BECAUSE.sub("", sentence))
