"""Sufficient reasons: are they sufficient, what do they cost, and how fast are they beside PyXAI?

    python benchmarks/sufficient_reasons.py             # all parts; about ten minutes
    python benchmarks/sufficient_reasons.py --rows 20   # fewer rows of the data sets
    python benchmarks/sufficient_reasons.py --picture   # writes docs/images/sufficient-reasons.svg too

FAITHSCOPE_DATA names the folder that holds the paper's data sets. Models are XGBoost's, trained on two thirds of the
rows of each data set; reasons are of rows that they have not seen. Random rows inside the rules are tried for every
kind of model that can be read, trained on 5,000 rows. PyXAI explains the same boosted trees of Adult by
its tree-specific reasons, and its `is_implicant` is asked about ours; both are timed in the same run.
"""

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import xgboost

import faithscope as fs
from faithscope.reproduce.models.splits import NAMES, Split, split
from ratios import describe_machine
from sufficient_reasons_drawn import draw
from sufficient_reasons_kinds import broken
from sufficient_reasons_points import points_inside
from sufficient_reasons_pyxai import against_pyxai

Table = list[dict[str, Any]]
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "sufficient-reasons.svg"


def fitted(data: Split, trees: int, depth: int) -> xgboost.XGBClassifier:
    """Boosted trees of a data set, trained on 20,000 rows at most."""
    return xgboost.XGBClassifier(n_estimators=trees, max_depth=depth, n_jobs=2).fit(
        data.train[:20_000], data.y_train[:20_000]
    )


def masks(rules: Any, rows: np.ndarray) -> np.ndarray:
    """Which rows each rule covers: (rules, rows)."""
    everything = np.ones(len(rows), bool)
    return np.array(
        [np.logical_and.reduce([everything, *rules.holds(rules.conjunction(row), rows)]) for row in range(len(rules))]
    )


def sufficient(data: Split, rows: int, points: int) -> dict[str, Any]:
    """Reasons of one data set, on real rows and on random ones inside the rules."""
    model = fitted(data, 25, 4)
    X, others = data.test[:rows], data.test[:20_000]
    began = time.perf_counter()
    rules = fs.explainers.SufficientReason(model).explain(X)
    seconds = time.perf_counter() - began
    predicted, known = model.predict(X), model.predict(others)
    covered = masks(rules, others)
    wrong = sum(int(np.sum(known[mask] != label)) for mask, label in zip(covered, predicted, strict=True))
    estimate = fs.sufficiency(rules, predicted, X)
    return {
        "data": data.name,
        "classes": len(data.classes),
        "conditions": float(np.mean([len(rules.conjunction(row)) for row in range(len(X))])),
        "coverage": float(covered.mean()),
        "verified": estimate.verified,
        "pairs": int(covered.sum()),
        "wrong": wrong,
        "points": points * len(X),
        "violations": points_inside(model, rules, X, data.train, points),
        "ms per row": 1000 * seconds / len(X),
    }


def prices(data: Split, rows: int) -> Table:
    """Length, coverage and precision of the rules of three explainers."""
    model, X, others = fitted(data, 25, 4), data.test[:rows], data.test[:20_000]
    train = data.train[:5_000]
    explainers = {
        "tree path": fs.explainers.TreePath.surrogate(model, train, max_leaf_nodes=16),
        "anchor": fs.explainers.Anchors(model, train, beam=1),
        "sufficient reason": fs.explainers.SufficientReason(model),
    }
    table, predicted, known = [], model.predict(X), model.predict(others)
    for name, explainer in explainers.items():
        rules = explainer.explain(X)
        covered = masks(rules, others)
        hits = np.array([np.sum(known[mask] == label) for mask, label in zip(covered, predicted, strict=True)])
        total = covered.sum(axis=1)
        precision = float(np.mean((hits / np.maximum(total, 1))[total > 0]))
        lengths = [len(rules.conjunction(row)) for row in range(len(X))]
        table.append(
            {
                "data": data.name,
                "explainer": name,
                "conditions": float(np.mean(lengths)),
                "coverage": float(covered.mean()),
                "precision": precision,
            }
        )
    return table


def speed(data: Split) -> str:
    """1,000 rows of Adult, 100 trees."""
    model = fitted(data, 100, 6)
    began = time.perf_counter()
    fs.explainers.SufficientReason(model).explain(data.test[:1_000])
    return f"1,000 rows of adult, 100 trees of depth 6: {time.perf_counter() - began:.1f} s (bar: 60 s)"


def show(table: Table) -> None:
    """A table as text."""
    print("  ".join(f"{name:>17}" for name in table[0]))
    for line in table:
        cells = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in line.values()]
        print("  ".join(f"{cell:>17}" for cell in cells))
    print(flush=True)


def main() -> None:
    """All parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100, help="rows explained of each data set")
    parser.add_argument("--points", type=int, default=1_700, help="random rows inside each rule")
    parser.add_argument("--picture", action="store_true")
    asked = parser.parse_args()
    folder = Path(os.environ["FAITHSCOPE_DATA"])
    sets = {name: split(name, folder) for name in NAMES}
    print(describe_machine(["sklearn", "xgboost", "lightgbm", "pyxai"]), "\n")
    lines = [sufficient(data, asked.rows, asked.points) for data in sets.values()]
    show(lines)
    total = sum(line["points"] for line in lines)
    print(f"violations among {total:,} random rows inside the rules: {sum(line['violations'] for line in lines)}\n")
    show(list(broken(sets, asked.rows, asked.points)))
    table = [line for name in ("heart", "bank", "adult") for line in prices(sets[name], asked.rows)]
    show(table)
    if asked.picture:
        draw(table, PICTURE)
    print(speed(sets["adult"]), "\n", flush=True)
    print(against_pyxai(sets["adult"]))


if __name__ == "__main__":
    main()
