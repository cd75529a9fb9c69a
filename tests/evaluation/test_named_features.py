"""Importances of the columns of X are measured by the features that they name, unless another relation is asked for."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.evaluation.assertions import Unfaithful
from refused import refused

SLOPES = np.array([3.0, 2.0, 1.0, 0.1, 0.1, 0.1])


@pytest.fixture(scope="module")
def system():
    rng = default_rng(0)
    X = pd.DataFrame(rng.normal(size=(900, 6)), columns=list("abcdef"))
    phi = X.to_numpy() * SLOPES
    return X, phi, np.where(phi.sum(axis=1) > 0, "yes", "no")


def test_sufficiency_of_named_features_is_measured_by_default_and_beside_baselines(system):
    X, phi, y = system
    ev = fs.evaluate(y, phi, X, discretizer=fs.SignOfTop(2))
    asked = fs.sufficiency(fs.SignOfTop(2)(fs.Importances(phi)), y, X, relation=fs.Alike())
    assert ev.sufficiency == asked
    assert ev.explanations.names == tuple(X)
    assert ev.sufficiency.beyond_random.low > 0
    assert ev.options.relation == fs.Alike()
    assert isinstance(ev.explanations, fs.Importances)
    # Any other discretizer does not say which features are the largest, so the importances themselves do.
    by_sign = fs.evaluate(y, phi, X, discretizer=fs.Sign())
    assert by_sign.sufficiency == fs.sufficiency(phi, y, X, relation=fs.Alike())
    assert {"sufficiency", "covered"} <= set(ev.local())
    assert len(ev.scopes(3)) == 3
    assert ev.encoding().n == 900
    assert len(ev.by((X.a > 0).to_numpy(), "sufficiency").table()) == 2
    at_row = fs.local(X.iloc[[0]], lambda rows: rows.a > 0, lambda rows: rows * SLOPES, X, relation=fs.Alike(1))
    assert at_row.sufficiency.seen == 900


def test_importances_of_other_columns_are_not_asked_unless_the_relation_is(system):
    X, phi, y = system
    ev = fs.evaluate(y, phi, X[["a", "b"]], discretizer=fs.SignOfTop(2))
    assert ev.sufficiency is None
    assert fs.evaluate(y, phi[:, :2], X[["a", "b"]]).sufficiency is None  # no others to be named
    assert "right reasons was not asked" in fs.evaluate(y, y, X).to_markdown()
    refused(
        fs.errors.BadInput,
        "Importances are of 6 features and X has 2 columns",
        fs.evaluate,
        y,
        phi,
        X[["a", "b"]],
        relation=fs.Alike(),
        progress=False,
    )


def test_a_guard_says_if_nobody_asked_whether_the_features_are_the_right_ones(system):
    X, phi, y = system
    logged = {"prediction": "yhat", "discretizer": fs.SignOfTop(2)}
    ends = pd.DataFrame(phi, columns=[f"{name}_shap" for name in X]).assign(yhat=y)
    assert fs.audit(pd.concat([X, ends], axis=1), explanation="*_shap", **logged).sufficiency.beyond_random.low > 0
    alone = fs.audit(ends, explanation="*_shap", **logged)
    assert "it was not asked whether explanations name the right features; log the inputs too" in str(alone)
    other = fs.evaluate(y, phi, X[["a", "b"]], discretizer=fs.SignOfTop(2))
    for result in (alone, other):
        with pytest.warns(UserWarning, match="name the right features"):
            fs.assert_faithful(result, at_least=0.6)
    refused(
        fs.errors.BadInput,
        r"seem to be swapped",
        fs.evaluate,
        X,
        lambda rows: rows.a > 0,
        lambda rows: rows,
    )


def test_wrong_features_are_told_wherever_a_verdict_is(system):
    X, phi, y = system
    comparison = fs.compare(y, {"right": phi, "reversed": phi[:, ::-1]}, X, discretizer=fs.SignOfTop(2), at_least=0.7)
    right, wrong = comparison["right"], comparison["reversed"]
    assert right.consistency == wrong.consistency  # which sees nothing
    fs.assert_faithful(right, 0.7)
    refused(Unfaithful, "no better than random", fs.assert_faithful, wrong, 0.7)
    told = comparison.to_markdown()
    assert "Faithful: " in told
    assert "No better than random features: " in told
    few = X.index < 40  # too few rows to show anything
    unshown = fs.evaluate(y[few], phi[few], X[few], discretizer=fs.SignOfTop(1), at_least=0.5)
    refused(Unfaithful, "not shown to be better than random", fs.assert_faithful, unshown, 0.3)
    fs.assert_faithful(unshown, 0.3, "consistency")
    assert "beyond rows alike in random ones, which chance may give" in unshown.to_markdown()
    assert ") beyond rows alike in random ones, but not surely" in right.to_markdown()
    table = comparison.table().set_index(["explainer", "measure"])
    assert table.beyond_random["right", "sufficiency"] == right.sufficiency.beyond_random.value
    assert len(comparison.differences()) == 3


def test_reason_codes_are_asked_only_if_the_relation_is(system):
    X, phi, y = system
    codes = fs.ReasonCodes(2, against="yes")
    ev = fs.evaluate(y, phi, X, discretizer=codes)
    assert ev.sufficiency is None  # what counts against "yes" is not why others get it
    asked = fs.evaluate(y, phi, X, discretizer=codes, relation=fs.Alike())
    denied = asked.by(y, "sufficiency")["no"]
    assert denied.low > asked.sufficiency.high


def test_regions_of_images_are_measured_on_pooled_pixels():
    rng = default_rng(0)
    pixels, grid = rng.random((400, 6, 6)), fs.Pool((2, 2))
    y = pixels[:, :3, :3].sum(axis=(1, 2)) > 4.5
    maps = np.where(np.arange(36).reshape(6, 6) // 6 < 3, 1.0, 0.1) * np.where(np.arange(6) < 3, 1.0, 0.1)
    maps = maps * (pixels - 0.5) + np.where(maps == 1, 9, 0)
    refused(
        fs.errors.BadInput,
        "which importances of 4 features speak of",
        fs.sufficiency,
        grid(fs.read(maps)),
        y,
        pixels,
        relation=fs.Alike(1),
    )
    regions = fs.Pool((2, 2))(fs.read(pixels)).values
    found = fs.sufficiency(grid(fs.read(maps)), y, regions, relation=fs.Alike(1))
    assert found.beyond_random.low > 0
    ev = fs.evaluate(y, maps, regions, discretizer=grid | fs.SignOfTop(1), relation=fs.Alike())
    assert ev.sufficiency.value == found.value


def test_a_report_says_why_importances_of_other_columns_were_not_asked_for_the_right_features(tmp_path):
    rng = default_rng(0)
    X = pd.DataFrame({"age": rng.random(200), "job": rng.choice(["clerk", "cook"], 200)})
    phi = pd.DataFrame(rng.normal(size=(200, 3)), columns=["age", "job_clerk", "job_cook"])
    ev = fs.evaluate(X["age"] > 0.5, phi, X, discretizer=fs.SignOfTop(2))
    assert ev.sufficiency is None
    ev.to_html(tmp_path / "report.html")
    for told in (ev.to_markdown(), (tmp_path / "report.html").read_text()):
        assert "whether they name the right features was not asked" in told
        assert "pass rows as the model sees them, or sum by fs.Grouped" in told


@pytest.mark.parametrize(
    "odd",
    [
        [["SECRET"], None] * 6,
        [{"SECRET": 1}] * 12,
        ["SECRET", 1.0] * 6,
        [b"SECRET", 1] * 6,
        [1 + 2j] * 12,
        "documents",
    ],
    ids=str,
)
def test_columns_in_which_rows_cannot_be_alike_are_told_and_no_row_is(odd):
    rng = np.random.default_rng(0)
    X, values = pd.DataFrame(rng.normal(size=(12, 3)), columns=list("abc")), rng.integers(-2, 3, (12, 4)) * [1, 1, 1, 0]
    X = [f"SECRET {row}" for row in range(12)] if odd == "documents" else X.assign(d=odd)
    importances, labels = fs.Importances(values.astype(float)), rng.integers(0, 2, 12)
    ev = fs.evaluate(labels, importances, X, progress=False)
    assert ev.sufficiency is None
    assert "was not asked" in ev.to_markdown()
    assert "SECRET" not in ev.to_markdown()
    with pytest.raises(fs.errors.BadInput):
        fs.sufficiency(importances, labels, X, relation=fs.Alike(2))
    if odd != "documents":
        with pytest.raises(fs.errors.BadInput):
            fs.direction(fs.Importances(values + 1.0), lambda rows: rows["a"], X, population=fs.Conditional(X))


def test_integers_that_no_float_can_hold_are_measured_as_infinite(tmp_path):
    X = pd.DataFrame({"a": range(12), "d": [10**400, 1, -(10**400)] * 4})
    ev = fs.evaluate([0, 1] * 6, fs.Importances(np.tile([[1.0, 0.0], [0.0, 1.0]], (6, 1))), X, progress=False)
    endless = ev.sample.X.assign(d=[np.inf, 1.0, -np.inf] * 4)
    same = fs.evaluate([0, 1] * 6, ev.undiscretized, endless, progress=False)
    assert ev.sufficiency.interval == same.sufficiency.interval
    assert ev.sufficiency.value == same.sufficiency.value
    ev.to_html(tmp_path / "report.html")
