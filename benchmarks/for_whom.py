"""Sufficient for whom? The same explanations on five populations of inputs, for the paper's data sets.

    python benchmarks/for_whom.py             # twenty minutes, most of it anchor-exp's
    python benchmarks/for_whom.py --quick     # a minute: fewer rows, three data sets, no anchor-exp
    python benchmarks/for_whom.py --json benchmarks/results/for_whom.json --plot docs/images/sufficient-for-whom.svg

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

import json
import os
from pathlib import Path

import altair as alt
import numpy as np
import xgboost
from numpy.random import default_rng

import faithscope as fs
from explained import anchor_exp
from faithscope.charts.theme import LIGHT
from faithscope.explainers.ranges import edges_of
from faithscope.rounding import down, up
from faithscope_reproduction.data import NAMES, split
from ratios import describe_machine, is_missing, marked, options, save_panels

THRESHOLDS = (0.5, 0.8, 0.95)


def explained(model, train, X, categorical):
    """The rules of each explainer for the same rows of the same model."""
    anchors = fs.explainers.Anchors(model, train, beam=1, categorical=categorical).explain_at(X, THRESHOLDS)
    return {
        "LIME's top 3": lime_boxes(model, train, X, categorical),
        "tree path": fs.explainers.TreePath.surrogate(model, train, max_leaf_nodes=16).explain(X),
        **{f"anchor {threshold}": rules for threshold, rules in anchors.items()},
        "formal reason": fs.explainers.SufficientReason(model).explain(X),
    }


def lime_boxes(model, train, X, categorical):
    """The row's quarter, or category, of each of the three features that LIME finds most important."""
    weights = fs.explainers.Lime(model, train, categorical=categorical).explain(X).values
    per_class = weights.reshape(len(X), -1, X.shape[1])  # of two classes there is one vector, of more one per class
    weights = per_class[np.arange(len(X)), model.predict(X) if per_class.shape[1] > 1 else 0]
    top = np.argsort(-np.abs(weights), axis=1, kind="stable")[:, :3]
    cuts = [edges_of(column, whole=False) for column in train.T]

    def box(j, value):
        if j in categorical:
            return [("==", value)]
        place = np.searchsorted(cuts[j], value)
        return [*((">", cut) for cut in cuts[j][:place][-1:]), *(("<=", cut) for cut in cuts[j][place:][:1])]

    named = (
        [(j, test) for j in sorted(features) for test in box(j, row[j])]
        for row, features in zip(X, top.tolist(), strict=True)
    )
    boxes = [[(f"x{j}", operator, float(value)) for j, (operator, value) in row] for row in named]
    return fs.Rules.from_conditions(boxes, features=[f"x{j}" for j in range(X.shape[1])])


def covers(rules, row, others):
    """Which rows the rule of one row covers."""
    return np.logical_and.reduce([np.ones(len(others), bool), *rules.holds(rules.conjunction(row), others)])


def uniform_points(rules, X, train, categorical, draws):
    """Points drawn evenly inside the rule of each row, (n · draws, d), and the row of each.

    A number lies anywhere between the least and the largest of training, also between whole numbers; a category is any
    that training has. If a rule leaves no such value of a feature, the row keeps its own.
    """
    points = []
    for row, own in enumerate(X):
        rng, rule = default_rng([0, row]), {one.position: one for one in rules.conjunction(row)}
        points.append(np.tile(own, (draws, 1)))
        for j, known in enumerate(train.T):
            low, high, chosen, values = known.min(), known.max(), None, np.unique(known)
            if j in rule:
                low, high, chosen = max(low, np.nextafter(rule[j].low, np.inf)), min(high, rule[j].high), rule[j].among
            if chosen or j in categorical:
                values = values[(values >= low) & (values <= high)] if chosen is None else np.array(chosen)
                points[-1][:, j] = rng.choice(values, draws) if len(values) else own[j]
            elif low <= high:
                points[-1][:, j] = rng.uniform(low, high, draws)
    return np.concatenate(points), np.repeat(np.arange(len(X)), draws)


DRAWS = 1_000  # per row: ours, and new ones of anchor-exp's own


def against_anchor_exp(data, model, X, train, threshold):
    """Claimed and measured precision of anchor-exp's rules: means over rows.

    "claimed" is what anchor-exp returns with a rule, "fresh" the precision of new draws by its own function under the
    finished rule.
    """
    from anchor.anchor_tabular import AnchorTabularExplainer

    words = {j: list(data.categories[j] or ()) for j in data.categorical}
    package = AnchorTabularExplainer(list(data.classes), list(data.names), train, words)
    conditions, claimed, fresh = anchor_exp(package, train, threshold, X, model.predict, DRAWS)
    rules = fs.Rules.from_conditions(conditions, features=data.names)
    perturbed = fs.sufficiency(rules, model, X, population=fs.Perturbed(train, draws=DRAWS))
    others = np.array([row for row in data.test if not (row == X).all(axis=1).any()])
    of, covered = np.nonzero([covers(rules, row, others) for row in range(len(X))])
    witnesses = fs.drawn(rules, others[covered], model.predict(others)[covered], of=of)
    measured = {"perturbed": perturbed, "real": fs.sufficiency(rules, model.predict(X), population=witnesses)}
    return {
        "data": data.name,
        "threshold": threshold,
        "claimed": np.mean(claimed),
        "fresh": np.mean(fresh),
        **{name: told(estimate) for name, estimate in measured.items()},
    }


def told(estimate):
    """What is kept of an estimate."""
    return {name: getattr(estimate, name) for name in ("verified", "low", "high")}


# Every population has a color and a shape, so that either is enough to tell it.
MARKS = {
    "real": (LIGHT["ink"], "circle"),
    "nearest": (LIGHT["consistency"], "triangle-up"),
    "perturbed": (LIGHT["sufficiency"], "square"),
    "product": (LIGHT["faithful"], "diamond"),
    "uniform": (LIGHT["chance"], "cross"),
}


def draw(lines, path):
    """One panel per data set, one row per explanation, one mark per population."""
    rows = [
        {"panel": f"{line['data']}, {line['rows']} rows", "explanation": line["explanation"], "by": name, **line[name]}
        for line in lines
        for name in MARKS
    ]
    told = (
        "Share of inputs under a row's rule that keep the row's prediction, on five populations. "
        "Bars are 95% intervals; they are long if few inputs are under a rule."
    )
    look = {"labelFontSize": 12, "labelPadding": 8, "ticks": False, "domain": False, "grid": True, "bandPosition": 0}
    y = alt.Y("explanation:N", sort=None, title=None, axis=alt.Axis(**look)).scale(paddingInner=0.25)
    across, offset = alt.Scale(domain=[0, 1]), alt.YOffset("by:N", sort=list(MARKS))
    color, shape = marked(MARKS, "inputs are")
    chart = alt.Chart().encode(y=y, yOffset=offset, color=color)
    bars = chart.mark_rule(strokeWidth=1.5, opacity=0.55).encode(x=alt.X("low:Q", scale=across), x2="high:Q")
    dots = chart.mark_point(filled=True, size=42, opacity=1).transform_filter("datum.verified !== null")
    dots = dots.encode(x=alt.X("verified:Q", title=None, scale=across), shape=shape)
    save_panels([bars, dots], rows, "panel", path, "Sufficient for whom?", told, width=215, height=300)


TRAINED, DRAWN_FROM = 20_000, 5_000  # training rows
ANCHORED = {"heart": 50, "bank": 150, "adult": 200}  # rows that anchor-exp explains; other test rows are the real ones
QUICK = ("heart", "bank", "adult")


def fitted(data):
    """Boosted trees of a data set."""
    trees = xgboost.XGBClassifier(n_estimators=25, max_depth=4, n_jobs=2)
    return trees.fit(data.train[:TRAINED], data.y_train[:TRAINED])


def measured(model, train, X, categorical=(), draws=100):
    """One line per explainer: what its rules reach on every population."""
    labels = model.predict(X)
    for name, rules in explained(model, train, X, categorical).items():
        points, of = uniform_points(rules, X, train, categorical, draws)
        populations = {
            "real": fs.RealRows(),
            "nearest": fs.Conditional(train),
            "perturbed": fs.Perturbed(train, draws=draws),
            "product": fs.Product(train, draws=draws),
            "uniform": fs.drawn(rules, points, model, of=of),
        }
        line = {"explanation": name}
        # Under whose rule any input of any population gets another prediction.
        broken = np.array([(labels[covers(rules, row, X)] != label).any() for row, label in enumerate(labels)])
        for population, inputs in populations.items():
            estimate = fs.sufficiency(rules, model, X, population=inputs)
            line[population] = told(estimate)
            if population != "real":
                broken |= estimate.counts.agreeing < estimate.counts.others
        yield line | {"broken": broken.mean()}


def shown(cell):
    """A share, and its interval, whose ends are rounded outward."""
    share = "–" if cell["verified"] is None else digits(cell["verified"], 3)
    low, high = float(down(cell["low"], 2)), float(up(cell["high"], 2))
    return f"{share:4} {digits(low, 2)}–{digits(high, 2)}"


def digits(share, places):
    """A share without its leading 0; 1 only if it is exactly 1, else rounded down at worst."""
    return "1" if share == 1 else f"{min(share, 1 - 10.0**-places):.{places}f}".lstrip("0")


def line_of(line):
    cells = " ".join(f"{shown(line[name]):12}" for name in MARKS)
    return f"{line['data']:7} {line['explanation']:13} {cells} {line['broken']:6.0%}"


def compared(line):
    """What anchor-exp says of its rules, beside perturbed and real rows."""
    parts = [f"claimed {digits(line['claimed'], 3)}", f"fresh {digits(line['fresh'], 3)}"]
    parts += [f"{name} {shown(line[name])}" for name in ("perturbed", "real")]
    return f"{line['data']:5} {line['threshold']:<4} " + "  ".join(parts)


def apart(lines):
    """How often another population than the real rows gives another answer; formal reasons are left out."""
    lines = [line for line in lines if line["explanation"] != "formal reason"]
    told = []
    for name in list(MARKS)[1:]:
        pairs = [(line["real"], line[name]) for line in lines]
        above = sum(other["low"] > real["high"] for real, other in pairs)
        below = sum(other["high"] < real["low"] for real, other in pairs)
        told.append(f"{name} {above} above and {below} below")
    return f"of {len(lines)} intervals, apart from that of real rows: {'; '.join(told)}"


def study(names, rows, anchored):
    """The lines of all data sets, and what anchor-exp claims."""
    folder, lines, claims = Path(os.environ["FAITHSCOPE_DATA"]), [], []
    for name in names:
        data = split(name, folder)
        model, train, X = fitted(data), data.train[:DRAWN_FROM], data.test[:rows]
        lines += [{"data": name, "rows": len(X)} | line for line in measured(model, train, X, data.categorical)]
        if name in anchored and not is_missing("anchor"):
            some = data.test[: anchored[name]]
            claims += [against_anchor_exp(data, model, some, train, threshold) for threshold in THRESHOLDS]
    return {"lines": lines, "anchor-exp": claims}


if __name__ == "__main__":
    asked = options(__doc__, quick=False, rows=300, json=Path, plot=Path)
    print(describe_machine(("faithscope", "numpy", "xgboost", "anchor")), "\n")
    results = study(QUICK, 50, {}) if asked.quick else study(NAMES, asked.rows, ANCHORED)
    lines, claims = results["lines"], results["anchor-exp"]
    heads = " ".join(f"{name:12}" for name in MARKS)
    print(f"{'':7} {'':13} {heads} broken", *map(line_of, lines), *map(compared, claims), sep="\n")
    print(apart(lines))
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=1, default=float) + "\n")
    if asked.plot:
        draw(lines, asked.plot)
