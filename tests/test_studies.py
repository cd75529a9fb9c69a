"""The studies of benchmarks/: their truths are those of enumeration or of large draws, and what they promise holds."""

import importlib
import json
import os
import re
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import faithscope as fs
from child import python
from faithscope.measures.sequential.draws import DailyDraws
from faithscope.monitor.limits import all_alarms

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"
RESULTS = FOLDER / "results"
DATA = pytest.mark.skipif("FAITHSCOPE_DATA" not in os.environ, reason="FAITHSCOPE_DATA names no folder of data sets")


@pytest.fixture
def study(monkeypatch):
    """Modules of the studies by name; their folders come last, so that none hides a package."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER / "coverage"), str(FOLDER)])
    return importlib.import_module


SMALL = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
COVERS = {
    "overlapping": [[1, 1, 0], [1, 1, 1], [0, 1, 1]],
    "beside its own row": [[0, 1, 1], [0, 0, 1], [1, 1, 0]],
    "its own kind": np.eye(3),
}


@pytest.mark.parametrize("values", [None, np.array([0.0, 0.5])], ids=["labels", "numbers"])
@pytest.mark.parametrize("covers", COVERS.values(), ids=COVERS)
def test_truths_are_those_of_all_pairs_and_expectations_those_of_all_samples(study, covers, values):
    p, covers = np.array([0.5, 0.3, 0.2]), np.array(covers, bool)
    system = study("systems").FinitePopulation(p, SMALL, covers, values=values)
    agree = {(y, z): y == z or values is not None for y in (0, 1) for z in (0, 1)}
    sufficiency = necessity = expected = 0.0
    for i, y in product(range(3), range(2)):
        alike = [[p[j] * SMALL[j, z] for z in (0, 1) if agree[y, z]] for j in range(3)]
        covered, everywhere = sum(sum(alike[j]) for j in range(3) if covers[i, j]), sum(map(sum, alike))
        sufficiency += p[i] * SMALL[i, y] * covered / p[covers[i]].sum()
        necessity += p[i] * SMALL[i, y] * covered / everywhere
    assert (system.truth, system.necessity) == pytest.approx((sufficiency, necessity), abs=1e-12)
    for sample in product(product(range(3), range(2)), repeat=3):
        kinds, labels = np.array(sample).T
        others = [[j for j in range(3) if j != i and covers[kinds[i], kinds[j]]] for i in range(3)]
        value = sum(np.mean([agree[labels[i], labels[j]] for j in some]) for i, some in enumerate(others) if some) / 3
        expected += value * np.prod(p[kinds] * SMALL[kinds, labels])
    assert system.expected(3) == pytest.approx(expected, abs=1e-9)


def test_the_truth_of_a_coarser_explainer_and_of_weighted_rows_is_that_of_their_population(study):
    Population, p = study("systems").FinitePopulation, np.array([0.5, 0.3, 0.2])
    merged = Population(p, SMALL, np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], bool))
    assert Population(p, SMALL).coarser.truth == pytest.approx(merged.truth, abs=1e-12)
    assert merged.target.truth == pytest.approx(Population(*weighed(p)).coarser.truth, abs=1e-12)


def weighed(p):
    """Chances in the population in which label 1 counts four times."""
    joint = p[:, None] * SMALL * [1.0, 4.0]
    return joint.sum(axis=1) / joint.sum(), joint / joint.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("covers", [None, np.array(COVERS["overlapping"], bool)], ids=["consistency", "sufficiency"])
def test_truths_of_numbers_are_those_of_all_pairs(study, covers):
    p, y = np.array([0.5, 0.3, 0.2]), np.array([[0.0, 0.25, 3.0], [1.0, 1.0, 0.5], [5.0, 4.5, -2.0]])
    system = study("numeric").NumericSystem(p, y, covers)

    def mean(agree):
        under = [[i] if covers is None else np.flatnonzero(covers[i]) for i in range(3)]
        shares = [(p[i] * p[j] / p[under[i]].sum(), y[i], y[j]) for i in range(3) for j in under[i]]
        return sum(share * np.mean([agree(a, b) for a, b in product(*both)]) for share, *both in shares)

    assert system.close == pytest.approx(mean(lambda a, b: max(0.0, 1 - abs(a - b))), abs=1e-12)
    assert system.tolerance == pytest.approx(mean(lambda a, b: abs(a - b) <= 1), abs=1e-12)
    variance = p @ ((y - p @ y.mean(axis=1)) ** 2).mean(axis=1)
    assert system.spread == pytest.approx(1 - mean(lambda a, b: (a - b) ** 2 / 2) / variance, abs=1e-12)


SIZES = {"reasons": 300, "judged": 300, "intervals": 300, "plans": 250}


@pytest.mark.parametrize(
    ("part", "every"),
    [("intervals", 1), ("plans", 1), ("studies", 6), pytest.param("studies", 1, marks=pytest.mark.thorough)],
)
def test_intervals_of_a_large_sample_hold_the_truth_of_every_named_system(study, part, every):
    promises_nothing = study("harness").no_bar
    for line in study(part).lines():
        n = SIZES.get(line.study, 1_000)
        for name, system in list(line.systems.items())[::every]:
            for interval, answer in line.ask(system, n, next(line.seeds(name, 1))).items():
                judged = line.bar is promises_nothing or line.bar(name, interval, n) is not None
                hard = line.study == "plans" and name.startswith(("unseen", "customers"))
                low, high, truth = (np.mean(end) for end in answer[:3]) if isinstance(answer, tuple) else (0, 0, 0)
                if judged and not hard and truth != 0:  # 0: of what is said
                    assert low - 0.05 <= truth <= high + 0.05, (interval, name)


def test_truths_of_decoders_and_of_drawn_rules_are_what_they_reach(study):
    decoders, draws = study("decoders"), study("draws")
    system = decoders.DECODED["mixed, many"]
    kinds = [place.ravel() for place in np.indices(system.joint.shape)]
    for name, agreement in product(decoders.DECODERS, decoders.AGREEMENTS):
        decoder, truth = decoders.fitted(system, name, agreement)
        told = decoder.accuracy(*kinds, weights=system.joint.ravel())
        assert (told.value, told.chance) == pytest.approx(truth, abs=1e-9)
    for system in draws.TABLES.values():
        population = system.population(system.train, draws=1000)
        told = fs.sufficiency(system.rules(system.train), system.predict, system.train, population=population)
        truths = np.array([system.row_truth(row) for row in system.train])
        assert np.abs(told.counts.values - truths).max() < 5 * 0.5 / np.sqrt(1000)


def test_truths_of_attacks_are_those_of_large_samples(study):
    attacks, rng = study("attacks"), np.random.default_rng(0)
    columns, four = attacks.Columns(3, 0.8), study("systems").GIVEN["4 explanations"]
    values = [fs.consistency(*columns.draw(20_000, rng), discretizer=each).value for each in columns.discretizers]
    assert values == pytest.approx([columns.truth] * 3, abs=0.02)
    faithful, chance = (attacks.Pair(four, 0.5, kind).truth for kind in (True, False))
    shares = four.p @ four.q
    assert (chance - faithful, chance) == pytest.approx((0.5 * (1 - shares @ shares), four.truth - shares @ shares))
    lines = [(line.name, *line.systems, *line.rows) for line in attacks.lines()]
    assert len(lines) == len(set(lines)) > 200


def test_a_cell_depends_on_its_name_and_size_alone_and_tells_what_misses(study):
    harness = study("harness")

    def ask(system, n, chance):
        return {"holds": (0.0, 1.0, 1.0 + 1e-12), "high": (0.6, 0.9, 0.5), "half": (*np.sort(chance.random(2)), 0.5)}

    line = harness.Line("a study", "a line", ask, {"a": 0, "b": 0}, (10,), 200, harness.named("x"), harness.always)
    cells = {(cell.system, cell.interval): cell for cell in line.cells()}
    assert list(cells.values())[3:] == list(replace(line, systems={"b": 0}).cells())
    holds, high, half = (cells["a", name] for name in ("holds", "high", "half"))
    assert half != replace(cells["b", "half"], system="a")
    assert [(each.held, each.above, each.short, each.missed) for each in (holds, high)] == [
        (1, 0, False, False),
        (0, 1, True, True),
    ]
    assert half.held == pytest.approx(0.5, abs=0.15)
    assert [each.split(" on ")[0] for each in harness.verdict(cells.values())] == ["high", "half"] * 2
    pairs = [SimpleNamespace(low=low, high=low + 0.2, differ=not -0.2 <= low <= 0) for low in (-0.1, 0.1, 0.3)]
    all_of = study("intervals").all_of
    assert all_of(pairs[:1]) == pytest.approx((-0.1, 0.1, 0))
    assert all_of(pairs) == pytest.approx((0.2, 0.4, 0))


def test_exact_coverage_is_that_of_many_draws_and_older_bounds_are_students_t(study):
    exact = study("exact")
    ends, truth = exact.bounds(60, 0.8, "jackknife"), 0.1**2 + 0.9**2
    drawn = np.random.default_rng(0).binomial(60, 0.1, 20_000)
    above, below = (curve[0] for curve in exact.misses(ends, 60, np.array([0.1])))
    assert above == pytest.approx(np.mean(ends[0][drawn] > truth), abs=0.012)
    assert below == pytest.approx(np.mean(ends[1][drawn] < truth), abs=0.012)
    rows = exact.sample(60, 6)
    left_out = np.array([fs.consistency(*(np.delete(column, row) for column in rows)).value for row in range(60)])
    squares = (left_out - left_out.mean()) ** 2
    margin = scipy.stats.t.ppf(0.95, squares.sum() ** 2 / (squares**2).sum()) * np.sqrt(59 / 60 * squares.sum())
    assert exact.certified_before(rows, 0.95) == pytest.approx(fs.consistency(*rows).value - margin)


def test_a_forecast_is_held_against_what_four_times_the_rows_gave(study):
    foreseen, rng = study("forecasts").foreseen, np.random.default_rng(1)
    told = foreseen(np.random.default_rng(0).integers(0, 2_000, 8_000), 1_000, rng)
    low, high, found, _ = told["interval at 4 n"]
    assert found == told["found at 4 n"] == pytest.approx((1 - 1 / 2_000) ** 3_999, abs=0.03)
    assert low <= found <= high
    assert told["foreseen at 4 n"] - found == told["error"] == pytest.approx(0, abs=0.08)
    assert "interval at 10 n" not in told  # there are not ten times the rows
    assert list(foreseen(np.arange(400), 100, rng)) == ["interval at 4 n"]  # all different: nothing is foreseen


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
    first = capsys.readouterr().out
    assert first.startswith("skipped: forecasts need the paper's data sets")
    cells = json.loads(kept.read_text())["cells"]
    judged = {cell["study"] for cell in cells if cell["bar"] is not None}
    measured = "necessity judged numbers simulatability draws encoding encoders reasons repeatability agreement"
    assert judged == set(measured.split())
    assert len({cell["line"] for cell in cells if cell["study"].startswith("attacks")}) == 15
    assert len({cell["interval"] for cell in cells if cell["study"] == "intervals"}) == 27
    assert script.main(["--kept", str(kept), "--plot", str(tmp_path)]) == 0
    assert set(capsys.readouterr().out.splitlines()) <= set(first.splitlines())
    drawn = sorted(path.name for path in tmp_path.glob("*.svg"))
    assert drawn == ["statistics-bias.svg", "statistics-coverage.svg", "statistics-width.svg"]
    cells[0] |= {"bar": 0.93, "held": 0.5, "times": 100}
    kept.write_text(json.dumps({"cells": cells}))
    assert script.main(["--kept", str(kept), "--gate"]) == 1


@pytest.mark.thorough
def test_rows_alone_know_nothing_of_further_runs_and_silence_brackets_the_truth_by_few_pairs(study):
    for line in study("studies").lines():
        if line.study == "repeatability" and line.ask.keywords == {"runs": 5}:
            both, rows, noted = line.repeat("moving thresholds, .05", 500, 60)
            assert rows.held < 0.7
            assert noted.held > 0.9
            assert rows.width <= both.width
        if line.study == "judged" and line.ask.keywords == {"asked": 2}:
            for name in ("narrow", "not to its own row", "shared, ten leaves, noisy"):
                told, _, _, value, upper = line.repeat(name, 60, 150)
                slack = 3 * max(value.low_error, upper.low_error)
                assert value.low - slack <= told.truth <= upper.low + slack, name


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
        rows = replace(system, rows=20_000).arrivals(1, 1, np.random.default_rng(0))
        X = pd.DataFrame(rows.inside.astype(int), columns=[f"r{place}" for place in range(rows.inside.shape[1])])
        estimate = fs.sufficiency(fs.Rules.parse([f"r{own} == 1" for own in rows.own]), rows.labels, X)
        assert estimate.value == pytest.approx(system.truth, abs=0.02)


def test_all_groups_together_raise_few_false_alarms():
    rng, trials, days, false = np.random.default_rng(4), 150, 300, 0
    for _ in range(trials):
        groups = {name: rng.binomial(20, mean, days) for name, mean in (("a", 0.95), ("b", 0.7), ("c", 0.99))}
        lines = {name: DailyDraws.known(np.arange(days), np.full(days, 20), total) for name, total in groups.items()}
        lines[None] = DailyDraws.known(np.arange(days), np.full(days, 60), sum(groups.values()))
        false += bool(all_alarms(lines, dict.fromkeys(groups, 1 / 3), None, 30, 0.05))
    assert false <= trials * (0.05 + 2 * np.sqrt(0.05 * 0.95 / trials))


def test_the_kept_results_of_monitors_are_within_the_bar(study):
    monitor = study("monitor_alarms")
    lines = monitor.WRITTEN.read_text(encoding="utf-8").splitlines()[2:]
    trials = int(lines[0].split("; ")[1].split()[0])
    assert monitor.beyond(lines, trials) == []
    assert monitor.beyond([*lines[:2], "a system  0.300  0.9  0.000  0.9", ""], trials) != []


# Reasons in words.


def test_measures_rank_planted_systems_as_they_should(study):
    planted = study("planted_reasons")
    told = {name: planted.Told.of(name, 1_000) for name in planted.REASON_SYSTEMS}
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
    assert (chosen == esnli.one_per_premise(test)).all()
    codebook = fs.Codebook.load(esnli.CODEBOOK)
    measured = fs.consistency(test.reasons(), test.labels, discretizer=codebook, clusters=test.premises)
    assert esnli.told("codebook of 24 cues", measured) in esnli.KEPT.read_text().splitlines()
    words = [word for text in test.take(np.arange(5)).documents for word in text.split()]
    assert all(word.startswith(("new:", "both:", "share:")) for word in words)
    assert np.mean(esnli.fitted(dev).predict(test.documents) == test.labels) > 0.6


# Sufficient for whom?

DRAWS, ROWS = 30, 20


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


def meets(rule, names, row):
    """Whether a row meets all conditions, one by one."""
    tests = {"<=": float.__le__, ">": float.__gt__, "==": float.__eq__}
    return all(tests[operator](float(row[names.index(name)]), value) for name, operator, value in rule)


def points_of(rule, names, row, train, rng):
    """Inputs under a rule by loops of our own: nearest training rows, perturbed ones, and products of columns."""
    width = np.ptp(train, axis=0)
    covered = sorted((other for other in train if meets(rule, names, other)), key=lambda z: sum(abs(row - z) / width))
    named = [name in {name for name, _, _ in rule} for name in names]
    tests = [[test for test in rule if test[0] == name] for name in names]
    possible = [[other[j] for other in train if meets(tests[j], names, other)] for j in range(len(names))]
    product_of = [[rng.choice(values) for values in possible] for _ in range(DRAWS)]
    bases = train[rng.integers(len(train), size=DRAWS)]
    kept = [[meets(tests[j], names, base) for j in range(len(names))] for base in bases]
    return {
        "nearest": [np.where(named, row, other) for other in covered[:50]],
        "perturbed": np.where(kept, bases, product_of),
        "product": product_of,
    }


def test_cells_of_populations_are_those_of_a_loop(study, wine):
    (model, train, X), for_whom, rng = wine, study("for_whom"), np.random.default_rng(1)
    lines = {line["explanation"]: line for line in for_whom.measured(model, train, X, (4,), DRAWS)}
    labels = model.predict(X)
    for name, rules in for_whom.explained(model, train, X, (4,)).items():
        names, shares = list(rules.features), {"real": [], "nearest": [], "perturbed": [], "product": []}
        for i, rule in enumerate(rules.to_conditions()):
            real = [labels[j] == labels[i] for j in range(ROWS) if j != i and meets(rule, names, X[j])]
            points = points_of(rule, names, X[i], train, rng)
            agreeing = {each: model.predict(np.array(some)) == labels[i] for each, some in points.items() if len(some)}
            for each, known in ({"real": real} | agreeing).items():
                shares[each] += [np.mean(known)] if len(known) else []
        for each, known in shares.items():  # draws: three times the error of the difference of two means of coins
            near = 1e-6 if each in ("real", "nearest") else 3 / np.sqrt(DRAWS * ROWS)
            assert lines[name][each]["verified"] == pytest.approx(np.mean(known), abs=near), (name, each)
    *others, formal = lines.values()
    assert formal["explanation"] == "formal reason"
    assert {formal[population]["verified"] for population in for_whom.POPULATIONS} == {1.0}
    assert formal["broken"] == 0
    assert all(line["broken"] > 0 for line in others)


def test_uniform_points_lie_inside_the_rules_and_the_ranges(study, wine):
    (model, train, X), for_whom = wine, study("for_whom")
    for rules in for_whom.explained(model, train, X, (4,)).values():
        points, of = for_whom.uniform_points(rules, X, train, (4,), DRAWS)
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
