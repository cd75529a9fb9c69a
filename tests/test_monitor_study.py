"""The study of benchmarks/monitor_alarms.py: limits and alarms keep what they promise, at however many looks."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.measures.sequential.draws import DailyDraws
from faithscope.monitor.limits import all_alarms

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def study(monkeypatch):
    """The study; its folder comes last, so that its scripts hide no package."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER)])
    return importlib.import_module("monitor_alarms")


NAMES = ["20 explanations, m = .95", "2,000, long tail, m = .90", "20 explanations, m = .999", "12 rules, most overlap"]


@pytest.mark.parametrize("name", NAMES)
def test_limits_and_alarms_are_rarely_wrong_at_a_thousand_looks_and_single_looks_often(study, name):
    system = {**study.SYSTEMS, **study.SCOPED}[name]
    sums = system.sums(1_000, 80, np.random.default_rng(1))
    missed, missed_once = study.missed(sums, system.truth)
    raised, repeated = study.alarmed(sums)
    assert missed <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 80)
    assert raised <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 80)
    assert missed_once > missed
    assert repeated > raised


def test_what_waits_for_a_partner_hides_no_drop_and_invents_none(study):
    system = study.SYSTEMS["20 explanations, m = .95"]
    known = study.delays(replace(system, rows=1_000), 0.1, 10, np.random.default_rng(2), wait=30)
    assert np.median(known) <= 4
    assert np.isfinite(known).all()
    assert not np.isfinite(study.delays(replace(system, rows=1_000), 0.0, 10, np.random.default_rng(3), wait=30)).any()


def test_a_planted_drop_has_the_planted_size(study):
    for system in (study.SYSTEMS["20 explanations, m = .95"], study.SCOPED["12 rules, most overlap"]):
        assert study.dropped(system, 0.1).truth == pytest.approx(system.truth - 0.1, abs=1e-9)


@pytest.mark.parametrize("name", ["6 leaves of a tree", "a rule within another", "12 rules, most overlap"])
def test_the_truth_of_a_system_of_scopes_is_its_sufficiency(study, name):
    system = study.SCOPED[name]
    rows = replace(system, rows=20_000).arrivals(1, 1, np.random.default_rng(0))
    X = pd.DataFrame(rows.inside.astype(int), columns=[f"r{place}" for place in range(rows.inside.shape[1])])
    estimate = fs.sufficiency(fs.Rules.parse([f"r{own} == 1" for own in rows.own]), rows.labels, X)
    assert estimate.value == pytest.approx(system.truth, abs=0.02)


def test_all_groups_together_raise_few_false_alarms():
    rng, trials, days = np.random.default_rng(4), 150, 300
    false = 0
    for _ in range(trials):
        groups = {name: rng.binomial(20, mean, days) for name, mean in (("a", 0.95), ("b", 0.7), ("c", 0.99))}
        lines = {name: DailyDraws.known(np.arange(days), np.full(days, 20), total) for name, total in groups.items()}
        lines[None] = DailyDraws.known(np.arange(days), np.full(days, 60), sum(groups.values()))
        false += bool(all_alarms(lines, dict.fromkeys(groups, 1 / 3), None, 30, 0.05))
    assert false <= 150 * (0.05 + 2 * np.sqrt(0.05 * 0.95 / 150))


def test_the_kept_results_are_within_the_bar(study):
    lines = study.WRITTEN.read_text(encoding="utf-8").splitlines()[2:]
    trials = int(lines[0].split("; ")[1].split()[0])
    assert study.beyond(lines, trials) == []
    assert study.beyond([*lines[:2], "a system  0.300  0.9  0.000  0.9", ""], trials) != []
