"""Sufficient reasons: are they sufficient, and what do they cost?

    python benchmarks/sufficient_reasons.py             # all parts; about ten minutes
    python benchmarks/sufficient_reasons.py --rows 20   # fewer rows of the data sets
    python benchmarks/sufficient_reasons.py --picture   # writes docs/images/sufficient-reasons.svg too

FAITHSCOPE_DATA names the folder that holds the paper's data sets. Models are XGBoost's, trained on two thirds of the
rows of each data set; reasons are of rows that they have not seen. Random rows inside the rules are tried for every
kind of model that can be read, trained on 5,000 rows of each data set.
"""

import importlib
import os
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
from numpy.random import default_rng

import faithscope as fs
from faithscope.charts.theme import LIGHT
from faithscope_reproduction.data import NAMES, split
from for_whom import covers, fitted
from ratios import HERE, describe_machine, is_missing, marked, options, save_panels


def points_inside(model, rules, X, train, count, *, missing=True):
    """How many of `count` random rows inside each rule get another prediction than the row explained.

    One value in ten is missing, if the model takes missing values.
    """
    rng, wrong = default_rng(0), 0
    for row, label in enumerate(model.predict(X)):
        points = train[rng.integers(len(train), size=(count, train.shape[1])), np.arange(train.shape[1])]
        points = np.where(missing & (rng.random(points.shape) < 0.1), np.nan, points)
        for condition in rules.conjunction(row):
            points[:, condition.position] = _values(condition, count, rng)
        wrong += int(np.sum(model.predict(points) != label))
    return wrong


def _values(condition, count, rng):
    first = np.nextafter(condition.low, np.inf) if np.isfinite(condition.low) else min(condition.high, 0.0) - 100
    last = condition.high if np.isfinite(condition.high) else max(first, 0.0) + 100
    ends = [first, last, min(last, np.nextafter(first, np.inf)), max(first, np.nextafter(last, -np.inf))]
    within = np.clip(rng.uniform(first, last, count), first, last)
    return np.where(rng.random(count) < 0.5, rng.choice(ends, count), within)


TRAINED = 5_000  # rows at most

KINDS = {
    "forest": ("sklearn", lambda m: m.RandomForestClassifier(25, max_depth=8, random_state=0)),
    "boosting": ("sklearn", lambda m: m.GradientBoostingClassifier(n_estimators=25, random_state=0)),
    "hist boosting": ("sklearn", lambda m: m.HistGradientBoostingClassifier(max_iter=25, max_leaf_nodes=16)),
    "xgboost": ("xgboost", lambda m: m.XGBClassifier(n_estimators=25, max_depth=4, n_jobs=1)),
    "lightgbm": ("lightgbm", lambda m: m.LGBMClassifier(n_estimators=25, num_leaves=16, n_jobs=1, verbose=-1)),
}


def lengths(rules):
    return [len(rules.conjunction(row)) for row in range(len(rules))]


def broken(sets, rows, points):
    """One line per kind: reasons on all data sets, and random rows inside them that get another prediction."""
    for name, (library, make) in KINDS.items():
        if is_missing(library):
            continue
        module = importlib.import_module("sklearn.ensemble" if library == "sklearn" else library)
        conditions, tried, wrong = [], 0, 0
        for data in sets.values():
            model = make(module).fit(data.train[:TRAINED], data.y_train[:TRAINED])
            X = data.test[:rows]
            rules = fs.explainers.SufficientReason(model).explain(X)
            wrong += points_inside(model, rules, X, data.train, points, missing=name != "boosting")
            tried += points * len(X)
            conditions += lengths(rules)
        yield {"model": name, "conditions": np.mean(conditions), "points": tried, "violations": wrong}


PRICED = ("heart", "bank", "adult")
MARKS = {
    "tree path": (LIGHT["chance"], "circle"),
    "anchor": (LIGHT["consistency"], "circle"),
    "sufficient reason": (LIGHT["sufficiency"], "circle"),
}
PICTURE = HERE.parent / "docs" / "images" / "sufficient-reasons.svg"


def draw(table):
    """Coverage against the number of conditions, one panel per data set; the precision stands beside each dot."""
    # A share is 1 only if it is exactly 1.
    precise = ["always" if line["precision"] == 1 else f"{min(line['precision'], 0.999):.3f}" for line in table]
    rows = [{**line, "by": line["explainer"], "told": told} for line, told in zip(table, precise, strict=True)]
    chart = alt.Chart().encode(
        *marked(MARKS)[:1],
        x=alt.X("conditions:Q", title="conditions per rule", scale=alt.Scale(domain=[0, 14])),
        y=alt.Y("coverage:Q", title="share of rows covered", scale=alt.Scale(type="log"), axis=alt.Axis(format=".2~%")),
    )
    dots, texts = chart.mark_point(filled=True, size=110, opacity=1), chart.encode(text="told:N")
    left = texts.mark_text(align="right", dx=-9, fontSize=12).transform_filter("datum.explainer == 'anchor'")
    right = texts.mark_text(align="left", dx=9, fontSize=12).transform_filter("datum.explainer != 'anchor'")
    told = "Mean length and coverage of rules; beside each dot, the share of covered rows that keep the prediction."
    save_panels([dots, left, right], rows, "data", PICTURE, "The price of certainty", told, width=290, height=230)


def prices(data, rows):
    """Mean length, coverage and precision, on other real rows, of the rules of three explainers."""
    model, X, others = fitted(data), data.test[:rows], data.test[:20_000]
    train, agree = data.train[:5_000], model.predict(others) == model.predict(X)[:, None]
    explainers = {
        "tree path": fs.explainers.TreePath.surrogate(model, train, max_leaf_nodes=16),
        "anchor": fs.explainers.Anchors(model, train, beam=1),
        "sufficient reason": fs.explainers.SufficientReason(model),
    }
    for name, explainer in explainers.items():
        rules = explainer.explain(X)
        covered = np.array([covers(rules, row, others) for row in range(len(X))])
        total, hits = covered.sum(axis=1), (covered & agree).sum(axis=1)
        yield {
            "data": data.name,
            "explainer": name,
            "conditions": np.mean(lengths(rules)),
            "coverage": covered.mean(),
            "precision": np.mean(hits[total > 0] / total[total > 0]),
        }


def show(table):
    """A table as text."""
    print(pd.DataFrame(table).to_string(index=False, float_format="{:.4g}".format), "\n", flush=True)


if __name__ == "__main__":
    asked = options(__doc__, rows=100, points=1_700, picture=False)
    folder = Path(os.environ["FAITHSCOPE_DATA"])
    sets = {name: split(name, folder) for name in NAMES}
    print(describe_machine(["sklearn", "xgboost", "lightgbm"]), "\n")
    show(list(broken(sets, asked.rows, asked.points)))
    table = [line for name in PRICED for line in prices(sets[name], asked.rows)]
    show(table)
    if asked.picture:
        draw(table)
