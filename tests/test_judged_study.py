"""The study of benchmarks/coverage_judged.py: its truths are those of all pairs, and its intervals cover them."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def study(monkeypatch):
    """The study; its folder comes last, so that its scripts hide no package."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER)])
    return importlib.import_module("coverage_judged")


@pytest.mark.parametrize("name", ["broad, noisy", "not to its own row", "hub of a tenth", "numbers: broad"])
def test_truths_are_those_of_all_pairs_of_places(study, name):
    system, total = study.SYSTEMS[name], 0.0
    for place in range(study.PLACES):
        under = np.flatnonzero(system.applies[place])
        for y, chance in enumerate(system.chances[place]):
            alike = [z for z in range(system.chances.shape[1]) if study.agree(system, y, z)]
            share = (system.mass[under, None] * system.chances[under][:, alike]).sum() / system.mass[under].sum()
            total += system.mass[place] * chance * share
    assert system.truth == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("name", ["broad, noisy", "shared, ten leaves, noisy", "not to its own row", "numbers: broad"])
def test_many_rows_with_few_pairs_come_near_the_truth(study, name):
    estimate = study.SYSTEMS[name].estimate(3_000, 100, np.random.default_rng(0))
    assert estimate.verified == pytest.approx(study.SYSTEMS[name].truth, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("asked", [2, 20])
@pytest.mark.parametrize("name", ["rarely wrong", "shared, broad, noisy", "one panel of rows, broad"])
def test_intervals_cover_the_truth(study, name, asked):
    cell = study.cell(name, 300, asked, 80)
    assert cell.covered + 2 * cell.error(cell.covered) >= 0.93
    assert cell.warned <= 0.025


@pytest.mark.slow
def test_value_and_value_plus_silence_bracket_the_truth_on_average(study):
    """E[M-hat] <= m <= E[M-hat + U] for random pairs, however few."""
    for name in ("narrow", "not to its own row", "shared, ten leaves, noisy"):
        system, rng = study.SYSTEMS[name], np.random.default_rng(1)
        estimates = [system.estimate(60, 3, rng) for _ in range(150)]
        value, upper = (np.array([getattr(each, end) for each in estimates]) for end in ("value", "upper"))
        slack = 3 * max(value.std(), upper.std()) / np.sqrt(150)
        assert value.mean() - slack <= system.truth <= upper.mean() + slack, name
