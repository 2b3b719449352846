"""What words come to: a table of phrases, those that leave a doubt among them."""

from __future__ import annotations

import pytest

from tollbook.protocol.auction.words import amount, amounts, choice

PRICE = 320

PHRASES: list[tuple[str, str, str]] = [
    # the moves       what they come to    phrases, one a line
    ("stay exit", "stay", """
        stay
        Stay.
        **STAY**
        "stay"
        {"kind": "clock.stay"}
        clock_stay
        \\boxed{stay}
        <answer>stay</answer>
        Decision: stay
        FINAL ANSWER: stay
        My answer is: stay
        My decision is to stay in the auction.
        I stay
        I'm staying.
        I’ll stay
        I will stay in.
        I choose to stay
        I'll stay in the auction at this price.
        I stay at 3.20
        I stay at $3.20.
        The price is below my value. I stay.
        The price is not above my value, so I stay.
        The price 3.20 is below my value of 5.00, so I'll stay.
        My value is 5.00, I stay
        I stay because it isn't over 3.00.
        I stay, since my value of 5.00 is not reached.
        I should stay while it is below my value. It is. Stay.
        It isn't over my value; stay
    """),
    ("stay exit", "exit", """
        exit
        EXIT!
        I exit now
        I'm exiting.
        Yes, exit.
        Let me exit.
        I want to exit.
        It is above my value, therefore I exit.
        Okay, I exit. I can't pay more.
        Should I exit? Yes, exit.
    """),
    ("stay exit", "", """
        I will not exit.
        I won't exit
        I won’t exit
        I do not exit
        do not exit
        don't stay
        Not exit
        never exit
        No exit
        No, I exit
        I am not exiting
        I do not think I stay
        I don't think, I exit
        I will not, under any circumstances, exit
        I can't stay
        I cannot stay in.
        I cant stay
        I'm not going to stay
        I am unable to stay
        I have no reason to stay
        There is no need to exit
        I refuse to stay
        I'd avoid staying
        I fail to stay
        Nobody should exit
        without exiting
        Exit is not what I want
        Exit I will not
        Exit? No.
        Exit. No.
        Exit. Just kidding
        Stay. Actually no
        Stay? Hardly
        Stay - not
        Stay, not!
        I could stay
        I might exit
        I would stay
        exit later
        I exit next round
        Next time I exit
        If the price is above my value I exit
        I exit if the price goes up
        I exit at 5.00
        I exit when it reaches 5.00
        I stay until 5.00
        I stay out
        I'm staying out of this
        stay away
        exit strategy
        my exit price is 5.00
        Should I exit?
        stay or exit
        stay/exit
        Stay or exit?
        Stay. Exit.
        I'd rather stay than exit
        I exit, no, stay
        Instead of staying, I leave
        They exit
        b2 exits
        The others exit
        You stay
        I stayed
        I almost exit
        I'm not so sure I exit
        Staying is wrong
        It is wrong to stay
        exitway
        leave
        hm
    """),
    ("stop wait", "stop", """
        stop
        Stop!
        I stop the clock
        Stop the clock at this price
        I take it: stop
    """),
    ("stop wait", "wait", """
        wait
        Waiting
        I'll wait
    """),
    ("stop wait", "", """
        don't stop
        never stop
        stop waiting
        non-stop
        stop-loss
        Stop at 3.00
        Not yet, I stop at 2
        I can't wait
        I can't wait to buy
        I'm not waiting
        Wait no more
        I no longer wait
        I wait for a lower price.
        Wait, let me think. I stop.
    """),
    ("accept decline", "accept", """
        accept
        Accepted
        Offer accepted
        I accept the offer
        I accept the price of 3.20
    """),
    ("accept decline", "decline", """
        decline
        Declined.
        I decline the offer.
        I must decline
        Thanks, I decline
        The price is over my value, so I decline.
    """),
    ("accept decline", "", """
        I do not accept
        I can't accept this
        not accepted
        Unacceptable
        accept/decline
        I decline to accept
        I don't decline
        the price may decline
        Prices decline
        I accept 3.00
        I would accept 3.00
        I accept if it is lower
        I accept nothing
        I reject
    """),
]  # fmt: skip

AMOUNTS: list[tuple[int | str | None, str]] = [
    (300, "I bid 3.00"),
    (320, "3.20"),
    (320, "$3.20 please"),
    (500, "I'm bidding $5"),
    (120_050, "Bid: $1,200.50"),
    (300, "300 cents"),
    (400, "My value is 5.00 so I bid 4.00"),
    (400, "My value is 5.00. I don't want to overpay, so I bid 4.00."),
    (400, "I bid 4.00 because my value is 5.00"),
    (400, "I bid 4.00. My value is 5.00."),
    (400, "I bid 4.00, not 5.00"),
    (400, "My value is 5.00 and there are 5 bidders, so I bid 4.00 in round 3."),
    (400, "My maximum is 4.00"),
    (200, "Should I bid 3.00? I bid 2.00"),
    (200, "I will not bid 3.00. I bid 2.00"),
    ("hold", "hold"),
    ("hold", "I'll hold now"),
    (None, "I hold at 5.00"),
    (None, "holding 3"),
    (None, "I do not hold"),
    (None, "I will not bid 3.00"),
    (None, "If I bid 4.00 I lose"),
    (None, "I bid 3.00 to 4.00"),
    (None, "My value is 5.00."),
    (None, "There are 5 bidders"),
    (None, "3 4 5"),
    (None, "bid 5%"),
    (None, "Should I bid 3.00?"),
    (None, "-5"),
    (None, "I bid −3.00"),
    (None, "-$5"),
    (None, "3.205"),
    (None, "1e30"),
    (None, "1" + "0" * 30),
    (None, "NaN"),
    (None, "inf"),
    (None, "three dollars"),
    (None, "no bid"),
    (None, ""),
]


@pytest.mark.parametrize(
    ("moves", "move", "phrase"),
    [
        (moves, move, phrase.strip())
        for moves, move, phrases in PHRASES
        for phrase in phrases.strip().splitlines()
    ],
)
def test_a_phrase_is_a_move_where_it_leaves_no_doubt(moves: str, move: str, phrase: str) -> None:
    assert (move or None) == choice(phrase, {name: name for name in moves.split()}, PRICE)


@pytest.mark.parametrize(("said", "phrase"), AMOUNTS)
def test_an_amount_is_a_bid_where_it_leaves_no_doubt(said: int | str | None, phrase: str) -> None:
    assert said == amount(phrase, "hold")


@pytest.mark.parametrize("part", ["so i ", "i, ", "not ", "1,000", "stay ", "9 ", "\n", ". ", "if-", "  "])
def test_words_of_any_length_are_read_in_a_moment(part: str) -> None:
    phrase = part * 100_000
    assert choice(phrase + "stay", {"stay": True}, PRICE) in (True, None)
    assert None is amount(phrase, "hold")
    if part in ("i, ", "not ", "9 ", "\n", ". ", "  "):
        assert "stay" == choice(phrase + ". Stay.", {"stay": "stay"}, PRICE)


def test_amounts_of_a_text() -> None:
    assert [120_000, 350] == amounts("1,200 and 3.5")
