"""A verdict is decided by the interval and by chance, and never says more than they do."""

import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithscope.report.verdict import LEVELS, WORDS, bar, judge, level

shares = st.floats(0, 1)


@st.composite
def estimates(draw, measure="consistency"):
    low, value, high = sorted(draw(st.tuples(shares, shares, shares)))
    unverifiable = draw(st.floats(0, high - value))
    chance = draw(st.none() | shares)
    verified = None if unverifiable >= 1 else min(1.0, value / (1 - unverifiable))
    above = None if chance is None or verified is None else verified > chance and draw(st.booleans())
    checked = verified or 0.0
    bound = draw(shares) * checked
    if above is not None:
        bound = max(bound, chance) if above else min(bound, chance)
    return SimpleNamespace(
        measure=measure,
        value=value,
        low=low,
        high=high,
        unverifiable=unverifiable,
        verified=verified,
        verified_low=bound,
        verified_high=checked + draw(shares) * (1 - checked),
        above_chance=above,
        chance=chance,
        confidence=0.95,
    )


def found(one, wanted=0.9):
    return level(one, wanted)


@given(estimates())
def test_never_faithful_when_the_interval_reaches_chance(one):
    if one.chance is not None and one.low <= one.chance:
        assert found(one) != "faithful"


@given(estimates())
def test_cannot_tell_when_the_interval_holds_both_chance_and_the_bar(one):
    if one.chance is not None and one.low <= one.chance and one.high >= bar(one.chance):
        assert found(one) == "unknown"


@given(estimates())
def test_never_condemned_when_the_interval_reaches_the_bar(one):
    if one.chance is not None and one.high >= bar(one.chance):
        assert found(one) in {"faithful", "unknown"}


@given(estimates())
def test_no_better_than_chance_is_only_said_of_intervals_near_chance(one):
    if found(one) == "chance":
        assert not one.above_chance
        assert one.chance < one.high
        assert one.high - one.chance < bar(one.chance) - one.high


@given(estimates())
def test_above_chance_is_said_of_what_is_above_it_whatever_silence_makes_of_the_interval(one):
    if found(one) == "partly":
        assert one.above_chance
        assert one.high < bar(one.chance)
    if one.above_chance:
        assert found(one) not in {"chance", "unfaithful"} or one.high <= one.chance


@given(estimates())
def test_nothing_is_said_where_nothing_can_be_checked_or_all_predictions_are_the_same(one):
    one.verified = None
    assert found(one) == "unknown"
    one.verified, one.chance = 1.0, 1.0
    assert found(one) == "unknown"


@given(estimates(), shares, shares)
def test_a_narrower_interval_is_never_less_decided(one, left, right):
    before = found(one)
    width = one.high - one.low
    one.low, one.high = one.low + left * width / 2, one.high - right * width / 2
    if before not in {"unknown", "chance"}:
        assert found(one) == before


@pytest.mark.parametrize(
    ("low", "high", "chance", "above", "expected"),
    [
        (0.94, 0.97, 0.5, True, "faithful"),
        (0.86, 1.0, 0.5, True, "unknown"),
        (0.4, 0.95, 0.5, False, "unknown"),
        (0.6, 0.8, 0.5, True, "partly"),
        (0.3, 0.65, 0.5, True, "partly"),  # low counts silent rows as failures, and chance does not
        (0.45, 0.55, 0.5, False, "chance"),
        (0.4, 0.89, 0.5, False, "unknown"),  # a few rows: below the bar, and that is all
        (0.2, 0.4, 0.5, False, "unfaithful"),
        (0.93, 0.96, 0.95, False, "chance"),  # nine rows in ten alike: 0.94 is nothing
    ],
)
def test_each_verdict_has_its_case(low, high, chance, above, expected):
    one = SimpleNamespace(low=low, high=high, chance=chance, verified=0.9, above_chance=above)
    assert level(one) == expected


def test_the_bar_is_always_above_chance():
    assert all(bar(chance / 100) > chance / 100 for chance in range(100))


@given(estimates(), estimates("sufficiency"))
def test_an_explainer_is_as_faithful_as_its_weakest_measure(one, other):
    verdict = judge([one, other], {})
    assert LEVELS.index(verdict.level) == max(LEVELS.index(found(one)), LEVELS.index(found(other)))
    assert verdict.sentence.startswith(WORDS[verdict.level] + ": ")


@given(estimates())
def test_a_bound_is_never_said_tighter_than_it_is(one):
    sentence = judge([one], {}).sentence
    checked = found(one) in {"partly", "chance"}
    low, high = (one.verified_low if checked else one.low), one.high
    high = one.verified_high if checked and one.unverifiable else one.high
    least = re.search(r"(?:at least|between) ([\d.]+)%", sentence)
    most = re.search(r"(?:at most|and) ([\d.]+)%", sentence)
    assert least is None or float(least[1]) / 100 <= low + 1e-12
    assert most is None or float(most[1]) / 100 >= high - 1e-12


def test_a_silent_sample_says_how_silent_and_what_would_help():
    one = SimpleNamespace(measure="consistency", value=0.35, low=0.3, high=1.0, unverifiable=0.62, verified=0.92)
    one.chance, one.confidence, one.above_chance = 0.5, 0.95, True
    sentence = judge([one], {"consistency": "; about 12,000 rows would leave only 5%"}).sentence
    assert sentence.startswith("Cannot tell yet: 62% of the rows have an explanation that no other row has")
    assert sentence.endswith("about 12,000 rows would leave only 5%.")
