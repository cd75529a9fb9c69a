"""benchmarks/for_whom.py: cells of its table by loops of our own, and that the page shows what the study printed."""

import importlib
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import faithscope as fs

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "benchmarks" / "results" / "for_whom"
DRAWS, ROWS = 30, 20


@pytest.fixture
def study(monkeypatch):
    """The study; its folder comes last, so that its scripts hide no package."""
    pytest.importorskip("xgboost")
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT / "benchmarks")])
    return importlib.import_module("for_whom")


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
    tests = {"<=": lambda a, b: a <= b, ">": lambda a, b: a > b, "==": lambda a, b: a == b}
    return all(tests[operator](row[names.index(name)], value) for name, operator, value in rule)


def in_words(shares):
    """The mean over rows that have a share, as the table has it."""
    known = [share for share in shares if share is not None]
    return sum(known) / len(known)


def real_share(rule, names, i, X, labels):
    agree = [labels[j] == labels[i] for j in range(len(X)) if j != i and meets(rule, names, X[j])]
    return sum(agree) / len(agree) if agree else None


def nearest_share(rule, names, i, X, model, train):
    """The 50 nearest covered training rows by a loop over features, with what the rule names from the row itself."""
    width = [max(column) - min(column) for column in train.T.tolist()]
    covered = [row for row in train if meets(rule, names, row)]
    apart = [sum(abs(a - b) / w for a, b, w in zip(X[i], row, width, strict=True)) for row in covered]
    assert 0.0 not in apart  # no training row equals the row
    named = {names.index(name) for name, _, _ in rule}
    chosen = [covered[k] for k in np.argsort(apart, kind="stable")[:50]]
    points = [[X[i][j] if j in named else row[j] for j in range(len(row))] for row in chosen]
    return float(np.mean(model.predict(np.array(points)) == model.predict(X[[i]]))) if points else None


def drawn_share(rule, names, i, X, model, train, rng, *, joint):
    """Training rows made to meet the rule value by value, or every value by itself."""
    tests = [[test for test in rule if test[0] == name] for name in names]
    possible = [[row[j] for row in train if meets(tests[j], names, row)] for j in range(len(names))]
    points = []
    for _ in range(DRAWS):
        row = train[rng.integers(len(train))].copy()
        for j, values in enumerate(possible):
            if not joint or not meets(tests[j], names, row):
                row[j] = values[rng.integers(len(values))]
        points.append(row)
    return float(np.mean(model.predict(np.array(points)) == model.predict(X[[i]])))


def test_cells_are_those_of_a_loop(study, wine):
    model, train, X = wine
    lines = {line["explanation"]: line for line in study.measured(model, train, X, (4,), DRAWS)}
    for name, rules in study.explained(model, train, X, (4,)).items():
        names, told = list(rules.features), rules.to_conditions()
        labels, line = model.predict(X), lines[name]
        real = [real_share(told[i], names, i, X, labels) for i in range(ROWS)]
        assert line["real"]["verified"] == pytest.approx(in_words(real)), name
        near = [nearest_share(told[i], names, i, X, model, train) for i in range(ROWS)]
        assert line["nearest"]["verified"] == pytest.approx(in_words(near)), name
        rng = np.random.default_rng(1)
        for population, joint in (("perturbed", True), ("product", False)):
            shares = [drawn_share(told[i], names, i, X, model, train, rng, joint=joint) for i in range(ROWS)]
            error = 2 * 0.5 / np.sqrt(DRAWS * ROWS)  # of the difference of two means of coins, about √2 times one
            assert abs(line[population]["verified"] - in_words(shares)) < 3 * error, (name, population)


def test_formal_reasons_are_1_everywhere_and_nothing_breaks_them(study, wine):
    *others, formal = study.measured(*wine, (4,), DRAWS)
    assert formal["explanation"] == "formal reason"
    assert {formal[population]["verified"] for population in study.POPULATIONS} == {1.0}
    assert formal["broken"] == 0
    assert all(line["broken"] > 0 for line in others)


def test_uniform_points_lie_inside_the_rules_and_the_ranges(study, wine):
    model, train, X = wine
    for rules in study.explained(model, train, X, (4,)).values():
        points, of = study.uniform_points(rules, X, train, (4,), DRAWS)
        assert fs.drawn(rules, points, model, of=of).covered.all()
        own = X[of] == points
        assert (own | ((points >= train.min(axis=0)) & (points <= train.max(axis=0)))).all()
        assert np.isin(points[:, 4], train[:, 4]).all()
    free = fs.Rules.from_conditions([[]] * ROWS, features=rules.features)
    everywhere, _ = study.uniform_points(free, X, train, (4,), 200)
    middle = (train.min(axis=0) + train.max(axis=0))[:4] / 2
    width = np.ptp(train, axis=0)[:4]
    assert (np.abs(everywhere[:, :4].mean(axis=0) - middle) < width * 5 / np.sqrt(12 * len(everywhere))).all()


def test_a_share_is_written_as_1_only_if_it_is_1(study):
    assert [study.digits(share, 3) for share in (1.0, 0.9999, 0.5, 0.0)] == ["1", ".999", ".500", ".000"]


def test_the_page_shows_what_the_study_printed(study):
    page = (ROOT / "docs" / "sufficient-for-whom.md").read_text()
    kept, results = KEPT.with_suffix(".txt").read_text(), json.loads(KEPT.with_suffix(".json").read_text())
    printed = [study.line_of(line) for line in results["lines"]] + [
        study.compared(line) for line in results["anchor-exp"]
    ]
    differences = [study.gaps_header(), *map(study.gaps, results["anchor-exp"])]
    assert [line for line in (*printed, *differences) if line not in kept.splitlines()] == []
    assert [line for line in differences if line not in page.splitlines()] == []
    cells = re.compile(r"(?:\.\d{3}|1   ) (?:\.\d\d|1)–(?:\.\d\d|1)")
    quoted = [line for line in page.splitlines() if len(cells.findall(line)) > 1]
    assert len(quoted) == len(printed)
    assert [line for line in quoted if line not in printed] == []


def test_the_kept_table_has_every_explanation_on_every_data_set(study):
    results = json.loads(KEPT.with_suffix(".json").read_text())
    sets = {line["data"] for line in results["lines"]}
    assert sets == set(study.NAMES)
    assert len(results["lines"]) == 6 * len(sets)
    formal = [line for line in results["lines"] if line["explanation"] == "formal reason"]
    assert {line[name]["verified"] for line in formal for name in study.POPULATIONS} == {1.0}
