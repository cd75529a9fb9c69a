"""The studies of encoding in benchmarks/: their truths are those of large samples, and their bars hold."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import faithscope as fs

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def study(monkeypatch):
    """Modules of the studies by name; the folder comes last, so that its scripts hide no package."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER)])
    return importlib.import_module


@pytest.mark.slow
def test_the_truth_is_that_of_a_large_sample(study):
    for name, system in study("coverage_encoding").SYSTEMS.items():
        assert system.ask(6000, np.random.default_rng(0)).value == pytest.approx(system.truth(), abs=0.05), name


@pytest.mark.slow
@pytest.mark.parametrize("name", ["the prediction itself", "some encoding, 3 labels", "some encoding, nested rules"])
def test_intervals_cover_the_truth(study, name):
    covered = study("coverage_encoding").cover(name, 200, 120)
    assert covered.holds, covered


@pytest.mark.slow
def test_encoders_are_found_and_others_are_left_alone(study):
    systems = study("encoding_systems")

    def found(draw, samples):
        drawn = (draw(1000, np.random.default_rng([seed, 9])) for seed in range(samples))
        return np.mean([bool(fs.encoding(each.rules, each.predictions, each.X).encodes) for each in drawn])

    for name, draw in systems.ENCODERS.items():
        assert found(draw, 10) >= 0.9, name
    assert np.mean([found(draw, 25) for draw in systems.HONEST.values()]) <= 0.05
