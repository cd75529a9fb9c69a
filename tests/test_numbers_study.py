"""The study of benchmarks/coverage_numbers.py: its truths are those of all pairs, and its intervals cover them."""

import importlib
import json
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def study(monkeypatch):
    """Modules of the study by name; the folder comes last, so that its scripts hide no package."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER)])
    return lambda name: importlib.import_module(f"coverage_{name}")


def small(systems, covering):
    predictions = np.array([[0.0, 0.25, 3.0], [1.0, 1.0, 0.5], [5.0, 4.5, -2.0]])
    first, last = (np.array([0, 0, 1]), np.array([1, 2, 1])) if covering else (None, None)
    return systems.NumericSystem(np.array([0.5, 0.3, 0.2]), predictions, first, last)


def mean_of_pairs(system, agree):
    """The mean of a function of two predictions over a row and a row that its explanation covers."""
    total, kinds = 0.0, range(len(system.p))
    for i in kinds:
        others = [i] if system.first is None else range(system.first[i], system.last[i] + 1)
        mass = sum(system.p[j] for j in others)
        for j in others:
            pairs = product(system.predictions[i], system.predictions[j])
            total += system.p[i] * system.p[j] / mass * np.mean([agree(a, b) for a, b in pairs])
    return total


@pytest.mark.parametrize("covering", [False, True], ids=["consistency", "sufficiency"])
def test_truths_are_those_of_all_pairs_of_rows(study, covering):
    system = small(study("number_systems"), covering)
    assert system.close == pytest.approx(mean_of_pairs(system, lambda a, b: max(0.0, 1 - abs(a - b))), abs=1e-12)
    assert system.tolerance == pytest.approx(mean_of_pairs(system, lambda a, b: abs(a - b) <= 1), abs=1e-12)
    within = mean_of_pairs(system, lambda a, b: (a - b) ** 2 / 2)
    mass = system.p[:, None] / 3 * np.ones((3, 3))
    mean = np.sum(mass * system.predictions)
    assert system.spread == pytest.approx(1 - within / np.sum(mass * (system.predictions - mean) ** 2), abs=1e-12)


def test_rows_are_drawn_with_the_chances_of_their_system(study):
    system = small(study("number_systems"), covering=False)
    codes, y = system.draw(60_000, np.random.default_rng(0))
    assert np.bincount(codes) / 60_000 == pytest.approx(system.p, abs=0.01)
    for code, expected in enumerate(system.predictions):
        assert y[codes == code].mean() == pytest.approx(expected.mean(), abs=0.05)


def test_there_are_at_least_thirty_systems(study):
    systems = study("number_systems")
    assert len(systems.GIVEN) >= 30
    assert len(systems.GIVEN | systems.UNSEEN | systems.VECTORS | systems.COVERED) >= 40


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["20, normal", "20, Student t3", "20, lognormal", "heteroscedastic", "mostly constant", "probabilities"]
)
def test_intervals_of_numbers_cover_the_truth(study, name):
    """Up to chance: at 120 draws, coverage of .93 gives less than .85 once in a thousand times."""
    numbers, systems = study("numbers"), study("number_systems")
    cells = study("study").repeat(
        numbers.trial("consistency", *numbers.AGREEMENTS), name, systems.GIVEN[name], 200, 120
    )
    for cell in cells:
        assert cell.covered >= 0.86, cell
        assert cell.width < 0.9, cell


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sliding, Student t3", "nested, lognormal", "beside its own row"])
def test_intervals_of_overlapping_rules_cover_the_truth(study, name):
    numbers, systems = study("numbers"), study("number_systems")
    made = numbers.trial("sufficiency", *numbers.AGREEMENTS)
    for cell in study("study").repeat(made, name, systems.COVERED[name], 200, 60):
        assert cell.covered >= 0.83, cell


@pytest.mark.slow
def test_the_quick_study_asks_every_interval(tmp_path):
    command = [sys.executable, FOLDER / "coverage_numbers.py", "--quick", "--json", tmp_path / "kept.json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    cells = json.loads((tmp_path / "kept.json").read_text())["cells"]
    measures, names = ("consistency", "sufficiency", "within"), ("close", "tolerance", "spread")
    assert {cell["interval"] for cell in cells} == {f"{measure}, {name}" for measure in measures for name in names}
    assert "The bar of 0.93 from 200 rows on" in run.stdout
