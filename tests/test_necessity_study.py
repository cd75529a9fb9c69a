"""The study of benchmarks/coverage_necessity.py: its truths are those of all pairs, and its intervals cover them."""

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
    return importlib.import_module("coverage_necessity")


@pytest.mark.parametrize("name", ["sliding, noisy", "twenty rare labels", "numbers: ten, sliding"])
def test_truths_are_those_of_all_pairs_of_places(study, name):
    system = study.SYSTEMS[name]
    total = 0.0
    for y in range(system.chances.shape[1]):
        alike = system.p * (system.chances @ system.agreeing)[:, y]
        for k, (a, b) in enumerate(zip(system.first, system.last, strict=True)):
            total += system.p[k] * system.chances[k, y] * alike[a : b + 1].sum() / alike.sum()
    assert system.truth == pytest.approx(total, abs=1e-12)


def test_large_samples_come_near_the_truth(study):
    for name in (
        "sliding, noisy",
        "rare label, split",
        "weighted: nested",
        "clustered: nested",
        "numbers: ten, leaves",
    ):
        estimate = study.SYSTEMS[name].estimate(20_000, np.random.default_rng(0))
        assert estimate.value == pytest.approx(study.SYSTEMS[name].truth, abs=0.02), name


@pytest.mark.slow
@pytest.mark.parametrize("name", ["half broad, half single", "twenty rare labels", "clustered: sliding, broad"])
def test_intervals_cover_the_truth(study, name):
    cell = study.cell(name, 200, 150)
    assert cell.covered + 2 * cell.error(cell.covered) >= 0.93


@pytest.mark.slow
def test_unrelated_explanations_are_seldom_said_to_be_above_chance(study):
    assert study.cell("unrelated, narrow", 200, 100).above <= 0.05
