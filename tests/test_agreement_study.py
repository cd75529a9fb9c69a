"""The study of benchmarks/coverage_explainer_agreement.py: its truths are those of many rows, its intervals cover."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import faithscope as fs

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def study(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER)])
    return importlib.import_module("coverage_explainer_agreement")


@pytest.mark.slow
def test_the_truth_is_that_of_many_rows(study):
    for name, system in study.SYSTEMS.items():
        drawn = system.draw(40_000, np.random.default_rng(0))
        (pair,) = fs.explainer_agreement(**drawn, discretizer=fs.Sign(), k=study.K).pairs
        for measure, truth in system.truth().items():
            assert getattr(pair, measure).value == pytest.approx(truth, abs=0.03), (name, measure)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["half alike, 20 kinds", "1% differ", "one sign on 95%", "clusters of 5"])
def test_intervals_cover_the_truth(study, name):
    """Up to chance: at 120 draws, coverage of .93 gives less than .85 once in a thousand times."""
    for measure, (covered, width) in study.covered(study.SYSTEMS[name], 200, 120, seed=1).items():
        assert covered >= 0.85, measure
        assert 0 < width < 0.8, measure
