"""Shap asks the model about equal mixtures of rows and background rows once, and says how many it asked and saved."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.explainers import Shap
from faithscope.explainers.shap import explainer

RNG = default_rng(0)
FLAGS = RNG.integers(0, 2, size=(60, 12)).astype(float)
GRID = RNG.integers(0, 3, size=(200, 5)).astype(float)
HOLES = np.where(RNG.random((60, 9)) < 0.3, np.nan, RNG.choice([-0.0, 0.0, 1.0, 2.5], size=(60, 9)))
ONE_HOT = np.eye(9)[RNG.integers(0, 9, size=(40, 8))].reshape(40, 72)  # 2^72 rows: more than 64 bits hold


class Counted:
    """A model that counts the rows it is asked about."""

    def __init__(self, function=None):
        self.asked, self.function = 0, function or curved

    def __call__(self, rows):
        self.asked += len(rows)
        return self.function(rows)


def curved(rows):
    """A function with interactions, which knows missing values, and -0.0 from 0.0."""
    rows = np.asarray(rows, float)
    plain = np.nan_to_num(rows, nan=0.7) + 0.1 * np.signbit(rows)
    return np.sin(plain @ np.linspace(1, 2, rows.shape[1])) + plain[:, 0] * plain[:, -1]


def three(rows):
    return np.column_stack([curved(rows), curved(2 * np.asarray(rows, float)), -curved(rows)])


MANY = np.hstack([FLAGS[:, :6], RNG.random((60, 34)) < 0.05]).astype(float)  # 2^40 rows: more than 32 bits hold
TABLES = {"flags": FLAGS, "grid": GRID, "holes": HOLES, "one-hot": ONE_HOT, "many flags": MANY}
WORDS = pd.DataFrame(FLAGS).astype({0: str, 1: str}).mask(FLAGS.cumsum(axis=1) == 3, None)


@pytest.fixture
def asked_about_all(monkeypatch):
    """The values if the model is asked about every mixture."""

    def values(*arguments, rows, **settings):
        with monkeypatch.context() as patch:
            patch.setattr(explainer, "once", lambda ask: ask)
            answers = Shap(*arguments, **settings).explain_with_error(rows)
        return answers[0].values, answers[1]

    return values


@pytest.mark.parametrize(
    ("function", "settings"), [(curved, {}), (three, {"evaluations": 160}), (curved, {"evaluations": 2**12})]
)
@pytest.mark.parametrize("name", [*TABLES, "words"])
def test_values_and_errors_are_those_of_asking_about_every_mixture(name, settings, function, asked_about_all):
    table = TABLES.get(name, WORDS)
    if name in ("one-hot", "many flags"):
        table, settings = table[:30], {**settings, "evaluations": 160}
    model = Counted(function)
    explanations, errors = Shap(model, table[:15], **settings).explain_with_error(table[15:40])
    asked, model.asked = model.asked, 0
    values, known = asked_about_all(model, table[:15], rows=table[15:40], **settings)
    np.testing.assert_allclose(explanations.values, values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(errors, known, rtol=0, atol=1e-12)
    assert asked < model.asked or (name == "holes" and explanations.error == 0)


def test_the_model_is_asked_about_a_small_domain_once():
    model = Counted()
    explainer = Shap(model, GRID[:40])
    before, rows = model.asked, np.unique(GRID, axis=0)
    explainer.explain(GRID[40:])
    assert model.asked - before <= 5 * 3**5 + len(rows)


# Models that answer equal rows differently.


def noisy(rows, generator=default_rng(0)):  # noqa: B008
    return rows[:, 0] + generator.normal(size=len(rows))


class Drifting:
    """A model whose answers change from call to call."""

    calls = 0

    def __call__(self, rows):
        self.calls += 1
        return rows[:, 0] + self.calls


@pytest.mark.parametrize(("model", "table"), [(noisy, FLAGS), (noisy, GRID), (noisy, ONE_HOT), (Drifting(), GRID)])
def test_a_model_that_answers_equal_rows_differently_is_told(model, table):
    explanations = Shap(model, table[:15]).explain(table[15:])
    (remark,) = explanations.notes[:1]
    assert remark.startswith("the model answers equal rows differently, so these importances are noisy")
    assert remark in fs.consistency(explanations, table[15:, 0], discretizer=fs.Sign()).notes


def test_a_model_that_draws_at_random_is_asked_again_each_time():
    explainer = Shap(noisy, FLAGS[:15])
    runs = [explainer.explain(FLAGS[15:30]) for _ in range(2)]
    assert np.abs(runs[0].values - runs[1].values).max() > 0.01
