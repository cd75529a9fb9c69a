"""The study of benchmarks/coverage.py: its truths are those of enumeration, its numbers those of its seeds."""

import importlib
import json
import subprocess
import sys
from dataclasses import asdict
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats

import faithscope as fs

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def study(monkeypatch):
    """Modules of the study by name; the folder comes last, so that its script never hides the coverage package."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER)])
    return lambda name: importlib.import_module(f"coverage_{name}")


def small_windows(systems):
    q = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    reach = {"overlapping": ([0, 0, 1], [1, 2, 2]), "beside its own row": ([1, 2, 0], [2, 2, 1])}
    p = np.array([0.5, 0.3, 0.2])
    return {name: systems.Windows(p, q, np.array(a), np.array(b)) for name, (a, b) in reach.items()}


def pairs_that_agree(p, q, covers):
    """The chance that a row x' that x's rule covers has x's label, by going through all of them."""
    total = 0.0
    for i, y in product(range(len(p)), range(q.shape[1])):
        mass = sum(p[j] for j in range(len(p)) if covers(i, j))
        agreeing = sum(p[j] * q[j, y] for j in range(len(p)) if covers(i, j))
        total += p[i] * q[i, y] * agreeing / mass
    return total


@pytest.mark.parametrize("name", ["overlapping", "beside its own row"])
def test_true_sufficiency_is_that_of_all_pairs_of_rows(study, name):
    system = small_windows(study("systems"))[name]
    covers = lambda i, j: system.first[i] <= j <= system.last[i]  # noqa: E731
    assert system.truth == pytest.approx(pairs_that_agree(system.p, system.q, covers), abs=1e-12)
    joint = system.p[:, None] * system.q * [1.0, 4.0]
    mass = joint.sum(axis=1)
    weighed = pairs_that_agree(mass / mass.sum(), joint / mass[:, None], covers)
    assert system.target.truth == pytest.approx(weighed, abs=1e-12)


def every_sample(system, n):
    """All samples of n rows with their chances."""
    rows = list(product(range(len(system.p)), range(system.q.shape[1])))
    for sample in product(rows, repeat=n):
        points, labels = (np.array(column) for column in zip(*sample, strict=True))
        yield points, labels, float(np.prod(system.p[points] * system.q[points, labels]))


@pytest.mark.parametrize("name", ["overlapping", "beside its own row"])
def test_the_expected_sufficiency_is_the_mean_over_all_samples(study, name):
    system, mean = small_windows(study("systems"))[name], 0.0
    for points, labels, chance in every_sample(system, 3):
        mean += chance * fs.sufficiency(system.rules(points), labels, points[:, None].astype(float)).value
    assert system.expected(3) == pytest.approx(mean, abs=1e-9)


def test_true_and_expected_consistency_are_those_of_all_pairs_and_samples(study):
    system = study("systems").SimulatedSystem(np.array([0.6, 0.3, 0.1]), np.array([[0.9, 0.1], [0.5, 0.5], [0.0, 1.0]]))
    assert system.truth == pytest.approx(pairs_that_agree(system.p, system.q, int.__eq__), abs=1e-12)
    mean = sum(chance * fs.consistency(e, y).value for e, y, chance in every_sample(system, 3))
    assert system.expected(3) == pytest.approx(mean, abs=1e-9)
    merged = pairs_that_agree(system.p, system.q, lambda i, j: i // 2 == j // 2)
    assert system.coarser.truth == pytest.approx(merged, abs=1e-12)


def test_rows_are_drawn_with_the_chances_of_their_system(study):
    system, n = study("systems").GIVEN["three labels"], 200_000
    explanations, labels = system.draw(n, np.random.default_rng(0))
    seen = np.zeros_like(system.q)
    np.add.at(seen, (explanations, labels), 1 / n)
    assert np.abs(seen - system.p[:, None] * system.q).max() < 5 * np.sqrt(0.25 / n)


def test_a_cell_depends_on_its_name_and_size_alone(study):
    trials, repeat = study("trials"), study("study").repeat
    systems = trials.GIVEN
    first, other = (
        [list(repeat(trials.consistent, name, systems[name], 60, 5)) for name in names]
        for names in (("near 1", "fair coin"), ("fair coin", "near 1"))
    )
    assert first == other[::-1]
    assert first[0] != first[1]


def test_an_interval_that_misses_falls_short_and_one_that_holds_does_not(study):
    def always_or_never(system, n, rng):
        return {"holds": (0.0, 1.0, 1.0 + 1e-12), "too high": (0.6, 0.9, 0.5), "half": (*np.sort(rng.random(2)), 0.5)}

    found = {one.interval: one for one in study("study").repeat(always_or_never, "any", None, 10, 200)}
    assert (found["holds"].covered, found["holds"].short) == (1, False)
    assert (found["too high"].covered, found["too high"].above, found["too high"].short) == (0, 1, True)
    assert found["half"].covered == pytest.approx(0.5, abs=0.15)
    assert found["half"].short


def test_a_forecast_is_held_against_what_four_times_the_rows_gave(study):
    codes = np.random.default_rng(0).integers(0, 2_000, 8_000)
    forecast = study("forecasts").foresee("simulated", "equal", codes, 1_000, np.random.default_rng(1))
    assert forecast.observed == pytest.approx((1 - 1 / 2_000) ** 3_999, abs=0.03)
    assert abs(forecast.error) < 0.08
    low, high, observed = forecast.ends
    assert (low <= observed <= high, observed) == (True, forecast.observed)
    assert forecast.far is None  # there are not ten times the rows
    alone = study("forecasts").foresee("simulated", "all different", np.arange(400), 100, np.random.default_rng(1))
    assert (alone.foreseen, alone.observed) == (None, 1.0)


def test_the_truth_of_a_plan_is_what_many_rows_show(study):
    plans, rng = study("plans"), np.random.default_rng(0)
    for name, n in (
        ("leaves of a random tree", 2_000),
        ("500 equal, a tenth never", 900),
        ("within, exponential", 1_500),
    ):
        system = plans.SYSTEMS[name]
        seen = [system.measure(n, rng).unverifiable for _ in range(6)]
        assert system.silent(n) == pytest.approx(np.mean(seen), abs=0.02)
    cells = list(plans.simulate({"equal": plans.Chances(np.full(100, 0.01))}, {200: 3}))
    assert [(cell.times, cell.covered) for cell in cells] == [(2, 1.0), (4, 1.0), (10, 1.0)]
    assert "equal" in "\n".join(plans.plan_table(cells))


def test_an_interval_of_all_pairs_holds_zero_if_all_do_and_is_counted_once_if_two_miss_it(study):
    def pair(low, high):
        return SimpleNamespace(low=low, high=high, differ=low > 0 or high < 0)

    all_of = study("trials").all_of
    assert all_of([pair(-0.1, 0.1), pair(-0.3, 0.1)])[:2] == pytest.approx((-0.15, 0.15))
    low, high, truth = all_of([pair(0.1, 0.2), pair(-0.2, -0.1)])
    assert (low > truth, high - low) == (True, pytest.approx(0.1))


def test_exact_coverage_is_that_of_many_draws(study):
    exact, rng = study("exact"), np.random.default_rng(0)
    ends = exact.interval_ends(60, 0.8, interval="jackknife")
    above, below = (curve[0] for curve in exact.misses(ends, 60, np.array([0.1])))
    drawn = rng.binomial(60, 0.1, 20_000)
    truth = 0.1**2 + 0.9**2
    assert above == pytest.approx(np.mean(ends[0][drawn] > truth), abs=0.012)
    assert below == pytest.approx(np.mean(ends[1][drawn] < truth), abs=0.012)


def test_one_sided_bounds_as_they_were_are_students_t_on_the_jackknife(study):
    exact = study("exact")
    bounds, ones = exact.certified_before(60, 0.95)
    left_out = [fs.consistency(*(np.delete(column, row) for column in exact.sample(60, 6))).value for row in range(60)]
    deviations = np.array(left_out) - np.mean(left_out)
    freedom = np.sum(deviations**2) ** 2 / np.sum(deviations**4)
    margin = scipy.stats.t.ppf(0.95, freedom) * np.sqrt(59 / 60 * np.sum(deviations**2))
    assert bounds[6] == pytest.approx(fs.consistency(*exact.sample(60, 6)).value - margin)
    assert (ones == 1).all()


def test_what_choosing_does_is_tried_on_columns_that_are_equally_good(study):
    choices, rng = study("choices"), np.random.default_rng(0)
    columns = choices.Columns(3, 0.8)
    vectors, labels = columns.draw(20_000, rng)
    values = [fs.consistency(vectors, labels, discretizer=each).value for each in columns.discretizers]
    assert values == pytest.approx([columns.truth] * 3, abs=0.02)


def test_a_pair_of_explainers_differs_by_what_nobody_can_check(study):
    choices, system = study("choices"), study("systems").GIVEN["4 explanations"]
    faithful, chance = (choices.Pair(system, 0.5, kind).truth for kind in (True, False))
    shares = system.p @ system.q
    assert chance - faithful == pytest.approx(0.5 * (1 - shares @ shares))
    assert chance == pytest.approx(system.truth - shares @ shares)


def test_every_attack_names_a_system_once_per_number_of_rows(study):
    lines = study("attack_lines")
    for kind in lines.ATTACKS.values():
        names = [(attack.section, attack.name, attack.n) for attack in kind()]
        assert len(names) == len(set(names))
        assert len(names) > 2


def test_an_attack_is_told_before_and_after_with_what_falls_short(study):
    attacks = study("attacks")

    def halves(system, n, rng):
        return {"before": (0.6, 0.9, 0.5), "after": (0.4, 0.9, 0.5)}

    line = attacks.try_attack(attacks.Attack("a section", halves, "a system", None, 60, 5))
    assert (line.before.covered, line.before.above, line.after.covered) == (0, 1, 1)
    told = "\n".join((*attacks.attack_summary([line]), *attacks.attack_table([line])))
    assert "0.000*" in told
    assert "1.000 " in told
    kept = json.loads(json.dumps(asdict(line)))
    assert attacks.AttackLine.read(**kept) == line


@pytest.mark.slow
def test_the_script_is_not_taken_for_the_coverage_package():
    code = f"import sys; sys.path.insert(0, {str(FOLDER)!r}); import coverage"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: benchmarks/coverage.py is a script" in run.stderr


def ask(*arguments):
    command = [sys.executable, FOLDER / "coverage.py", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.slow
def test_the_quick_study_asks_every_interval_says_what_it_skips_and_can_be_told_again(tmp_path, monkeypatch):
    monkeypatch.delenv("FAITHSCOPE_DATA", raising=False)
    kept = tmp_path / "kept.json"
    skipped, told = ask("--quick", "--json", kept).split("\n", 1)
    assert skipped.startswith("skipped: forecasts need the paper's data sets")
    assert ask("--kept", kept, "--plot", tmp_path) == told
    pictures = sorted(path.name for path in tmp_path.glob("*.svg"))
    assert pictures == ["statistics-bias.svg", "statistics-coverage.svg", "statistics-width.svg"]
    found = json.loads(kept.read_text())
    intervals = {one["interval"] for one in found["cells"]}
    assert len(intervals) == 26
    assert {
        "consistency",
        "consistency, jackknife",
        "certify, McDiarmid",
        "within",
        "sufficiency, weights by label",
    } <= intervals
    assert all(0 <= one["covered"] <= 1 for one in found["cells"])
    sections = {one["section"].split(":")[0] for one in found["attacks"]}
    assert {"Rows that belong together", "Weights", "An unseen row under many explanations"} <= sections
    assert len(sections) == 15
    assert {one["what"] for one in found["exact"]} == {
        "interval, covered",
        "interval, any share",
        "lower limit, misses",
        "certify, covered",
    }
