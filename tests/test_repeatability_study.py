"""A lean part of benchmarks/coverage_repeatability.py: the interval covers further runs as well as further rows."""

import importlib
import sys
from pathlib import Path

import pytest


@pytest.fixture
def study(monkeypatch):
    """The study; its folder comes last, so that its scripts hide no package."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path(__file__).parents[1] / "benchmarks")])
    return importlib.import_module("coverage_repeatability")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["own luck, .3", "own luck, .01", "runs differ much", "moving thresholds, .05"])
def test_the_interval_covers_further_rows_and_runs(study, name):
    told = study.covered(study.SYSTEMS[name], 5, 100, 150)
    assert told.both >= 0.89  # nominal .95, less three Monte-Carlo errors
    assert told.rows_width <= told.both_width


@pytest.mark.slow
def test_rows_alone_know_nothing_of_further_runs(study):
    told = study.covered(study.SYSTEMS["moving thresholds, .05"], 5, 500, 60)
    assert told.rows < 0.7
    assert told.noted > 0.9
