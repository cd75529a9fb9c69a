"""Sufficient for whom? The same explanations on five populations of inputs, for the paper's data sets.

    python benchmarks/for_whom.py             # twenty minutes, most of it anchor-exp's
    python benchmarks/for_whom.py --quick     # a minute: fewer rows, three data sets, no anchor-exp
    python benchmarks/for_whom.py --json benchmarks/results/for_whom.json --plot docs/images/sufficient-for-whom.svg
    python benchmarks/for_whom.py --read benchmarks/results/for_whom.json --plot docs/images/sufficient-for-whom.svg

FAITHSCOPE_DATA names the folder that holds the data sets. The model of each is XGBoost's, 25 rounds of trees of depth
4, trained on 20,000 rows at most; explained are rows that it has not seen. Populations draw from 5,000 training rows.

real        the other rows that were explained (fs.RealRows)
nearest     the row, with what is not fixed from its 50 nearest training rows that the rule covers (fs.Conditional)
perturbed   training rows made to meet the rule, as Anchors does (fs.Perturbed), 100 per row
product     every feature drawn by itself from training rows (fs.Product), 100 per row
uniform     points drawn evenly between the ends of each feature (fs.drawn), 100 per row

A cell is the share of inputs under a row's rule that keep the row's prediction, among rows that can be checked, and the
95% interval, which allows for rows that cannot. "broken" is the share of rows under whose rule any of all these inputs
gets another prediction: a lower limit of how many rules do not hold for all points.
"""

import importlib
import io
import json
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xgboost
from scipy.stats import t as student

import faithscope as fs
from explained import AnchorExp, quarters
from faithscope.charts.theme import LIGHT, theme
from faithscope.reproduce.models.splits import NAMES, Split, split
from ratios import describe_machine, is_missing, options

THRESHOLDS = (0.5, 0.8, 0.95)
TOP = 3  # features of LIME's that make a box
LEAVES = 16  # of the tree that is fitted to the model


def explained(model: Any, train: np.ndarray, X: np.ndarray, categorical: tuple[int, ...]) -> dict[str, fs.Rules]:
    """The rules of each explainer for the same rows of the same model."""
    anchors = fs.explainers.Anchors(model, train, beam=1, categorical=categorical).explain_at(X, THRESHOLDS)
    return {
        "LIME's top 3": lime_boxes(model, train, X, categorical),
        "tree path": fs.explainers.TreePath.surrogate(model, train, max_leaf_nodes=LEAVES).explain(X),
        **{f"anchor {threshold}": rules for threshold, rules in anchors.items()},
        "formal reason": fs.explainers.SufficientReason(model).explain(X),
    }


def lime_boxes(model: Any, train: np.ndarray, X: np.ndarray, categorical: tuple[int, ...]) -> fs.Rules:
    """The row's quarter, or category, of each of the three features that LIME finds most important."""
    weights = fs.explainers.Lime(model, train, categorical=categorical).explain(X).values
    per_class = weights.reshape(len(X), -1, X.shape[1])  # of two classes there is one vector, of more one per class
    weights = per_class[np.arange(len(X)), model.predict(X) if per_class.shape[1] > 1 else 0]
    top = np.argsort(-np.abs(weights), axis=1, kind="stable")[:, :TOP]
    edges, boxes = [quarters(column) for column in train.T], []
    for row, features in zip(X, top.tolist(), strict=True):
        boxes.append([])
        for j in sorted(features):
            place = int(np.searchsorted(edges[j], row[j]))
            if j in categorical:
                boxes[-1].append((f"x{j}", "==", float(row[j])))
                continue
            if place:
                boxes[-1].append((f"x{j}", ">", float(edges[j][place - 1])))
            if place < len(edges[j]):
                boxes[-1].append((f"x{j}", "<=", float(edges[j][place])))
    return fs.Rules.from_conditions(boxes, features=[f"x{j}" for j in range(X.shape[1])])


def covers(rules: fs.Rules, row: int, others: np.ndarray) -> np.ndarray:
    """Which rows the rule of one row covers."""
    return np.logical_and.reduce([np.ones(len(others), bool), *rules.holds(rules.conjunction(row), others)])


def uniform_points(
    rules: fs.Rules, X: np.ndarray, train: np.ndarray, categorical: tuple[int, ...], draws: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Points drawn evenly inside the rule of each row, (n · draws, d), and the row of each.

    A number lies anywhere between the least and the largest of training, also between whole numbers; a category is any
    that training has. If a rule leaves no such value of a feature, the row keeps its own.
    """
    known = {j: np.unique(train[:, j]) for j in categorical}
    ends, points = list(zip(train.min(axis=0), train.max(axis=0), strict=True)), []
    for row, (own, rule) in enumerate(zip(X, rules.to_conditions(), strict=True)):
        rng, columns = np.random.default_rng([seed, row]), []
        for j, feature in enumerate(rules.features):
            tests = [(operator, value) for name, operator, value in rule if name == feature]
            columns.append(_inside(tests, own[j], known.get(j), *ends[j], rng, draws))
        points.append(np.column_stack(columns))
    return np.concatenate(points), np.repeat(np.arange(len(X)), draws)


def _inside(
    tests: list[Any],
    own: float,
    known: np.ndarray | None,
    first: float,
    last: float,
    rng: np.random.Generator,
    draws: int,
) -> np.ndarray:
    """Values of one feature, all of which pass the tests."""
    above = max((value for operator, value in tests if operator == ">"), default=-np.inf)
    below = min((value for operator, value in tests if operator == "<="), default=np.inf)
    equal = [value for operator, value in tests if operator == "=="]
    if strange := {operator for operator, _ in tests} - {">", "<=", "=="}:
        raise ValueError(f"No values are drawn for conditions with {sorted(strange)}.")
    if known is not None or equal:
        values = np.array(equal[:1] if known is None else known)
        values = values[(values > above) & (values <= below) & np.isin(values, equal or values)]
        return rng.choice(values if len(values) else [own], draws)
    low, high = max(first, np.nextafter(above, np.inf)), min(last, below)
    return rng.uniform(low, high, draws) if low <= high else np.full(draws, own)


DRAWS = 1_000  # per row: ours, and new ones of anchor-exp's own


def against_anchor_exp(data: Split, model: Any, X: np.ndarray, train: np.ndarray, threshold: float) -> dict[str, Any]:
    """Claimed and measured precision of anchor-exp's rules: means over rows, and differences row by row.

    "claimed" is what anchor-exp returns with a rule, "fresh" the precision of new draws by its own function under the
    finished rule.
    """
    rival = importlib.import_module("anchor.anchor_tabular").AnchorTabularExplainer
    words = {j: list(data.categories[j] or ()) for j in data.categorical}
    package = AnchorExp(train, rival(list(data.classes), list(data.names), train, words), threshold)
    conditions, *own = package.explain_with_fresh_precision(X, model.predict, DRAWS)
    rules = fs.Rules.from_conditions(conditions, features=data.names)
    perturbed = fs.sufficiency(rules, model, X, population=fs.Perturbed(train, draws=DRAWS))
    others = np.array([row for row in data.test if not (row == X).all(axis=1).any()])
    real = fs.sufficiency(rules, model.predict(X), population=among(rules, others, model.predict(others)))
    measured = {"perturbed": perturbed, "real": real}
    claims = dict(zip(CLAIMS, map(np.array, own), strict=True))
    return {
        "data": data.name,
        "rows": len(X),
        "witnesses": len(others),
        "threshold": threshold,
        "empty": sum(not rule for rule in conditions),
        **{name: float(claim.mean()) for name, claim in claims.items()},
        **{name: told(estimate) for name, estimate in measured.items()},
        "apart": {
            f"{claim} - {name}": difference(claims[claim], estimate)
            for claim in claims
            for name, estimate in measured.items()
        },
    }


def difference(claims: np.ndarray, estimate: fs.Estimate) -> dict[str, Any]:
    """The mean of claimed less measured over the rows that can be checked, and its 95% interval by Student's t."""
    checked = estimate.counts.others > 0
    gaps = claims[checked] - estimate.counts.values[checked]
    margin = float(student.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / np.sqrt(len(gaps)))
    return {"mean": float(gaps.mean()), "low": gaps.mean() - margin, "high": gaps.mean() + margin, "rows": len(gaps)}


def among(rules: fs.Rules, others: np.ndarray, predictions: np.ndarray) -> Any:
    """All of some other real rows that each rule covers, as a population."""
    covered = [np.flatnonzero(covers(rules, row, others)) for row in range(len(rules))]
    of = np.repeat(np.arange(len(rules)), [len(rows) for rows in covered])
    witnesses = np.concatenate(covered)
    return fs.drawn(rules, others[witnesses], predictions[witnesses], of=of)


def told(estimate: fs.Estimate) -> dict[str, Any]:
    """What is kept of an estimate."""
    return {name: getattr(estimate, name) for name in ("verified", "low", "high", "unverifiable", "n")}


# Every population has a color and a shape, so that either is enough to tell it.
MARKS = {
    "real": (LIGHT["ink"], "circle"),
    "nearest": (LIGHT["consistency"], "triangle-up"),
    "perturbed": (LIGHT["sufficiency"], "square"),
    "product": (LIGHT["faithful"], "diamond"),
    "uniform": (LIGHT["chance"], "cross"),
}
_COLUMNS = 3


def draw(lines: list[dict[str, Any]], path: Path) -> None:
    """One panel per data set, one row per explanation, one mark per population; PNG or SVG, by the name of the file."""
    import altair as alt

    sets = list(dict.fromkeys(line["data"] for line in lines))
    panels = [_panel(alt, lines, name, first=place % _COLUMNS == 0) for place, name in enumerate(sets)]
    told = (
        "Share of inputs under a row's rule that keep the row's prediction, on five populations. "
        "Bars are 95% intervals; they are long if few inputs are under a rule."
    )
    title = alt.Title("Sufficient for whom?", subtitle=told, offset=14)
    legend = {"labelFontSize": 12, "titleFontSize": 12, "labelColor": LIGHT["ink"], "titleColor": LIGHT["ink"]}
    chart = alt.concat(*panels, columns=_COLUMNS, spacing=18).properties(title=title)
    chart = chart.configure(**theme(LIGHT) | {"legend": legend})
    if path.suffix != ".svg":
        chart.save(path, scale_factor=2)
        return
    drawn = io.StringIO()
    chart.save(drawn, format="svg")
    path.write_text(re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.1f}", drawn.getvalue()))


def _panel(alt: Any, lines: list[dict[str, Any]], name: str, *, first: bool) -> Any:
    """One data set; only the first panel of a row names the explanations."""
    chosen = [line for line in lines if line["data"] == name]
    rows = [
        {"explanation": line["explanation"], "population": population, **line[population]}
        for line in chosen
        for population in MARKS
    ]
    axis = alt.Axis(
        labelFontSize=12, labelPadding=8, ticks=False, labels=first, domain=False, grid=True, bandPosition=0
    )
    names, across = list(MARKS), alt.Scale(domain=[0, 1])
    colors, shapes = (alt.Scale(domain=names, range=list(values)) for values in zip(*MARKS.values(), strict=True))
    color = alt.Color("population:N", title="inputs are", scale=colors)
    order = [line["explanation"] for line in chosen]
    chart = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("explanation:N", sort=order, title=None, axis=axis, scale=alt.Scale(paddingInner=0.25)),
        yOffset=alt.YOffset("population:N", sort=names, scale=alt.Scale(domain=names)),
        color=color,
    )
    bars = chart.mark_rule(strokeWidth=1.5, opacity=0.55).encode(x=alt.X("low:Q", scale=across), x2="high:Q")
    shape = alt.Shape("population:N", title="inputs are", scale=shapes)
    dots = chart.mark_point(filled=True, size=42, opacity=1).transform_filter("datum.verified !== null")
    dots = dots.encode(x=alt.X("verified:Q", title=None, scale=across), shape=shape)
    return (bars + dots).properties(width=215, height=300, title=f"{name}, {chosen[0]['rows']} rows")


POPULATIONS = tuple(MARKS)
TRAINED, DRAWN_FROM = 20_000, 5_000  # training rows
ANCHORED = {"heart": 50, "bank": 150, "adult": 200}  # rows that anchor-exp explains; other test rows are the real ones
CLAIMS = ("claimed", "fresh")  # by anchor-exp: what it returns, and new draws of its own
QUICK = ("heart", "bank", "adult")


def fitted(data: Split, trees: int = 25, depth: int = 4) -> xgboost.XGBClassifier:
    """Boosted trees of a data set."""
    trees = xgboost.XGBClassifier(n_estimators=trees, max_depth=depth, n_jobs=2)
    return trees.fit(data.train[:TRAINED], data.y_train[:TRAINED])


def populations(
    rules: fs.Rules, model: Any, train: np.ndarray, X: np.ndarray, categorical: tuple[int, ...], draws: int
) -> Iterator[tuple[str, Any]]:
    """The five populations, by name."""
    yield "real", fs.RealRows()
    yield "nearest", fs.Conditional(train)
    yield "perturbed", fs.Perturbed(train, draws=draws)
    yield "product", fs.Product(train, draws=draws)
    points, of = uniform_points(rules, X, train, categorical, draws)
    yield "uniform", fs.drawn(rules, points, model, of=of)


def measured(
    model: Any, train: np.ndarray, X: np.ndarray, categorical: tuple[int, ...] = (), draws: int = 100
) -> Iterator[dict[str, Any]]:
    """One line per explainer: what its rules reach on every population."""
    for name, rules in explained(model, train, X, categorical).items():
        line: dict[str, Any] = {
            "explanation": name,
            "conditions": float(np.mean(list(map(len, rules.to_conditions())))),
        }
        broken = np.zeros(len(X), bool)
        for population, chosen in populations(rules, model, train, X, categorical, draws):
            estimate = fs.sufficiency(rules, model, X, population=chosen)
            line[population] = told(estimate)
            broken |= breaks(rules, model, X, estimate, population)
        yield line | {"broken": float(broken.mean())}


def breaks(rules: fs.Rules, model: Any, X: np.ndarray, estimate: fs.Estimate, population: str) -> np.ndarray:
    """Under whose rule any input of the population gets another prediction."""
    if population != "real":
        return np.asarray(estimate.counts.agreeing < estimate.counts.others)
    labels = model.predict(X)
    return np.array([(labels[covers(rules, row, X)] != label).any() for row, label in enumerate(labels)])


def shown(cell: dict[str, Any]) -> str:
    """A share, and its interval, whose ends are rounded outward."""
    share = "–" if cell["verified"] is None else digits(cell["verified"], 3)
    low, high = math.floor(100 * cell["low"] + 1e-9) / 100, math.ceil(100 * cell["high"] - 1e-9) / 100
    return f"{share:4} {digits(low, 2)}–{digits(high, 2)}"


def digits(share: float, places: int) -> str:
    """A share without its leading 0; 1 only if it is exactly 1, else rounded down at worst."""
    return "1" if share == 1 else f"{min(share, 1 - 10.0**-places):.{places}f}".lstrip("0")


def header() -> str:
    return f"{'':7} {'':13} " + " ".join(f"{name:12}" for name in POPULATIONS) + " broken"


def line_of(line: dict[str, Any]) -> str:
    cells = " ".join(f"{shown(line[name]):12}" for name in POPULATIONS)
    return f"{line['data']:7} {line['explanation']:13} {cells} {line['broken']:6.0%}"


def compared(line: dict[str, Any]) -> str:
    """What anchor-exp says of its rules, beside perturbed and real rows."""
    parts = [f"claimed {digits(line['claimed'], 3)}", f"fresh {digits(line['fresh'], 3)}"]
    parts += [f"{name} {shown(line[name])}" for name in ("perturbed", "real")]
    return f"{line['data']:5} {line['threshold']:<4} " + "  ".join(parts)


GAPS = [f"{claim} - {name}" for name in ("perturbed", "real") for claim in CLAIMS]


def gaps_header() -> str:
    return f"{'':10} " + " ".join(f"{name:21}" for name in GAPS).rstrip()


def gaps(line: dict[str, Any]) -> str:
    """How far what anchor-exp says lies from what was measured, row by row."""
    cells = " ".join(signed(line["apart"][name]) for name in GAPS)
    return f"{line['data']:5} {line['threshold']:<4} " + cells.rstrip()


def signed(gap: dict[str, Any]) -> str:
    """A difference, and its interval, whose ends are rounded outward; a star if 0 lies outside."""
    ends = math.floor(1000 * gap["low"]) / 1000, math.ceil(1000 * gap["high"]) / 1000
    mean, low, high = (f"{value:+.3f}".replace("0.", ".", 1) for value in (gap["mean"], *ends))
    return f"{mean}{'*' if gap['low'] > 0 or gap['high'] < 0 else ' '} [{low}, {high}]"


def apart(lines: list[dict[str, Any]]) -> str:
    """How often another population than the real rows gives another answer; formal reasons are left out."""
    lines = [line for line in lines if line["explanation"] != "formal reason"]
    told = []
    for name in POPULATIONS[1:]:
        pairs = [(line["real"], line[name]) for line in lines]
        above = sum(other["low"] > real["high"] for real, other in pairs)
        below = sum(other["high"] < real["low"] for real, other in pairs)
        told.append(f"{name} {above} above and {below} below")
    return f"of {len(lines)} intervals, apart from that of real rows: {'; '.join(told)}"


def study(names: tuple[str, ...], rows: int, anchored: dict[str, int]) -> dict[str, Any]:
    """All lines, printed as they come."""
    folder, lines, claims = Path(os.environ["FAITHSCOPE_DATA"]), [], []
    print(header(), flush=True)
    for name in names:
        data = split(name, folder)
        model, train, X = fitted(data), data.train[:DRAWN_FROM], data.test[:rows]
        for line in measured(model, train, X, data.categorical):
            lines.append({"data": name, "rows": len(X)} | line)
            print(line_of(lines[-1]), flush=True)
        for asked in THRESHOLDS if name in anchored and not is_missing("anchor") else ():
            claims.append(against_anchor_exp(data, model, data.test[: anchored[name]], train, asked))
            print(compared(claims[-1]), flush=True)
    print(*[gaps_header(), *map(gaps, claims)] if claims else [], apart(lines), sep="\n")
    return {"lines": lines, "anchor-exp": claims}


def main() -> None:
    asked = options(__doc__, quick=False, rows=300, json=Path, read=Path, plot=Path)
    if asked.read:
        results = json.loads(asked.read.read_text())
        lines, claims = results["lines"], results["anchor-exp"]
        told = [header(), *map(line_of, lines), *map(compared, claims), gaps_header(), *map(gaps, claims), apart(lines)]
        print(*told, sep="\n")
    else:
        print(describe_machine(("faithscope", "numpy", "xgboost", "anchor")), "\n")
        results = study(QUICK, 50, {}) if asked.quick else study(NAMES, asked.rows, ANCHORED)
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=1) + "\n")
    if asked.plot:
        draw(results["lines"], asked.plot)


if __name__ == "__main__":
    main()
