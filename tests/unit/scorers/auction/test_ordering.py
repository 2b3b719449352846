"""Formats by scaled deviation, and the share of draws in which their ordering holds."""

from __future__ import annotations

from fractions import Fraction

from tollbook.scorers.auction.mixture import Mixture
from tollbook.scorers.auction.ordering import Errors, Pair, of_mixture, of_sessions, ordering
from tollbook.scorers.measures import Key, counted

F = Fraction


def test_an_ordering_with_its_shares() -> None:
    found = ordering(
        {
            "first_price": Errors(F(9), [9, 9, 4, 9]),
            "english": Errors(F(1), [1, 2, 1, 7]),
            "second_price": Errors(F(5), [5, 1, 5, 5]),
        }
    )
    assert ["english", "second_price", "first_price"] == found.names
    # The second draw has the first two the other way, the third the last two, the fourth the first two.
    assert F(1, 4) == found.share
    assert [
        Pair("english", "second_price", F(1, 2)),
        Pair("english", "first_price", F(1)),
        Pair("second_price", "first_price", F(3, 4)),
    ] == found.pairs


def test_a_tie_is_no_ordering() -> None:
    assert 0 == ordering({"a": Errors(F(1), [1, 1]), "b": Errors(F(1), [1, 1])}).share


def test_a_draw_that_says_nothing_of_one_is_left_out() -> None:
    assert 1 == ordering({"a": Errors(F(1), [1, None]), "b": Errors(F(2), [2, 0])}).share


def test_mixtures_far_apart_keep_their_ordering_in_every_draw() -> None:
    near, far = Mixture(7, 2, 1, F(2, 100), F(2, 100)), Mixture(2, 7, 1, F(20, 100), F(20, 100))
    found = ordering(
        {"far": of_mixture(far, 1_440, 200, "far"), "near": of_mixture(near, 1_440, 200, "near")}
    )
    assert (["near", "far"], 1) == (found.names, found.share)


def test_of_the_same_mixture_either_comes_first_about_as_often() -> None:
    same = Mixture(27, 67, 6, F(12, 100), F(12, 100))
    found = ordering({name: of_mixture(same, 1_440, 100, name) for name in ("a", "b")})
    assert abs(float(found.share) - 0.5) <= 4 * 0.5 / 2_000**0.5


def test_played_sessions_are_drawn_anew() -> None:
    sessions = [{Key("error_scaled"): counted(each, 100)} for each in (4, 5, 6)]
    found = of_sessions(sessions, "a")
    assert found is not None
    assert F(15, 300) == found.value
    assert {40_000_000, 60_000_000} <= set(found.draws)
    assert None is of_sessions([{}], "a")
