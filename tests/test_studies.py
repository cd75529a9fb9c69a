"""The studies of benchmarks/: their truths are those of enumeration or of large draws, and what they promise holds."""

import importlib
import json
import os
import re
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from child import python
from faithscope.monitor.limits import all_alarms
from faithscope.monitor.sequential import DailyDraws

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"
RESULTS = FOLDER / "results"
DATA = pytest.mark.skipif("FAITHSCOPE_DATA" not in os.environ, reason="FAITHSCOPE_DATA names no folder of data sets")


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


@pytest.mark.parametrize("covers", COVERS.values(), ids=COVERS)
def test_truths_are_those_of_all_pairs_and_expectations_those_of_all_samples(study, covers):
    q, covers = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]), np.array(covers, bool)
    for values in (None, np.array([0.0, 0.5])):
        system = study("systems").FinitePopulation(P, q, covers, values=values)
        agree = {(y, z): y == z or values is not None for y in (0, 1) for z in (0, 1)}
        sufficiency = necessity = expected = 0.0
        for i, y in product(range(3), range(2)):
            alike = [sum(P[j] * q[j, z] for z in (0, 1) if agree[y, z]) for j in range(3)]
            covered = sum(alike[j] for j in range(3) if covers[i, j])
            sufficiency += P[i] * q[i, y] * covered / P[covers[i]].sum()
            necessity += P[i] * q[i, y] * covered / sum(alike)
        assert (system.truth, system.necessity) == pytest.approx((sufficiency, necessity), abs=1e-12)
        for sample in product(product(range(3), range(2)), repeat=3):
            kinds, labels = np.array(sample).T
            others = [[j for j in range(3) if j != i and covers[kinds[i], kinds[j]]] for i in range(3)]
            shares = [np.mean([agree[labels[i], labels[j]] for j in each]) for i, each in enumerate(others) if each]
            expected += sum(shares) / 3 * np.prod(P[kinds] * q[kinds, labels])
        assert system.expected(3) == pytest.approx(expected, abs=1e-9)
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
        ("intervals", 1),
        ("attacks", 9),
        ("plans", 1),
        ("studies", 6),
        pytest.param("studies", 1, marks=pytest.mark.thorough),
    ],
)
def test_intervals_of_a_large_sample_hold_the_truth_of_every_named_system(study, part, every):
    for line in list(study(part).lines())[:: every if part == "attacks" else 1]:
        n = SIZES.get(line.name.split("/")[0], 1_000)
        for name, system in list(line.systems.items())[:: every if part == "studies" else 1]:
            for interval, answer in line.ask(system, n, next(line.seeds(name, 1))).items():
                judged = part != "studies" or line.bar(name, interval, n) is not None
                hard = interval == "before" or name.startswith(("unseen", "customers"))
                low, high, truth = (np.mean(end) for end in answer[:3]) if isinstance(answer, tuple) else (0, 0, 0)
                if judged and not hard and truth != 0:  # 0: of what is said
                    assert low - 0.05 <= truth <= high + 0.05, (interval, name)


def test_truths_of_drawn_rules_are_what_a_thousand_draws_reach(study):
    for system in study("draws").TABLES.values():
        population = system.population(system.train, draws=1000)
        told = fs.sufficiency(system.rules(system.train), system.predict, system.train, population=population)
        truths = np.array([system.row_truth(row) for row in system.train])
        assert np.abs(told.counts.values - truths).max() < 5 * 0.5 / np.sqrt(1000)


def test_exact_coverage_is_that_of_many_draws(study):
    exact, truth = study("exact"), 0.1**2 + 0.9**2
    low, high = ends = exact.bounds(60, 0.8, "jackknife")
    drawn = np.random.default_rng(0).binomial(60, 0.1, 20_000)
    above, below = (curve[0] for curve in exact.misses(ends, 60, np.array([0.1])))
    assert above == pytest.approx(np.mean(low[drawn] > truth), abs=0.012)
    assert below == pytest.approx(np.mean(high[drawn] < truth), abs=0.012)


def test_a_forecast_is_held_against_what_four_times_the_rows_gave(study):
    foreseen, rng = study("forecasts").foreseen, np.random.default_rng(1)
    told = foreseen(np.random.default_rng(0).integers(0, 2_000, 8_000), 1_000, rng)
    low, high, found, _ = told["interval at 4 n"]
    assert low <= found <= high
    assert found == told["found at 4 n"] == pytest.approx((1 - 1 / 2_000) ** 3_999, abs=0.03)
    assert told["foreseen at 4 n"] - found == told["error"] == pytest.approx(0, abs=0.08)
    assert list(foreseen(np.arange(400), 100, rng)) == ["interval at 4 n"]  # all different: nothing is foreseen


def test_a_cell_depends_on_its_name_and_size_alone_and_tells_what_misses(study):
    harness = study("harness")

    def ask(system, n, chance):
        return {"holds": (0.0, 1.0, 1.0 + 1e-12), "high": (0.6, 0.9, 0.5), "half": (*np.sort(chance.random(2)), 0.5)}

    line = harness.Line("a line", ask, {"a": 0, "b": 0}, (10,), 200, harness.named("x"), lambda *_: 0.93)
    holds, high, half, *others = line.cells()
    assert others == list(line.repeat("b", 10, 200))
    assert half != replace(others[2], system="a")
    assert [(each.held, each.above, each.missed) for each in (holds, high)] == [(1, 0, False), (0, 1, True)]
    assert half.held == pytest.approx(0.5, abs=0.15)


def test_the_folder_is_not_taken_for_the_coverage_package():
    told = python(f"import sys; sys.path.insert(0, {str(FOLDER)!r}); import coverage", check=False)
    assert "ImportError: benchmarks/coverage is a folder of scripts" in told.stderr


@pytest.mark.thorough
def test_no_study_misses_its_bar_and_what_is_kept_can_be_told_and_drawn_again(study, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("FAITHSCOPE_DATA", raising=False)
    spec = importlib.util.spec_from_file_location("coverage_main", FOLDER / "coverage" / "__main__.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    kept = tmp_path / "kept.json"
    assert script.main(["--quick", "--gate", "--json", str(kept)]) == 0
    cells = json.loads(kept.read_text())["cells"]
    judged = {cell["line"].split("/")[0] for cell in cells if cell["bar"] is not None}
    measured = (
        "necessity judged numbers simulatability draws encoding encoders reasons repeatability agreement direction "
        "naming beside shortcuts"
    )
    assert judged == set(measured.split())
    assert len({cell["interval"] for cell in cells if cell["line"].startswith("intervals")}) == 27
    assert script.main(["--kept", str(kept), "--plot", str(tmp_path)]) == 0
    drawn = sorted(path.name for path in tmp_path.glob("*.svg"))
    assert drawn == ["statistics-bias.svg", "statistics-coverage.svg", "statistics-width.svg"]
    kept.write_text(json.dumps({"cells": [cells[0] | {"bar": 0.93, "held": 0.5, "times": 100}]}))
    assert script.main(["--kept", str(kept), "--gate"]) == 1
    with pytest.raises(SystemExit, match="No study or line is named nothing"):
        script.main(["--only", "nothing"])


# Monitors.

MONITORED = (
    "20 explanations, m = .95",
    "20 explanations, m = .999",
    "2,000, long tail, m = .90",
    "12 rules, most overlap",
)


@pytest.mark.parametrize(
    "name", [*MONITORED[:2], *(pytest.param(name, marks=pytest.mark.thorough) for name in MONITORED[2:])]
)
def test_limits_and_alarms_are_rarely_wrong_at_a_thousand_looks_and_single_looks_often(study, name):
    monitor = study("monitor_alarms")
    system = {**monitor.SYSTEMS, **monitor.SCOPED}[name]
    sums = system.sums(1_000, 80, np.random.default_rng(1))
    (missed, once), (raised, repeated) = monitor.missed(sums, system.truth), monitor.alarmed(sums)
    assert max(missed, raised) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 80)
    assert (once > missed, repeated > raised) == (True, True)
    assert monitor.dropped(system, 0.1).truth == pytest.approx(system.truth - 0.1, abs=1e-9)


def test_what_waits_for_a_partner_hides_no_drop_and_invents_none(study):
    monitor = study("monitor_alarms")
    system = replace(monitor.SYSTEMS["20 explanations, m = .95"], rows=1_000)
    known, none = (monitor.delays(system, drop, 10, np.random.default_rng(2), wait=30) for drop in (0.1, 0.0))
    assert np.median(known) <= 4
    assert (np.isfinite(known).all(), np.isfinite(none).any()) == (True, False)


def test_the_truth_of_a_system_of_scopes_is_its_sufficiency(study):
    for system in study("monitor_alarms").SCOPED.values():
        rows, inside = replace(system, rows=20_000).arrivals(1, 1, np.random.default_rng(0))
        X = pd.DataFrame(inside.astype(int), columns=[f"r{place}" for place in range(inside.shape[1])])
        estimate = fs.sufficiency(fs.Rules.parse([f"r{own} == 1" for own in rows.high]), rows.labels, X)
        assert estimate.value == pytest.approx(system.truth, abs=0.02)


def test_all_groups_together_raise_few_false_alarms():
    rng, trials, days, false = np.random.default_rng(4), 150, 300, 0
    for _ in range(trials):
        groups = {name: rng.binomial(20, mean, days) for name, mean in (("a", 0.95), ("b", 0.7), ("c", 0.99))}
        lines = {
            name: DailyDraws.of_pairs(np.arange(days), *[np.full(days, 20)] * 2, total)
            for name, total in groups.items()
        }
        lines[None] = DailyDraws.of_pairs(np.arange(days), *[np.full(days, 60)] * 2, sum(groups.values()))
        false += bool(all_alarms(lines, dict.fromkeys(groups, 1 / 3), None, 30, 0.05))
    assert false <= trials * (0.05 + 2 * np.sqrt(0.05 * 0.95 / trials))


def test_the_kept_results_of_monitors_are_within_the_bar(study):
    monitor = study("monitor_alarms")
    lines = monitor.WRITTEN.read_text(encoding="utf-8").splitlines()[2:]
    trials = int(lines[0].split("; ")[1].split()[0])
    assert monitor.beyond(lines, trials) == []
    assert monitor.beyond([*lines[:2], "a system  0.300  0.9  0.000  0.9", ""], trials) != []


def test_the_kept_results_beside_a_reference_are_within_the_bar_and_on_the_page(study):
    beside = study("monitor_beside")
    lines = beside.WRITTEN.read_text(encoding="utf-8").splitlines()[2:]
    assert beside.beyond(lines, 200, 100) == []
    assert beside.beyond([*lines[:2], "a system  0.300  0.000", ""], 200, 100) != []
    page = (Path(__file__).parents[1] / "docs" / "monitor.md").read_text(encoding="utf-8")
    for line in lines[2 : lines.index("")]:
        *name, limits, alarm = line.split()
        assert f"| {' '.join(name)} | {limits[1:]} | {alarm[1:]} |" in page
    for line in lines[lines.index("") + 3 :]:
        rows, *how = line.split()
        compared, known, *day, other, false = " ".join(how[:2]), *how[2:]
        shown = " | ".join([known[1:], " ".join(day), other[1:], false[1:]])
        assert f"| {rows} rows | {compared} | {shown} |" in page
    rng = np.random.default_rng(0)
    _, after, truth = beside.trial(*beside.SYSTEMS["20 explanations, q = .97"], 2_000, rng)
    assert np.arange(65) @ after.sum(axis=0) / 64 / after.sum() == pytest.approx(truth, abs=0.01)


def test_the_kept_results_of_customers_who_come_back_are_within_the_bar(study):
    returning = study("monitor_returning")
    lines = returning.WRITTEN.read_text(encoding="utf-8").splitlines()[2:]
    trials = int(lines[0].split("; ")[1].split()[0])
    assert [line.split("  ")[0] for line in lines[3:]] == list(returning.SYSTEMS)
    assert returning.beyond(lines, trials) == []
    assert returning.beyond([*lines[:3], "a system  0.0  0.0  0.0  1,000  0.300  0.000"], trials) != []
    (trial, day, customer, *_), truth = returning.arrived("declined return", 2, 40, np.random.default_rng(0))
    kept = returning.once(trial, day, customer, np.random.default_rng(0))
    first = {}
    for each in zip(trial.tolist(), customer.tolist(), day.tolist(), strict=True):
        first[each[:2]] = min(each[2], first.get(each[:2], 99))
    assert first == {(trial[place], customer[place]): day[place] for place in kept}
    assert (len(kept), truth) == (len(first), pytest.approx(0.625))


# Reasons in words.


def test_measures_rank_planted_systems_as_they_should(study):
    planted = study("planted_reasons")
    told = {name: planted.measured(name, 1_000) for name in planted.REASON_SYSTEMS}
    assert list(planted.wrong(told)) == []
    swapped = told | {"paraphrased": told["shortcut alone"], "copied answer": told["faithful"]}
    assert len(list(planted.wrong(swapped))) > 2


def test_tables_of_the_page_on_reasons_are_those_that_the_study_printed():
    page = (ROOT / "docs" / "reasons.md").read_text()
    interval = re.compile(r"\[\d\.\d{3}, \d\.\d{3}\]")  # the study has three digits where lines of results have two
    shown = [line for block in re.findall(r"```text\n(.*?)```", page, re.S) for line in block.splitlines()]
    quoted = [" ".join(line.split()) for line in shown if interval.search(line) and ";" not in line]
    assert len(quoted) > 30
    kept = {" ".join(line.split()) for line in (RESULTS / "esnli.txt").read_text().splitlines()}  # the page is narrower
    assert set(quoted) <= kept


def test_the_codebook_has_24_cues_and_none_that_names_a_label():
    codebook = fs.Codebook.load(ROOT / "examples" / "esnli_codebook.json")
    naming = fs.Reasons(["entailment", "neutral", "contradiction", "entails", "contradicts"])
    assert len(codebook.names) == 24
    assert codebook(naming).values.tolist() == [frozenset({"other"})] * 5


@DATA
@pytest.mark.thorough
def test_the_study_of_esnli_shares_no_row_and_prints_what_it_kept(study):
    esnli = study("esnli")
    dev, test = esnli.splits()
    assert (len(dev.labels), len(test.labels), test.premises.nunique()) == (9_842, 9_824, 3_323)
    pairs = [set(zip(split.X["premise"], split.X["hypothesis"], strict=True)) for split in (dev, test)]
    assert not pairs[0] & pairs[1]
    chosen = esnli.one_per_premise(test)
    assert (test.premises.iloc[chosen].is_unique, len(chosen)) == (True, 3_323)
    codebook = fs.Codebook.load(esnli.CODEBOOK)
    measured = fs.consistency(test.reasons(), test.labels, discretizer=codebook, clusters=test.premises)
    assert esnli.told("codebook of 24 cues", measured) in esnli.KEPT.read_text().splitlines()
    assert np.mean(esnli.fitted(dev).predict(test.documents) == test.labels) > 0.6


# Sufficient for whom?

ROWS = 20


@pytest.fixture(scope="module")
def wine():
    """A model of three kinds of wine, training rows, and rows that it has not seen; the color is a category."""
    xgboost = pytest.importorskip("xgboost")
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    X = np.column_stack([X[:, [0, 6, 9, 12]], np.digitize(X[:, 9], [3, 5, 7])])
    order = np.random.default_rng(0).permutation(len(X))
    train, rest = X[order[:100]], X[order[100 : 100 + ROWS]]
    return xgboost.XGBClassifier(n_estimators=5, max_depth=3, n_jobs=1).fit(train, y[order[:100]]), train, rest


def test_cells_of_populations_are_those_of_a_loop_and_formal_reasons_never_fail(study, wine):
    (model, train, X), for_whom = wine, study("for_whom")
    lines = {line["explanation"]: line for line in for_whom.measured(model, train, X, (4,), 30)}
    labels, width = model.predict(X), np.ptp(train, axis=0)
    tests = {"<=": float.__le__, ">": float.__gt__, "==": float.__eq__}
    for name, rules in for_whom.explained(model, train, X, (4,)).items():
        names, shares = list(rules.features), {"real": [], "nearest": []}
        for i, rule in enumerate(rules.to_conditions()):
            conditions = [(names.index(feature), tests[sign], value) for feature, sign, value in rule]
            named = np.isin(np.arange(len(names)), [j for j, *_ in conditions])
            met = [
                [all(test(float(row[j]), value) for j, test, value in conditions) for row in rows]
                for rows in (X, train)
            ]
            real = [labels[j] == labels[i] for j in range(ROWS) if j != i and met[0][j]]
            nearest = sorted(train[met[1]], key=lambda row, own=X[i]: sum(abs(own - row) / width))[:50]
            near = model.predict(np.where(named, X[i], nearest)) == labels[i] if nearest else ()
            for each, known in (("real", real), ("nearest", near)):
                shares[each] += [np.mean(known)] if len(known) else []
        for each, known in shares.items():
            assert lines[name][each]["verified"] == pytest.approx(np.mean(known), abs=1e-6), (name, each)
    *others, formal = lines.values()
    assert formal["explanation"] == "formal reason"
    assert {formal[population]["verified"] for population in for_whom.POPULATIONS} == {1.0}
    assert formal["broken"] == 0
    assert all(line["broken"] > 0 for line in others)


def test_uniform_points_lie_inside_the_rules_and_the_ranges(study, wine):
    (model, train, X), for_whom = wine, study("for_whom")
    for rules in for_whom.explained(model, train, X, (4,)).values():
        points, of = for_whom.uniform_points(rules, X, train, (4,), 30)
        assert fs.drawn(rules, points, model, of=of).covered.all()
        assert ((X[of] == points) | ((points >= train.min(axis=0)) & (points <= train.max(axis=0)))).all()
        assert np.isin(points[:, 4], train[:, 4]).all()
    free = fs.Rules.from_conditions([[]] * ROWS, features=rules.features)
    everywhere = for_whom.uniform_points(free, X, train, (4,), 200)[0][:, :4]
    middle, width = (train.min(axis=0) + train.max(axis=0))[:4] / 2, np.ptp(train, axis=0)[:4]
    assert (np.abs(everywhere.mean(axis=0) - middle) < width * 5 / np.sqrt(12 * len(everywhere))).all()


def test_the_page_shows_what_the_study_of_populations_printed(study):
    pytest.importorskip("xgboost")
    for_whom, page = study("for_whom"), (ROOT / "docs" / "sufficient-for-whom.md").read_text().splitlines()
    kept = (RESULTS / "for_whom.txt").read_text().splitlines()
    results = json.loads((RESULTS / "for_whom.json").read_text())
    lines, claims = results["lines"], results["anchor-exp"]
    printed = {*map(for_whom.line_of, lines), *map(for_whom.compared, claims)}
    differences = {for_whom.gaps_header(), *map(for_whom.gaps, claims)}
    assert printed | differences <= set(kept)
    assert differences <= set(page)
    cells = re.compile(r"(?:\.\d{3}|1   ) (?:\.\d\d|1)–(?:\.\d\d|1)")
    assert {line for line in page if len(cells.findall(line)) > 1} == printed
    sets = {line["data"] for line in lines}
    assert (sets, len(lines)) == (set(for_whom.NAMES), 6 * len(sets))
    formal = [line for line in lines if line["explanation"] == "formal reason"]
    assert {line[name]["verified"] for line in formal for name in for_whom.POPULATIONS} == {1.0}
    assert [for_whom.digits(share, 3) for share in (1.0, 0.9999, 0.5, 0.0)] == ["1", ".999", ".500", ".000"]


# Direction.


def test_the_page_on_direction_shows_what_is_kept():
    page = (FOLDER.parent / "docs" / "direction.md").read_text(encoding="utf-8")
    kept = (FOLDER / "results" / "direction.txt").read_text(encoding="utf-8").splitlines()[2:]
    assert len(kept) == 33
    assert "\n".join(line.rstrip() for line in kept) in page
