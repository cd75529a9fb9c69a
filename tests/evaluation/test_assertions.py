"""assert_faithful(): every explainer's weakest measure must reach the threshold, and all that fail are named."""

import warnings

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.evaluation.assertions import Unfaithful

LABELS = np.arange(1000) % 2
ROWS = pd.DataFrame({"a": np.arange(1000.0), "sex": np.where(np.arange(1000) % 3, "f", "m")})


def rules(of_label, rows):
    """Rules whose texts tell the labels apart: consistency is 1 whatever they cover."""
    return fs.Rules.from_conditions([of_label(y) for y in LABELS[: len(rows)]], features=["a"])


def hollow(rows):
    """Consistent by their words; every rule applies to every row, so sufficiency is chance."""
    return rules(lambda y: [("a", ">=", -1.0 - y)], rows)


def odd(n=1000):
    return pd.DataFrame({"odd": np.arange(n) % 2.0})


def compared(explainers, **options):
    X = odd().assign(sex=ROWS["sex"])
    return fs.compare(lambda rows: rows["odd"].to_numpy().astype(int), explainers, X, progress=False, **options)


def tree(rows):
    return fs.Rules.from_conditions(
        [[("odd", "<=", 0.5)] if y == 0 else [("odd", ">", 0.5)] for y in rows["odd"]], features=["odd", "sex"]
    )


BASELINES = {
    "constant": fs.explainers.Constant(),
    "random": fs.explainers.Random(3),
    "unique": fs.explainers.Unique(),
}


def failing(found, *given, **how):
    with pytest.raises(Unfaithful) as failure:
        fs.assert_faithful(found, *given, **how)
    return str(failure.value)


def test_it_passes_exactly_where_the_lower_limit_reaches():
    found = fs.consistency(LABELS, LABELS)
    fs.assert_faithful(found, at_least=found.low)
    with pytest.raises(AssertionError):
        fs.assert_faithful(found, at_least=np.nextafter(found.low, 1))


def test_consistency_does_not_hide_sufficiency_at_chance():
    ev = fs.evaluate(LABELS, hollow, ROWS[["a"]], progress=False)
    assert ev.consistency.low > 0.98
    assert ev.sufficiency.high < 0.52
    told = failing(ev, 0.9)
    assert told.startswith("hollow: sufficiency was not shown to be at least 0.9: its lower limit is 0.4")
    assert "consistency was not shown" not in told
    assert "and its explanation also applies to row" in told
    fs.assert_faithful(ev, 0.9, "consistency")
    fs.assert_faithful(ev, 0.9, measure="consistency")
    failing(ev, 0.9, measure="sufficiency")


@pytest.mark.filterwarnings("ignore:.*shows little")
def test_the_weakest_measure_decides_whatever_the_measures_are():
    for explain in (hollow, lambda rows: rules(lambda y: [("a", ">=", 500.0 * y)], rows)):
        ev = fs.evaluate(LABELS, explain, ROWS[["a"]], progress=False)
        low = min(ev.consistency.low, ev.sufficiency.low)
        fs.assert_faithful(ev, low)
        failing(ev, np.nextafter(low, 1))


def test_baselines_beside_an_explainer_are_not_judged():
    found = compared({"tree": tree, **BASELINES})
    fs.assert_faithful(found, 0.9)
    told = failing(found, 0.9, explainers=["tree", "random"])
    assert told.splitlines()[0].startswith("random: consistency was not shown")
    assert "constant" not in told


def test_everyone_who_failed_is_named():
    labels = list(LABELS)
    found = compared({"tree": tree, "one": ["x"] * 1000, "other": ["y"] * 1000, "same": labels, **BASELINES})
    lines = failing(found, 0.9).splitlines()
    assert sorted(line.split(":")[0] for line in lines if "was not shown" in line) == ["one", "other"]
    assert all("at least 0.9" in line and "lower limit is 0.4" in line for line in lines if "not shown" in line)


def test_where_there_are_only_baselines_they_are_judged_and_that_is_said():
    told = failing(compared(BASELINES), 0.9)
    assert "Only baselines were given, so they are judged: constant, random, unique." in told
    for name in ("constant", "random"):  # rows repeat, so that even unique explanations can be checked
        assert f"{name}: consistency was not shown" in told
    with pytest.warns(UserWarning, match="Only baselines were given|shows little"):
        fs.assert_faithful(compared({"constant": BASELINES["constant"]}), 0.3)


def test_ready_explanations_are_judged_since_nobody_says_who_made_them():
    ready = BASELINES["constant"].explain(odd())
    assert "ready: consistency" in failing(compared({"tree": tree, "ready": ready}), 0.9)
    fs.assert_faithful(compared({"tree": tree, "ready": ready}), 0.9, explainers="tree")


def test_groups_are_judged_by_both_measures_and_named():
    ev = fs.evaluate(LABELS, hollow, ROWS[["a"]], progress=False)
    lines = failing(ev, 0.9, by=ROWS["sex"]).splitlines()
    assert [line.split(":")[0] for line in lines[:3]] == ["hollow", "hollow, sex m", "hollow, sex f"]
    assert all("sufficiency was not shown" in line for line in lines[:3])
    fs.assert_faithful(ev, 0.9, "consistency", by=ROWS["sex"])


def test_groups_that_fail_fail_though_the_whole_passes():
    # Of 1,000 rows 20 belong to a group in which the explanation says nothing.
    labels = LABELS.copy()
    given = [f"is {y}" for y in labels]
    group = np.where(np.arange(1000) < 20, "few", "many")
    given[:20] = ["nothing"] * 20
    ev = fs.evaluate(labels, given, ROWS[["a"]], progress=False)
    fs.assert_faithful(ev, 0.9)
    told = failing(ev, 0.9, by=group)
    assert "explanations, population few: consistency was not shown to be at least 0.9" in told
    assert "population many" not in told
    assert failing(ev.by(group), 0.9).startswith("population few: consistency was not shown")
    held = fs.compare(labels, {"given": given}, ROWS[["a"]], groups=pd.Series(group, name="size"), progress=False)
    assert "given, size few: consistency" in failing(held, 0.9)


def test_a_group_too_small_to_pass_is_said_to_be_so():
    ev = fs.evaluate(LABELS, list(LABELS), ROWS[["a"]], progress=False)
    told = failing(ev, 0.9, by=np.arange(1000) < 30)
    assert "population True: consistency was not shown to be at least 0.9" in told
    assert "30 rows are too few: even if all agreed, the lower limit would be at most" in told
    assert "population False" not in told


@pytest.mark.parametrize("n", [2, 5, 30, 73, 74, 75, 200])
def test_too_few_is_said_exactly_where_perfect_agreement_would_fail(n):
    found = fs.consistency(np.zeros(n), np.zeros(n))
    if found.low < 0.9:
        assert f"{n} rows are too few" in failing(found, 0.9)
    worse = fs.consistency(np.zeros(n), np.arange(n) < n / 20)
    if worse.low < 0.9 <= min(worse.high, found.low):
        assert "too few" not in failing(worse, 0.9)


def test_an_audit_is_judged_with_its_populations():
    log = pd.DataFrame({"yhat": LABELS, "why": LABELS, "region": np.where(np.arange(1000) < 30, "north", "south")})
    log.loc[:29, "why"] = 5
    found = fs.audit(log, prediction="yhat", explanation="why", kind="keys")
    fs.assert_faithful(found, 0.9)
    told = failing(found, 0.9, by="region")
    assert "frame, region north: consistency was not shown to be at least 0.9" in told
    assert "south" not in told
    held = fs.audit(log, prediction="yhat", explanation="why", kind="keys", by="region")
    assert "frame, region north: consistency" in failing(held, 0.9)


def test_an_audit_judges_sufficiency_and_says_that_it_is_not_by_population():
    log = pd.DataFrame({"yhat": LABELS, "why": [f"a >= {-1 - y}" for y in LABELS], "a": 0.0, "g": LABELS % 3})
    found = fs.audit(log, prediction="yhat", explanation="why", kind="rules", by="g")
    told = failing(found, 0.9)
    assert told.startswith("frame: sufficiency was not shown")
    assert "sufficiency was judged for all rows only" in told
    with pytest.raises(fs.errors.BadInput, match="no sufficiency by population"):
        fs.assert_faithful(found, 0.9, "sufficiency")


def test_a_threshold_that_chance_reaches_is_told():
    labels = (np.arange(1000) < 10).astype(int)
    with pytest.warns(UserWarning, match=r"consistency: passing 0\.9 shows little, since chance alone gives 0\.980"):
        fs.assert_faithful(fs.consistency(labels, labels), 0.9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fs.assert_faithful(fs.consistency(LABELS, LABELS), 0.9)


def test_a_plainly_unfaithful_explainer_is_called_so():
    told = failing(fs.consistency(np.zeros(1000), LABELS))
    assert "less faithful than that" in told
    assert "chance 0.50" in told


def test_silence_is_not_called_unfaithful():
    assert "fs.plan says how many" in failing(fs.consistency(np.arange(1000), LABELS))


def test_a_little_silence_is_not_blamed_for_a_wide_interval():
    given, labels = [0, 1] * 240 + [2], [0, 1] * 230 + [0] * 20 + [1]
    told = failing(fs.consistency(given, labels), 0.96)
    assert "more rows than these 481 would make it narrower" in told
    assert "covers no other row" not in told


def test_of_an_evaluation_the_worst_pairs_are_shown():
    ev = fs.evaluate(LABELS, ["one"] * 500 + ["other"] * 500, LABELS[:, None])
    assert "rows 0 and 1 are predicted 0 and 1, with the same explanation: one" in failing(ev)


def test_pairs_that_cannot_be_found_do_not_hide_the_failure(monkeypatch):
    def too_large(*_):
        raise fs.errors.TooLarge("That needs 9 GiB.")

    ev = fs.evaluate(LABELS, ["one"] * 1000, LABELS[:, None], progress=False)
    monkeypatch.setattr(fs.Evaluation, "counterexamples", too_large)
    assert "No pairs of rows are shown: That needs 9 GiB." in failing(ev)


def test_too_few_rows_are_called_so():
    assert "10 rows are too few" in failing(fs.consistency([0, 1] * 5, [0, 1] * 5), at_least=0.9)
    assert "more rows than these 100" in failing(fs.consistency([0, 1] * 50, [0, 1] * 49 + [0, 0]), at_least=0.92)


def test_a_failing_test_shows_the_line_that_asked_and_not_our_own():
    try:
        fs.assert_faithful(fs.consistency(np.zeros(10), LABELS[:10]))
    except AssertionError as error:
        ours = error.__traceback__.tb_next
        assert ours.tb_next is None
        assert ours.tb_frame.f_locals["__tracebackhide__"] is True


@pytest.mark.parametrize(
    ("given", "how", "said"),
    [
        (0.95, {}, "reads an Estimate, an Evaluation, a Comparison, Populations or an Audit; got float"),
        ({}, {}, "got dict"),
        (fs.consistency([1, 1], [0, 0]), {"at_least": 2.0}, "at_least"),
        (fs.consistency([1, 1], [0, 0]), {"at_least": float("nan")}, "at_least"),
        (fs.consistency([1, 1], [0, 0]), {"measure": "sufficiency"}, "this estimate is of consistency"),
        (fs.consistency([1, 1], [0, 0]), {"measure": "suficiency"}, "measure must be"),
        (fs.consistency([1, 1], [0, 0]), {"by": [1, 1]}, "needs rows"),
        (fs.consistency([1, 1], [0, 0]), {"explainers": ["a"]}, "those of a comparison; got an Estimate"),
        (fs.evaluate([0, 0], [1, 1], [[1], [1]]), {"measure": "sufficiency"}, "explanations has no sufficiency"),
    ],
)
def test_bad_arguments_get_a_clear_sentence(given, how, said):
    with pytest.raises(fs.errors.FaithscopeError, match=said):
        fs.assert_faithful(given, **how)


@pytest.mark.parametrize(
    ("names", "said"), [("tre", "Did you mean 'tree'"), ([], "names nobody"), (3, "must be a list")]
)
def test_explainers_that_are_not_there_get_a_clear_sentence(names, said):
    with pytest.raises(fs.errors.FaithscopeError, match=said):
        fs.assert_faithful(compared({"tree": tree}), explainers=names)


def test_a_measure_that_one_of_several_lacks_is_not_passed_over():
    found = compared({"tree": tree, "labels": list(LABELS)})
    with pytest.raises(fs.errors.BadInput, match="labels has no sufficiency"):
        fs.assert_faithful(found, 0.9, "sufficiency")
    fs.assert_faithful(found, 0.9, "sufficiency", explainers=["tree"])


def test_what_is_judged_is_every_estimate_of_every_population():
    from faithscope.evaluation.assertions import judge

    found = compared({"tree": tree, **BASELINES}, groups=ROWS["sex"])
    judged = {(one.explainer, one.population, one.estimate.measure) for one in judge(found, 0.9).judged}
    measures, groups = ("consistency", "sufficiency"), ("", "sex f", "sex m")
    assert judged == {("tree", group, measure) for group in groups for measure in measures}


class Coin:
    """A baseline of somebody else's."""

    baseline = True

    def explain(self, rows):
        return ["heads"] * len(rows)


def nothing(rows):
    return ["the same"] * len(rows)


def test_whoever_says_that_it_is_a_baseline_is_not_judged():
    nothing.baseline = True
    found = compared({"tree": tree, "coin": Coin(), "nothing": nothing})
    assert [found[name].baseline for name in ("tree", "coin", "nothing")] == [False, True, True]
    fs.assert_faithful(found, at_least=0.9)
    with pytest.raises(Unfaithful, match="coin"):
        fs.assert_faithful(found, at_least=0.9, explainers=["coin"])


@pytest.mark.parametrize("said", [np.ones(1), 1, "yes", None, pd.Series([True])])
def test_an_explainer_with_another_thing_called_baseline_is_judged(said):
    coin = Coin()
    coin.baseline = said
    assert not fs.evaluate(LABELS, coin, ROWS, progress=False).baseline


def test_all_our_baselines_say_so_and_nobody_else():
    classes = [getattr(fs.explainers, name) for name in fs.explainers.__all__]
    ours = {one.__name__ for one in classes if getattr(one, "baseline", False) is True}
    assert ours == {"Constant", "Random", "Unique"}
