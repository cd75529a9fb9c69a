"""A verdict is decided by the interval and by chance, and never says more than they do."""

import random
import re
from functools import cache
from itertools import combinations_with_replacement, cycle, product
from types import SimpleNamespace

import faithscope as fs
from faithscope.measures.telling import LEVELS, WORDS, bar, judge, level

PLACES = (0, 0.1, 0.4, 0.5, 0.9, 1)  # between chance and the bar
AGREEMENTS = cycle([fs.Same(), fs.Close(2.0), fs.Tolerance(0.5), fs.Spread()])


@cache
def estimates(measure="consistency"):
    """Estimates whose ends lie where verdicts change: at chance, at the bar, between them, at 0 and 1, and nearby."""
    found = []
    for chance in (None, 0.0, 0.3, 0.5, 0.6, 0.95):
        known = 0.5 if chance is None else chance
        ends = sorted({0.0, known / 2, *(known + share * (bar(known) - known) for share in PLACES), 0.99, 1.0})
        for (low, value, high), silent, tight in product(combinations_with_replacement(ends, 3), (0, 0.5, 1), (0, 1)):
            unverifiable = silent * (high - value)
            verified = None if unverifiable >= 1 else min(1.0, value / (1 - unverifiable))
            checked, above = verified or 0.0, None if chance is None or verified is None else verified > chance
            bound = (0.4 + 0.6 * tight) * checked
            if above is not None:
                above = above and bool(tight)
                bound = max(bound, chance) if above else min(bound, chance)
            found.append(
                SimpleNamespace(
                    measure=measure,
                    value=value,
                    low=low,
                    high=high,
                    unverifiable=unverifiable,
                    verified=verified,
                    verified_low=bound,
                    verified_high=checked + 0.3 * (1 - checked),
                    above_chance=above,
                    chance=chance,
                    confidence=0.95,
                    agreement=next(AGREEMENTS),
                    gap=3.0 if tight else None,
                    silence=unverifiable if tight else None,
                    limit=low * (0.9 + 0.1 * tight),
                    bracket=(value, value + unverifiable),
                    population=None,
                    beyond_random=None,
                    beyond_global=None,
                    notes=(),
                )
            )
    return found


def reaches(estimate):
    """Whether the interval reaches the bar."""
    return estimate.chance is not None and estimate.high >= bar(estimate.chance)


def with_chance(estimate):
    """Whether the interval reaches chance."""
    return estimate.chance is not None and estimate.low <= estimate.chance


LAWS = {
    "never faithful when the interval reaches chance": (with_chance, lambda e: level(e) != "faithful"),
    "cannot tell when the interval holds both chance and the bar": (
        lambda e: with_chance(e) and reaches(e),
        lambda e: level(e) == "unknown",
    ),
    "never condemned when the interval reaches the bar": (reaches, lambda e: level(e) in {"faithful", "unknown"}),
    "no better than chance is only said of intervals near chance": (
        lambda e: level(e) == "chance",
        lambda e: not e.above_chance and e.chance < e.high and e.high - e.chance < bar(e.chance) - e.high,
    ),
    "above chance is said of what is above it": (
        lambda e: level(e) == "partly",
        lambda e: e.above_chance and not reaches(e),
    ),
    "above chance is said whatever silence makes of the interval": (
        lambda e: e.above_chance and e.high > e.chance,
        lambda e: level(e) not in {"chance", "unfaithful"},
    ),
}


def test_a_verdict_says_no_more_than_the_interval_and_chance_do():
    for law in LAWS:
        premise, conclusion = LAWS[law]
        concerned = [estimate for estimate in estimates() if premise(estimate)]
        assert len(concerned) > 20
        assert all(map(conclusion, concerned))


def test_nothing_is_said_if_nothing_can_be_checked_or_all_predictions_are_the_same():
    for estimate in estimates():
        for known in ({"verified": None}, {"verified": 1.0, "chance": 1.0}):
            assert level(SimpleNamespace(**vars(estimate) | known)) == "unknown"


def test_a_narrower_interval_is_never_less_decided():
    for estimate in estimates():
        before, width = level(estimate), estimate.high - estimate.low
        if before not in {"unknown", "chance"}:
            for left, right in product((0, 0.3, 0.5), repeat=2):
                ends = {"low": estimate.low + left * width, "high": estimate.high - right * width}
                assert level(SimpleNamespace(**vars(estimate) | ends)) == before


CASES = [
    (0.94, 0.97, 0.5, True, "faithful"),
    (0.86, 1.0, 0.5, True, "unknown"),
    (0.4, 0.95, 0.5, False, "unknown"),
    (0.6, 0.8, 0.5, True, "partly"),
    (0.3, 0.65, 0.5, True, "partly"),  # low counts silent rows as failures, and chance does not
    (0.45, 0.55, 0.5, False, "chance"),
    (0.4, 0.89, 0.5, False, "unknown"),  # a few rows: below the bar, and that is all
    (0.2, 0.4, 0.5, False, "unfaithful"),
    (0.93, 0.96, 0.95, False, "chance"),  # nine rows in ten alike: 0.94 is nothing
]


def test_each_verdict_has_its_case_and_the_bar_is_always_above_chance():
    for low, high, chance, above, expected in CASES:
        numbers = {"low": low, "high": high, "chance": chance, "verified": 0.9}
        estimate = SimpleNamespace(**numbers, above_chance=above, notes=())
        assert level(estimate) == expected
    assert all(bar(chance / 100) > chance / 100 for chance in range(100))


def test_an_explainer_is_as_faithful_as_its_weakest_measure():
    others = random.Random(0).sample(estimates("sufficiency"), len(estimates()))
    for estimate, other in zip(estimates(), others, strict=True):
        verdict = judge([estimate, other], {})
        assert LEVELS.index(verdict.level) == max(LEVELS.index(level(estimate)), LEVELS.index(level(other)))
        assert verdict.sentence.startswith(WORDS[verdict.level] + ": ")


def test_a_bound_is_never_said_tighter_than_it_is():
    for estimate in estimates():
        sentence = judge([estimate], {}).sentence
        checked = level(estimate) in {"partly", "chance"}
        low, high = (estimate.verified_low if checked else estimate.low), estimate.high
        high = estimate.verified_high if checked and estimate.unverifiable else estimate.high
        least = re.search(r"(?:at least|between) ([\d.]+)%", sentence)
        most = re.search(r"(?:at most|and) ([\d.]+)%", sentence)
        assert least is None or float(least[1]) / 100 <= low + 1e-12
        assert most is None or float(most[1]) / 100 >= high - 1e-12


def test_a_silent_sample_says_how_silent_and_what_would_help():
    silent = fs.consistency([0, 1] * 100 + list(range(2, 402)), [0, 1] * 300)
    sentence = judge([silent], {"consistency": "; about 12,000 rows would help"}).sentence
    assert sentence.startswith("Cannot tell yet: 67% of the rows have an explanation that no other row has")
    assert sentence.endswith("about 12,000 rows would help.")


def named(low, high, random=(0.1, 0.05, 0.15), everybody=(0.02, 0.01, 0.03), **changes):
    """Consistency at the bar, and sufficiency of named features with such an interval, beside baselines."""
    known = {"confidence": 0.95, "agreement": fs.Same(), "gap": None, "population": None, "notes": (), "chance": 0.5}
    known |= {"unverifiable": 0.0, "above_chance": True}

    def estimate(measure, low, high, **more):
        ends = {"value": (low + high) / 2, "verified": (low + high) / 2, "verified_low": low, "verified_high": high}
        told = {"measure": measure, "low": low, "high": high, "bracket": (low, high), **ends}
        return SimpleNamespace(**known | told | {"beyond_random": None, "beyond_global": None} | more)

    sufficiency = estimate("sufficiency", low, high, beyond_random=random, beyond_global=everybody, **changes)
    return [estimate("consistency", 0.94, 0.97), sufficiency]


def test_consistency_alone_is_called_consistent_and_what_was_shown_of_the_reasons_is_said():
    asked = judge(named(0, 1)[:1], {})
    assert asked.level == "consistent"
    assert asked.sentence.startswith("Consistent: rows with the same explanation are predicted alike at least 94.0%")
    assert asked.sentence.endswith("whether they are the right reasons was not asked.")
    assert "of 90% asked for" in asked.sentence
    both = judge(named(0.92, 0.95), {})
    assert (both.level, "right reasons is shown" in both.sentence) == ("faithful", True)
    shown = judge(named(0.8, 0.85), {})
    assert (shown.level, "right reasons is shown" in shown.sentence) == ("consistent", True)
    assert "By sufficiency alone: partly faithful, between 80.0% and 85.0%." in shown.sentence
    unsure = judge(named(0.8, 0.85, random=(0.05, -0.05, 0.15)), {})
    assert (unsure.level, "right reasons is not shown" in unsure.sentence) == ("consistent", True)
    easy = judge(named(0.92, 0.95, random=(0.0, -0.05, 0.05)), {})
    assert (easy.level, "right reasons is not shown" in easy.sentence) == ("consistent", True)


def test_features_no_better_than_random_ones_have_a_verdict_of_their_own():
    found = judge(named(0.7, 0.75, random=(-0.05, -0.08, -0.02)), {})
    assert found.level == "random"
    assert found.sentence.startswith(
        "No better than random features: rows alike in the named features agree -5.0 points"
    )
    assert "By consistency alone: consistent, at least 94.0%." in found.sentence
    below = judge(named(0.48, 0.52, random=(-0.05, -0.08, -0.02), above_chance=False), {})
    assert below.level == "random"  # whatever chance gives
    assert judge(named(0.7, 0.75, random=(0.01, -0.01, 0.03)), {}).level == "random"
    assert judge(named(0.7, 0.75, random=(0.01, -0.08, 0.10)), {}).level == "consistent"  # too few rows to say
    assert judge(named(0.7, 0.75, random=(0.0, 0.0, 0.0)), {}).level == "consistent"  # all features are named
    weak = named(0.7, 0.75, random=(-0.05, -0.08, -0.02))
    weak[0].low = weak[0].verified_low = 0.45
    weak[0].high = weak[0].verified_high = 0.55
    weak[0].above_chance = False
    assert judge(weak, {}).level == "chance"


def test_what_cannot_be_told_is_said_in_a_sentence_and_nearly_equal_limits_once():
    nothing = judge(named(0.5, 0.99, random=(0.0, -1.0, 1.0)), {}).sentence
    assert "Whether the named features are better than random ones cannot be told" in nothing
    assert "points" not in nothing
    for high, said in ((0.806, False), (0.83, True)):
        _, partly = named(0.75, high, verified_high=0.805, unverifiable=0.01)
        assert ("over all rows at most 83.0%" in judge([partly], {}).sentence) == said


def test_a_higher_bar_is_harder_to_reach_and_is_said():
    assert judge(named(0.92, 0.95), {}, 0.93).level == "consistent"
    assert "of 95% asked for" not in judge(named(0.92, 0.95), {}, 0.95).sentence  # consistency is below it too
    assert judge(named(0.92, 0.95), {}, 0.8).sentence.count("of 80% asked for") == 1
