"""The studies of benchmarks/: their truths are those of enumeration or of large draws, and what they promise holds."""

import importlib
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from child import python
from faithscope.testing import FinitePopulation
from faithscope.testing.populations import two_labels
from refused import refused

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"
RESULTS = FOLDER / "results"


@pytest.fixture
def study(monkeypatch):
    """Modules of the studies by name; their folders come last, so that none hides a package."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER / "coverage"), str(FOLDER)])
    return importlib.import_module


P = np.array([0.5, 0.3, 0.2])
COVERS = {
    "overlapping": [[1, 1, 0], [1, 1, 1], [0, 1, 1]],
    "beside its own row": [[0, 1, 1], [0, 0, 1], [1, 1, 0]],
    "its own kind": np.eye(3),
}


@pytest.mark.parametrize("covers", list(COVERS.values()), ids=COVERS)
def test_truths_are_those_of_all_pairs(study, covers):
    q, covers = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]), np.array(covers, bool)
    for values in (None, np.array([0.0, 0.5])):
        system = study("systems").FinitePopulation(P, q, covers, values=values)
        agree = {(y, z): y == z or values is not None for y in (0, 1) for z in (0, 1)}
        sufficiency = necessity = 0.0
        for i, y in product(range(3), range(2)):
            alike = [sum(P[j] * q[j, z] for z in (0, 1) if agree[y, z]) for j in range(3)]
            covered = sum(alike[j] for j in range(3) if covers[i, j])
            sufficiency += P[i] * q[i, y] * covered / P[covers[i]].sum()
            necessity += P[i] * q[i, y] * covered / sum(alike)
        assert (system.truth, system.necessity) == pytest.approx((sufficiency, necessity), abs=1e-12)
    counted = P[:, None] * q * [1.0, 4.0] / (P @ q @ [1.0, 4.0])  # label 1 counts four times
    weighed = replace(system, p=counted.sum(axis=1), q=counted / counted.sum(axis=1, keepdims=True), values=None)
    assert replace(system, values=None).target.truth == pytest.approx(weighed.truth, abs=1e-12)
    merged = replace(system, covers=np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], bool), values=None)
    assert merged.coarser.truth == pytest.approx(merged.truth, abs=1e-12)


@pytest.mark.parametrize("covers", [None, np.array(COVERS["overlapping"], bool)], ids=["consistency", "sufficiency"])
def test_truths_of_numbers_are_those_of_all_pairs(study, covers):
    y = np.array([[0.0, 0.25, 3.0], [1.0, 1.0, 0.5], [5.0, 4.5, -2.0]])
    under = [[i] if covers is None else np.flatnonzero(covers[i]) for i in range(3)]
    pairs = [
        (P[i] * P[j] / P[under[i]].sum() / 9, a, b) for i in range(3) for j in under[i] for a in y[i] for b in y[j]
    ]
    variance = P @ ((y - P @ y.mean(axis=1)) ** 2).mean(axis=1)
    truths = {
        "close": sum(share * max(0.0, 1 - abs(a - b)) for share, a, b in pairs),
        "tolerance": sum(share * (abs(a - b) <= 1) for share, a, b in pairs),
        "spread": 1 - sum(share * (a - b) ** 2 / 2 for share, a, b in pairs) / variance,
    }
    system = study("numeric").NumericSystem(P, y, covers)
    assert {name: system.truth(name) for name in truths} == pytest.approx(truths, abs=1e-12)


SIZES = {"reasons": 300, "judged": 300, "intervals": 300, "plans": 250, "attacks": 200}


@pytest.mark.parametrize(
    ("part", "every"),
    [
        *(("intervals", 4), ("plans", 1)),
        *(
            pytest.param(*part, marks=pytest.mark.thorough)
            for part in (("intervals", 1), ("attacks", 9), ("studies", 6))
        ),
    ],
)
def test_intervals_of_a_large_sample_hold_the_truth_of_every_named_system(study, part, every):
    for line in list(study(part).lines())[:: every if part == "attacks" else 1]:
        n = SIZES.get(line.name.split("/")[0], 1_000)
        for name, system in list(line.systems.items())[:: every if part in ("intervals", "studies") else 1]:
            for interval, answer in line.ask(system, n, line.chance(name, 1)).items():
                judged = part != "studies" or line.bar(name, interval, n) is not None
                hard = interval == "before" or name.startswith(("unseen", "customers"))
                low, high, truth = (np.mean(end) for end in answer[:3]) if isinstance(answer, tuple) else (0, 0, 0)
                if judged and not hard and truth != 0:  # 0: of what is said
                    assert low - 0.05 <= truth <= high + 0.05, (interval, name)


HELD = (  # the script, the line's name and a system of its, and the rows of a sample
    ("intervals", "intervals/consistent", "4 explanations", 150),
    ("intervals", "intervals/consistent", "100 equal", 40),
    ("intervals", "intervals/consistent", "fair coin", 300),
    ("intervals", "intervals/weighted", "100 equal", 400),
    ("intervals", "intervals/sufficient", "nested", 60),
    ("intervals", "intervals/sufficient", "hub of 1%, pure", 60),
    ("intervals", "intervals/weighted_sufficient", "nested", 400),
    ("intervals", "intervals/within_distance", "sliding, noisy", 60),
    ("attacks", "attacks/hubs/An unseen", "3 rows per topic, 0.5 word lists expected", 100),
    ("studies", "necessity", "nested", 100),
    ("studies", "numbers/consistency", "20, normal", 100),
    *(
        pytest.param(*each, marks=pytest.mark.thorough)
        for each in (
            ("intervals", "intervals/certified", "4 explanations", 300),
            ("intervals", "intervals/paired", "three labels", 60),
            ("intervals", "intervals/paired_sufficient", "sliding, noisy", 60),
            ("attacks", "attacks/adverse", "5 contradictions expected", 100),
            ("attacks", "attacks/clusters/Rows that", "200 equal, p = .3; 400 x 5, .7", 2_000),
            ("studies", "numbers/sufficiency", "beside its own row", 100),
            ("studies", "beside/everybody", "medium, random, 40%", 200),
        )
    ),
)
BEFORE = ("before", "consistency, jackknife", "M̂, and its expectation by the theorem")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:interval=:FutureWarning")
@pytest.mark.parametrize(("part", "name", "system", "n"), HELD)
def test_intervals_cover_the_truth_as_often_as_they_say(study, part, name, system, n):
    line = next(each for each in study(part).lines() if each.name.startswith(name) and system in each.systems)
    cells = [cell for cell in line.repeat(system, n, 60) if cell.interval not in BEFORE]
    # What sixty samples can tell: 2.3 standard errors below .95. Many more are in benchmarks/coverage.
    assert cells
    assert {cell.interval: cell.held for cell in cells if cell.held < 0.95 - 2.3 * np.sqrt(0.95 * 0.05 / 60)} == {}


def test_what_is_said_of_rows_that_can_be_checked_covers_its_truth():
    """The truth of the agreement among them is the ratio of expectations at n rows."""
    n, p = 250, np.diff(np.sqrt(np.arange(41) / 40))
    ones = np.where(default_rng(40).integers(0, 2, 40), 0.85, 0.15)
    system, rng, held = FinitePopulation(p, two_labels(ones)), default_rng(7), 0
    truth = system.expected(n) / (1 - p @ (1 - p) ** (n - 1))
    for _ in range(60):
        found = fs.consistency(*system.draw(n, rng))
        held += found.verified_low <= truth <= found.verified_high
    assert held >= 53


def test_a_cell_depends_on_its_name_and_size_alone_and_tells_what_misses(study):
    harness = study("harness")

    def ask(system, n, chance):
        return {"holds": (0.0, 1.0, 1.0 + 1e-12), "high": (0.6, 0.9, 0.5), "half": (*np.sort(chance.random(2)), 0.5)}

    line = harness.Line("a line", ask, {"a": 0, "b": 0}, {10: 200}, bar=harness.always)
    holds, high, half, *others = [cell for each in line.asked() for cell in line.repeat(*each)]
    assert others == list(line.repeat("b", 10, 200))
    assert half != replace(others[2], system="a")
    assert [(each.held, each.above, each.missed) for each in (holds, high)] == [(1, 0, False), (0, 1, True)]
    assert half.held == pytest.approx(0.5, abs=0.15)


def test_the_folder_is_not_taken_for_the_coverage_package():
    told = python(f"import sys; sys.path.insert(0, {str(FOLDER)!r}); import coverage", check=False)
    assert "ImportError: benchmarks/coverage is a folder of scripts" in told.stderr


@pytest.mark.thorough
def test_the_gate_is_shut_by_a_cell_below_its_bar(study, monkeypatch):
    monkeypatch.delenv("FAITHSCOPE_DATA", raising=False)
    spec = importlib.util.spec_from_file_location("coverage_main", FOLDER / "coverage" / "__main__.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    asked = ["--quick", "--gate", "--only", "necessity"]
    assert script.main(asked) == 0
    refused(SystemExit, "No study or line is named nothing", script.main, ["--only", "nothing"])
    line = next(script.chosen_lines({"necessity"}))
    cell = next(line.repeat(*line.asked(quick=True)[0]))
    low = SimpleNamespace(asked=lambda quick: [()], repeat=lambda: [replace(cell, bar=0.93, held=0.5, times=100)])
    monkeypatch.setattr(script, "chosen_lines", lambda only: [low])
    assert script.main(asked) == 1


# Monitors.


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["20 explanations, m = .95", "20 explanations, m = .999"])
def test_limits_and_alarms_are_rarely_wrong_at_a_thousand_looks_and_single_looks_often(study, name):
    monitor = study("monitor_alarms")
    system = monitor.SYSTEMS[name]
    sums = system.sums(1_000, 80, default_rng(1))
    (missed, once), (raised, repeated) = monitor.missed(sums, system.truth), monitor.alarmed(sums)
    assert max(missed, raised) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 80)
    assert (once > missed, repeated > raised) == (True, True)
    assert monitor.dropped(system, 0.1).truth == pytest.approx(system.truth - 0.1, abs=1e-9)


def test_the_kept_results_of_monitors_are_within_the_bar(study):
    for name, lost in (
        ("monitor_alarms", ["title", "head", "a system  0.300  0.9  0.000  0.9", ""]),
        ("monitor_returning", ["title", "head", "head", "a system  0.0  0.0  0.0  1  0.300  0", ""]),
        ("monitor_beside", ["title", "head", "a system  0.300  0.000", ""]),
    ):
        beyond = study(name).beyond
        assert beyond((RESULTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()[2:]) == []
        assert beyond(lost) != []


# Reasons in words.


@pytest.mark.thorough
def test_measures_rank_planted_systems_as_they_should(study):
    planted = study("planted_reasons")
    told = {name: planted.measured(name, 1_000) for name in planted.REASON_SYSTEMS}
    assert list(planted.wrong(told)) == []
    swapped = told | {"paraphrased": told["shortcut alone"], "copied answer": told["faithful"]}
    assert len(list(planted.wrong(swapped))) > 2
