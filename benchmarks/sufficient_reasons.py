"""Sufficient reasons: are they sufficient, what do they cost, and how fast are they beside PyXAI?

    python benchmarks/sufficient_reasons.py             # all parts; about ten minutes
    python benchmarks/sufficient_reasons.py --rows 20   # fewer rows of the data sets
    python benchmarks/sufficient_reasons.py --picture   # writes docs/images/sufficient-reasons.svg too

FAITHSCOPE_DATA names the folder that holds the paper's data sets. Models are XGBoost's, trained on two thirds of the
rows of each data set; reasons are of rows that they have not seen. Random rows inside the rules are tried for every
kind of model that can be read, trained on 5,000 rows. PyXAI explains the same boosted trees of Adult by
its tree-specific reasons, and its `is_implicant` is asked about ours; both are timed in the same run.
"""

import contextlib
import importlib
import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

import faithscope as fs
from faithscope.charts.theme import LIGHT, theme
from faithscope.reproduce.models.splits import NAMES, Split, split
from for_whom import covers, fitted
from ratios import clock, describe_machine, is_missing, options


def points_inside(model: Any, rules: Any, X: np.ndarray, train: np.ndarray, count: int, *, missing: bool = True) -> int:
    """How many of `count` random rows inside each rule get another prediction than the row explained.

    One value in ten is missing, if the model takes missing values.
    """
    rng, wrong = np.random.default_rng(0), 0
    for row, label in enumerate(model.predict(X)):
        points = train[rng.integers(len(train), size=(count, train.shape[1])), np.arange(train.shape[1])]
        points = np.where(missing & (rng.random(points.shape) < 0.1), np.nan, points)
        for condition in rules.conjunction(row):
            points[:, condition.position] = _values(condition, count, rng)
        wrong += int(np.sum(model.predict(points) != label))
    return wrong


def _values(condition: Any, count: int, rng: np.random.Generator) -> np.ndarray:
    first = np.nextafter(condition.low, np.inf) if np.isfinite(condition.low) else min(condition.high, 0.0) - 100
    last = condition.high if np.isfinite(condition.high) else max(first, 0.0) + 100
    ends = [first, last, min(last, np.nextafter(first, np.inf)), max(first, np.nextafter(last, -np.inf))]
    within = np.clip(rng.uniform(first, last, count), first, last)
    return np.where(rng.random(count) < 0.5, rng.choice(ends, count), within)


TRAINED = 5_000  # rows at most

KINDS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "forest": ("sklearn", lambda m: m.RandomForestClassifier(25, max_depth=8, random_state=0)),
    "boosting": ("sklearn", lambda m: m.GradientBoostingClassifier(n_estimators=25, random_state=0)),
    "hist boosting": ("sklearn", lambda m: m.HistGradientBoostingClassifier(max_iter=25, max_leaf_nodes=16)),
    "xgboost": ("xgboost", lambda m: m.XGBClassifier(n_estimators=25, max_depth=4, n_jobs=1)),
    "lightgbm": ("lightgbm", lambda m: m.LGBMClassifier(n_estimators=25, num_leaves=16, n_jobs=1, verbose=-1)),
}


def broken(sets: Mapping[str, Split], rows: int, points: int) -> Iterator[dict[str, Any]]:
    """One line per kind: reasons on all data sets, and random rows inside them that get another prediction."""
    for name, (library, make) in KINDS.items():
        if is_missing(library):
            continue
        module = importlib.import_module("sklearn.ensemble" if library == "sklearn" else library)
        lengths, tried, wrong = [], 0, 0
        for data in sets.values():
            model = make(module).fit(data.train[:TRAINED], data.y_train[:TRAINED])
            X = data.test[:rows]
            rules = fs.explainers.SufficientReason(model).explain(X)
            wrong += points_inside(model, rules, X, data.train, points, missing=name != "boosting")
            tried += points * len(X)
            lengths += [len(rules.conjunction(row)) for row in range(len(X))]
        yield {"model": name, "conditions": float(np.mean(lengths)), "points": tried, "violations": wrong}


ROWS = 20
HOLDS = {
    "LT": lambda low, high, t: np.float32(high) < np.float32(t),
    "LE": lambda low, high, t: np.float32(high) <= np.float32(t),
    "GE": lambda low, high, t: np.float32(low) >= np.float32(t),
    "GT": lambda low, high, t: np.float32(low) > np.float32(t),
}


def against_pyxai(data: Split) -> str:
    """One line; the reason if PyXAI is not installed, or its own machine code is not."""
    sys.argv = sys.argv[:1]  # PyXAI reads the options of whoever imports it
    try:
        from pyxai import Explaining, Learning, Tools
    except ImportError as problem:
        return f"PyXAI is left out: {problem}"
    Tools.set_verbose(0)
    frame = data.frame(data.train[:4_000]).assign(label=data.y_train[:4_000])
    with contextlib.redirect_stdout(io.StringIO()):
        learner = Learning.Xgboost(
            frame, problem_type="classification", instances_type="tabular", labels_type="classes"
        )
        converted = learner.evaluate(
            splitting_method=Learning.HOLD_OUT,
            model_type=Learning.BT,
            model_parameters={"n_estimators": 100, "max_depth": 6},
        )
        model, explainer = learner.get_raw_models()[0], Explaining.initialize(converted)
    X = data.test[:ROWS]
    ours, rules = clock(lambda: fs.explainers.SufficientReason(model).explain(X))
    theirs, agree, lengths = 0.0, 0, []
    for row in range(ROWS):
        explainer.set_instance(data.frame(X).iloc[row])
        seconds, reason = clock(explainer.tree_specific_reason)
        theirs += seconds / ROWS
        lengths.append(len(explainer.to_features(reason, details=True)))
        agree += bool(explainer.is_implicant(_literals(explainer, rules, row, data.names)))
    ours /= ROWS
    return (
        f"PyXAI, {ROWS} rows of adult, 100 trees of depth 6: {1000 * theirs:.1f} ms per row, ours {1000 * ours:.1f} ms "
        f"({theirs / ours:.1f}x); features per reason {np.mean(lengths):.1f}, ours {length(rules):.1f}; PyXAI takes "
        f"{agree} of our {ROWS} reasons for implicants"
    )


def _literals(explainer: Any, rules: Any, row: int, names: tuple[str, ...]) -> list[int]:
    """The literals of a row that its rule implies."""
    by_name = {condition.feature: condition for condition in rules.conjunction(row)}
    implied = []
    for literal in explainer.binary_representation:
        parts = explainer.to_features([literal], details=True)
        for name, (detail, *_) in parts.items():
            condition = by_name.get(names[int(name[1:])] if name not in names else name)
            if condition is not None:
                low = np.nextafter(condition.low, np.inf) if np.isfinite(condition.low) else -np.inf
                operator = getattr(detail["operator_sign_considered"], "value", detail["operator_sign_considered"])
                if HOLDS[str(operator)](low, condition.high, detail["threshold"]):
                    implied.append(literal)
    return implied


COLORS = dict(zip(("tree path", "anchor", "sufficient reason"), ("chance", "consistency", "sufficiency"), strict=True))


def draw(table: list[dict[str, Any]], path: Path) -> None:
    """Coverage against the number of conditions, one picture per data set; the precision stands beside each dot."""
    rows = []
    for line in table:
        # The place of a dot among those of its data set, from above; a share is 1 only if it is exactly 1.
        place = sum(each["data"] == line["data"] and each["coverage"] > line["coverage"] for each in table)
        share = "always" if line["precision"] == 1 else f"{min(line['precision'], 0.999):.3f}"
        rows.append({**line, "place": place, "told": f"{line['explainer']}: {share}"})
    names, colors = list(COLORS), [LIGHT[name] for name in COLORS.values()]
    chart = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("conditions:Q", title="conditions per rule", scale=alt.Scale(domain=[0, 14])),
        y=alt.Y("coverage:Q", title="share of rows covered", scale=alt.Scale(type="log"), axis=alt.Axis(format=".2~%")),
    )
    color = alt.Color("explainer:N", sort=names, scale=alt.Scale(domain=names, range=colors), legend=None)
    layers = [chart.mark_point(filled=True, size=110, opacity=1).encode(color=color)]
    for place, down in enumerate((-8, 8, 0)):  # the upper two dots may lie close to each other
        text = chart.mark_text(align="left", dx=9, dy=down, fontSize=12, color=LIGHT["ink"]).encode(text="told:N")
        layers.append(text.transform_filter(alt.datum.place == place))
    panels = [
        alt.layer(*layers).transform_filter(alt.datum.data == name).properties(width=290, height=230, title=name)
        for name in dict.fromkeys(line["data"] for line in table)
    ]
    told = "Mean length and coverage of rules; beside each dot, the share of covered rows that keep the prediction."
    title = alt.Title("The price of certainty", subtitle=told)
    alt.hconcat(*panels).properties(title=title).configure(**theme(LIGHT)).save(path)
    print(path.name)


Table = list[dict[str, Any]]
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "sufficient-reasons.svg"


def on_real_rows(
    rules: Any, predicted: np.ndarray, others: np.ndarray, known: np.ndarray
) -> tuple[dict[str, float], np.ndarray, np.ndarray]:
    """Mean length and coverage of rules; how many other rows each covers, and how many of them keep the prediction."""
    covered = np.array([covers(rules, row, others) for row in range(len(rules))])
    hits = (covered & (known == predicted[:, None])).sum(axis=1)
    return {"conditions": length(rules), "coverage": float(covered.mean())}, covered.sum(axis=1), hits


def length(rules: Any) -> float:
    """Conditions per rule."""
    return float(np.mean([len(rules.conjunction(row)) for row in range(len(rules))]))


def sufficient(data: Split, rows: int, points: int) -> dict[str, Any]:
    """Reasons of one data set, on real rows and on random ones inside the rules."""
    model = fitted(data)
    X, others = data.test[:rows], data.test[:20_000]
    seconds, rules = clock(lambda: fs.explainers.SufficientReason(model).explain(X))
    predicted = model.predict(X)
    shape, covered, hits = on_real_rows(rules, predicted, others, model.predict(others))
    return {
        "data": data.name,
        "classes": len(data.classes),
        **shape,
        "verified": fs.sufficiency(rules, predicted, X).verified,
        "pairs": int(covered.sum()),
        "wrong": int(covered.sum() - hits.sum()),
        "points": points * len(X),
        "violations": points_inside(model, rules, X, data.train, points),
        "ms per row": 1000 * seconds / len(X),
    }


def prices(data: Split, rows: int) -> Table:
    """Length, coverage and precision of the rules of three explainers."""
    model, X, others = fitted(data), data.test[:rows], data.test[:20_000]
    train, predicted, known = data.train[:5_000], model.predict(X), model.predict(others)
    explainers = {
        "tree path": fs.explainers.TreePath.surrogate(model, train, max_leaf_nodes=16),
        "anchor": fs.explainers.Anchors(model, train, beam=1),
        "sufficient reason": fs.explainers.SufficientReason(model),
    }
    table = []
    for name, explainer in explainers.items():
        shape, total, hits = on_real_rows(explainer.explain(X), predicted, others, known)
        precision = float(np.mean(hits[total > 0] / total[total > 0]))
        table.append({"data": data.name, "explainer": name, **shape, "precision": precision})
    return table


def speed(data: Split) -> str:
    """1,000 rows of Adult, 100 trees."""
    model = fitted(data, 100, 6)
    seconds, _ = clock(lambda: fs.explainers.SufficientReason(model).explain(data.test[:1_000]))
    return f"1,000 rows of adult, 100 trees of depth 6: {seconds:.1f} s (bar: 60 s)"


def show(table: Table) -> None:
    """A table as text."""
    print("  ".join(f"{name:>17}" for name in table[0]))
    for line in table:
        cells = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in line.values()]
        print("  ".join(f"{cell:>17}" for cell in cells))
    print(flush=True)


def main() -> None:
    """All parts."""
    asked = options(__doc__, rows=100, points=1_700, picture=False)
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
