"""assert_faithful(): every explainer's weakest measure must reach the threshold, and all that fail are named."""

import warnings

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope import assert_faithful
from faithscope.errors import BadInput, FaithscopeError, TooLarge
from faithscope.evaluation.assertions import Unfaithful
from refused import refused

LABELS = np.arange(1000) % 2
ROWS = pd.DataFrame({"odd": LABELS * 1.0, "sex": np.where(np.arange(1000) % 3, "f", "m")})
FEW = np.where(np.arange(1000) < 20, "few", "many")
BASELINES = {
    "constant": fs.explainers.Constant(),
    "random": fs.explainers.Random(3),
    "unique": fs.explainers.Unique(),
}


def rules(rows, condition):
    """Rules whose texts tell the labels apart: consistency is 1 whatever they cover."""
    return fs.Rules.from_conditions([[("odd", *condition(y))] for y in rows["odd"]], features=["odd", "sex"])


def hollow(rows):
    """Consistent by their words; every rule applies to every row, so sufficiency is chance."""
    return rules(rows, lambda y: (">=", -1.0 - y))


def half(rows):
    return rules(rows, lambda y: (">=", y))


def tree(rows):
    return rules(rows, lambda y: (">" if y else "<=", 0.5))


def evaluated(explain):
    return fs.evaluate(LABELS, explain, ROWS)


def compared(explainers, **options):
    return fs.compare(LABELS, explainers, ROWS, **options)


def silent_in_a_group():
    """Of 1,000 rows 20 belong to a group in which the explanation says nothing."""
    return evaluated(["nothing"] * 20 + [f"is {y}" for y in LABELS[20:]])


def audited(**how):
    log = pd.DataFrame({"yhat": LABELS, "why": LABELS, "region": np.where(np.arange(1000) < 30, "north", "south")})
    log.loc[:29, "why"] = 5
    return fs.audit(log, prediction="yhat", explanation="why", kind="keys", **how)


def hollow_audit():
    log = pd.DataFrame({"yhat": LABELS, "why": [f"a >= {-1 - y}" for y in LABELS], "a": 0.0, "g": LABELS % 3})
    return fs.audit(log, prediction="yhat", explanation="why", kind="rules", by="g")


def failing(found, *given, **how):
    with pytest.raises(Unfaithful) as failure:
        assert_faithful(found, *given, **how)
    return str(failure.value)


@pytest.mark.filterwarnings("ignore:.*shows little")
def test_it_passes_exactly_where_the_lower_limit_of_the_weakest_measure_reaches():
    estimate = fs.consistency(LABELS, LABELS)
    for found, low in [
        (estimate, estimate.low),
        *((ev, min(ev.consistency.low, ev.sufficiency.low)) for ev in map(evaluated, (hollow, half, tree))),
    ]:
        assert_faithful(found, at_least=low)
        failing(found, np.nextafter(low, 1))


# What fails, and its message; what a message must not say stands in (?!...) before it.
FAILURES = {
    "a weak measure": (
        lambda: assert_faithful(evaluated(hollow)),
        "(?!.*consistency was not shown)hollow: sufficiency was not shown to be at least 0.9: its 95% interval is .0.4",
    ),
    "consistency that would have passed": (
        lambda: assert_faithful(evaluated(hollow), by="sex"),
        '.*hollow: consistency is shown to be at least 0.9: measure="consistency" judges it alone',
    ),
    "consistency that would not": (
        lambda: assert_faithful(evaluated(lambda rows: rules(rows, lambda y: (">=", -1.0)))),
        "(?!.*measure=)lambda: .*consistency was not shown",
    ),
    "a baseline by itself": (
        lambda: assert_faithful(compared({"tree": tree, **BASELINES})["random"]),
        "(?!.*constant)random: consistency was not shown",
    ),
    "ready explanations, since nobody says who made them": (
        lambda: assert_faithful(compared({"tree": tree, "ready": BASELINES["constant"].explain(ROWS)})),
        "(?!.*tree:)ready: consistency",
    ),
    "a group though the whole passes": (
        lambda: assert_faithful(silent_in_a_group(), by=FEW),
        "(?!.*population many)explanations, population few: consistency was not shown to be at least 0.9",
    ),
    "one of several populations": (
        lambda: assert_faithful(silent_in_a_group().by(FEW)),
        "(?!.*population many)population few: consistency was not shown",
    ),
    "a group that a comparison holds": (
        lambda: assert_faithful(compared({"given": silent_in_a_group().explanations}, by=pd.Series(FEW, name="size"))),
        "(?!.*size many)given, size few: consistency",
    ),
    "a group too small to pass": (
        lambda: assert_faithful(evaluated(list(LABELS)), by=np.arange(1000) < 30),
        "(?!.*population False)explanations, population True: consistency was not shown to be at least 0.9.* "
        "more rows than these 30 would make it narrower",
    ),
    "a part of a log": (
        lambda: assert_faithful(audited(), by="region"),
        "(?!.*south)frame, region north: consistency was not shown to be at least 0.9",
    ),
    "a part that an audit holds": (
        lambda: assert_faithful(audited(by="region")),
        "frame, region north: consistency",
    ),
    "the sufficiency of an audit, by population too": (
        lambda: assert_faithful(hollow_audit()),
        "(?!.*for all rows only)frame: sufficiency was not shown.*frame, g 0: sufficiency was not shown",
    ),
    "what is plainly unfaithful": (
        lambda: assert_faithful(fs.consistency(np.zeros(1000), LABELS)),
        "consistency was not shown.*all of it is below.*chance 0.50",
    ),
    "silence, which is not unfaithful": (
        lambda: assert_faithful(fs.consistency(np.arange(1000), LABELS)),
        r"(?!.*all of it)consistency was not shown.*fs.plan says how many.*keeps less of them",
    ),
    "a wide interval, for which a little silence is not blamed": (
        lambda: assert_faithful(fs.consistency([0, 1] * 240 + [2], [0, 1] * 230 + [0] * 20 + [1]), 0.96),
        "(?!.*unverifiable: )consistency.* more rows than these 481 would make it narrower",
    ),
    "pairs of rows are shown": (
        lambda: assert_faithful(evaluated(["one"] * 500 + ["other"] * 500)),
        "explanations: consistency.*rows 0 and [13] are predicted 0 and 1, with the same explanation: one",
    ),
}


def test_a_failure_says_who_failed_in_what_and_why():
    for name in FAILURES:
        call, words = FAILURES[name]
        refused(Unfaithful, rf"(?s)\A{words}", call)


def test_what_passes_as_a_whole_or_without_the_weak_passes():
    assert_faithful(compared({"tree": tree, **BASELINES}))
    assert_faithful(compared({"tree": tree, "ready": ["x"] * 1000})["tree"])
    assert_faithful(evaluated(hollow), 0.9, "consistency", by="sex")
    assert_faithful(silent_in_a_group())
    assert_faithful(audited())


def test_everyone_who_failed_is_named():
    explainers = {"tree": tree, "one": ["x"] * 1000, "other": ["y"] * 1000, "same": list(LABELS), **BASELINES}
    for told, names in (
        (failing(compared(explainers), 0.9), ["one", "other"]),
        (failing(evaluated(hollow), by=ROWS["sex"]), ["hollow", "hollow, sex m", "hollow, sex f"]),
    ):
        lines = [line for line in told.splitlines() if "was not shown to be at least 0.9" in line]
        assert [line.split(":")[0] for line in lines] == names


def test_what_is_told_of_the_rows_is_no_reason_why_a_measure_is_missing():
    X = np.repeat(np.arange(20.0), 10)[:, None]
    repeated = fs.evaluate(X[:, 0] > 9, np.where(X[:, 0] > 9, "old", "young").tolist(), X)
    assert any("repeat" in note for note in repeated.notes)
    why = "^explanations has no sufficiency: its explanations do not say where they apply. Judge"
    refused(BadInput, why, fs.assert_faithful, repeated, measure="sufficiency")
    rules = fs.Rules.parse(["x <= 9" if x <= 9 else "x > 9" for x in X[:, 0]], features=["x"])
    by_variance = fs.evaluate(X[:, 0], rules, X, agreement=fs.Spread())
    refused(BadInput, "no necessity: it is not defined by Spread", fs.assert_faithful, by_variance, measure="necessity")


def test_where_there_are_only_baselines_they_are_judged_and_that_is_said():
    told = failing(compared(BASELINES))
    assert "Only baselines were given, so they are judged: constant, random, unique." in told
    for name in ("constant", "random"):  # rows repeat, so that even unique explanations can be checked
        assert f"{name}: consistency was not shown" in told
    with pytest.warns(UserWarning, match="Only baselines were given|shows little"):
        assert_faithful(compared({"constant": BASELINES["constant"]}), 0.3)


@pytest.mark.filterwarnings("ignore:.*shows little")
def test_74_rows_that_agree_are_enough():
    for n in (2, 30, 73):
        assert f"more rows than these {n} would" in failing(fs.consistency(np.zeros(n), np.zeros(n)))
    for n in (74, 200):
        assert_faithful(fs.consistency(np.zeros(n), np.zeros(n)))


def test_a_threshold_that_chance_reaches_is_told():
    labels = np.arange(1000) < 10
    with pytest.warns(UserWarning, match=r"consistency: passing 0\.9 shows little, since chance alone gives 0\.980"):
        assert_faithful(fs.consistency(labels, labels), 0.9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_faithful(fs.consistency(LABELS, LABELS), 0.9)


def test_pairs_that_cannot_be_found_do_not_hide_the_failure(monkeypatch):
    def too_large(*_):
        raise TooLarge("That needs 9 GiB.")

    monkeypatch.setattr(fs.Evaluation, "counterexamples", too_large)
    assert "No pairs of rows are shown: That needs 9 GiB." in failing(evaluated(["one"] * 1000))


def test_a_failing_test_shows_the_line_that_asked_and_not_our_own():
    with pytest.raises(AssertionError) as failure:
        assert_faithful(fs.consistency(np.zeros(10), LABELS[:10]))
    ours = failure.value.__traceback__.tb_next
    assert ours.tb_next is None
    assert ours.tb_frame.f_locals["__tracebackhide__"] is True


def agreeing():
    return fs.consistency([1, 1], [0, 0])


REFUSED = [
    (lambda: 0.95, {}, "reads an Estimate, an Evaluation, a Comparison, Populations or an Audit; got float"),
    (lambda: fs.leakage(fs.Reasons(["a", "b"]), ["x", "y"]), {}, "or an Audit; got Leakage"),
    (agreeing, {"at_least": 2.0}, "at_least"),
    (agreeing, {"at_least": float("nan")}, "at_least"),
    (agreeing, {"measure": "sufficiency"}, "this estimate is of consistency"),
    (agreeing, {"measure": "suficiency"}, "measure must be"),
    (agreeing, {"by": [1, 1]}, "needs rows"),
    (lambda: evaluated(list(LABELS)), {"measure": "sufficiency"}, "explanations has no sufficiency"),
    (lambda: compared({"tree": tree, "ready": list(LABELS)}), {"measure": "sufficiency"}, "ready has no sufficiency"),
]


def test_bad_arguments_get_a_clear_sentence():
    for make, how, said in REFUSED:
        refused(FaithscopeError, said, assert_faithful, make(), **how)


class Coin:
    """A baseline of somebody else's."""

    baseline = True

    def explain(self, rows):
        return ["heads"] * len(rows)


def test_whoever_says_that_it_is_a_baseline_is_not_judged_and_nobody_else():
    coin = Coin()
    found = compared({"tree": tree, "coin": coin})
    assert [found[name].baseline for name in ("tree", "coin")] == [False, True]
    assert_faithful(found)
    for said in (np.ones(1), 1, "yes", None, pd.Series([True])):
        coin.baseline = said
        assert not evaluated(coin).baseline
    classes = [getattr(fs.explainers, name) for name in fs.explainers.__all__]
    ours = {one.__name__ for one in classes if getattr(one, "baseline", False) is True}
    assert ours == {"Constant", "Random", "Unique"}
