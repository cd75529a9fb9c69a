"""The study of benchmarks/coverage_populations.py: its truths are what many draws reach, and intervals cover them."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import faithscope as fs

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def study(monkeypatch):
    """The study; its folder comes last, so that its scripts hide no package."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER)])
    return importlib.import_module("coverage_populations")


@pytest.mark.parametrize("name", ["perturbed, one condition", "perturbed, two conditions", "product, one condition"])
def test_truths_by_enumeration_are_what_many_draws_reach(study, name):
    system = study.TABLES[name]
    population = system.population(system.train, draws=1000)
    told = fs.sufficiency(system.rules(system.train), system.predict, system.train, population=population)
    truths = np.array([system.row_truth(row) for row in system.train])
    assert told.value == pytest.approx(system.truth, abs=5 * 0.5 / np.sqrt(1000 * 40))
    assert np.abs(told.counts.values - truths).max() < 5 * 0.5 / np.sqrt(1000)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["independent", "weighted", "clustered"])
@pytest.mark.parametrize("draws", [1, 100])
def test_intervals_cover_the_truth_however_many_draws_there_are(study, draws, how):
    times, rng = 120, np.random.default_rng(0)
    for name in ("one row in 20 disagrees", "rows of all kinds"):
        answers = [next(iter(study.asked(study.SYSTEMS[name], 200, rng, draws, how).values())) for _ in range(times)]
        covered = np.mean([low <= truth <= high for low, high, truth in answers])
        assert covered >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / times), name
