"""The study of benchmarks/coverage_simulatability.py: its truths are what decoders reach, and intervals cover them."""

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
    return importlib.import_module("coverage_simulatability")


@pytest.mark.parametrize("agreement", ["labels", "close", "tolerance", "spread"])
@pytest.mark.parametrize("name", ["optimal", "Gibbs"])
def test_truths_are_what_decoders_reach_on_rows_in_proportion_to_the_population(study, agreement, name):
    system = study.POPULATIONS["mixed, many"]
    decoder, (value, chance) = study.fitted(system, name, agreement)
    explanations, predictions = (place.ravel() for place in np.indices(system.joint.shape))
    told = decoder.accuracy(explanations, predictions, weights=system.joint.ravel())
    assert (told.value, told.chance) == pytest.approx((value, chance), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("drawn", ["independent", "weighted", "clustered"])
@pytest.mark.parametrize("agreement", ["labels", "spread"])
def test_intervals_cover_what_decoders_reach(study, agreement, drawn):
    times, system = 120, study.POPULATIONS["mixed, few"]
    rng = np.random.default_rng(0)
    covered = [
        [low <= truth <= high for low, high, truth in study.asked(system, 200, rng, agreement, drawn).values()]
        for _ in range(times)
    ]
    assert np.mean(covered, axis=0).min() >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / times)
