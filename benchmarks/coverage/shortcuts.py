"""Where an interval, or a test, was once made as if rows were many, independent, and counted alike.

- chance: explanations that mean nothing, one of them of nearly all rows, and rare labels; said to be above chance?
- leaking: reasons that name a label and weigh more, or belong together; the share of them.
- tables: rows of clusters; the intervals of single rows (`local`), explanations (`table`) and rules (`scopes`).
"""

import numpy as np
from harness import Line, always, columns_of, ends, in_bins, said

import faithscope as fs

CHANCE = {  # share of the explanation that nearly all rows have, other explanations, rows of the rare label
    "99% and 30 rare, 1% of a rare label": (0.99, 30, 0.01),
    "99% and 5 rare, 1% of a rare label": (0.99, 5, 0.01),
    "90% and 300 rare, 1% of a rare label": (0.9, 300, 0.01),
    "99% and 30 rare, labels alike": (0.99, 30, 0.5),
}
LEAKING = {  # share that names a label, how much more such rows weigh, rows of a cluster
    "1% name a label, x 30": (0.01, 30.0, 1),
    "3% name a label, x 10": (0.03, 10.0, 1),
    "half name a label, x 3": (0.5, 3.0, 1),
    "20% name a label, clusters of 5": (0.2, 1.0, 5),
    "20% name a label, x 5, clusters of 5": (0.2, 5.0, 5),
}
TABLES = {  # rows of a cluster by its label
    "5 rows a cluster": lambda rng, labels: np.full(len(labels), 5),
    "1 to 9 rows a cluster": lambda rng, labels: rng.integers(1, 10, len(labels)),
    "4 rows a cluster, 1 of the other label": lambda rng, labels: np.where(labels == 1, 4, 1),
}
SHARES = np.linspace(0.05, 0.95, 10)  # of label 1, by explanation


def chance(system, n, rng):
    """Whether meaningless explanations are not said to be above chance."""
    share, others, rare = system
    explanations = np.where(rng.random(n) < share, 0, 1 + rng.integers(0, others, n))
    labels = rng.permutation(np.arange(n) < rare * n)
    return {"not said to be above chance": said(not fs.consistency(explanations, labels).above_chance)}


def leaking(system, n, rng):
    """The share of reasons that name a label, if these weigh more."""
    share, heavy, size = system
    naming = np.repeat(rng.random(n // size) < share, size)
    texts = [f"spam {row}" if named else f"it sells {row}" for row, named in enumerate(naming.tolist())]
    known = {"clusters": np.repeat(np.arange(n // size), size)} if size > 1 else {}
    weights = np.where(naming, heavy, 1.0) if heavy > 1 else None
    leak = fs.leakage(texts, np.tile(["spam", "ham"], n)[: len(texts)], weights=weights, **known)
    return {"share that names a label": ends(leak, share * heavy / (share * heavy + 1 - share))}


def tables(sizes, n, rng):
    """Intervals of single rows, one of each cluster, and of explanations; n clusters."""
    codes = rng.integers(0, len(SHARES), n)
    labels = (rng.random(n) < SHARES[codes]).astype(int)
    many = sizes(rng, labels)
    cluster, first = np.repeat(np.arange(n), many), np.cumsum(many) - many
    X = codes[cluster, None].astype(float)
    rules = in_bins(X - 0.5, X + 0.5, ["a"])
    found = fs.evaluate(labels[cluster], rules, X, clusters=cluster, progress=False)
    by_label = [np.mean(sizes(np.random.default_rng(0), np.full(10_000, label))) for label in (0, 1)]
    share = SHARES * by_label[1] / (SHARES * by_label[1] + (1 - SHARES) * by_label[0])  # of rows
    place = {rules.describe(row): int(X[row, 0]) for row in first}
    answers = {}
    for name, measure in (("local", "consistency"), ("table", "purity"), ("scopes", "precision")):
        table = getattr(found, name)()
        table = table.iloc[first] if name == "local" else table
        which = codes if name == "local" else np.array([place[text] for text in table["explanation"]])
        label = table["prediction" if name == "local" else "label"].to_numpy()
        truth = np.where(label == 1, share[which], 1 - share[which])
        answers[name] = (*columns_of(table, measure), truth)
    return answers


def lines():
    """All of them."""
    judged = {"quick": tuple(CHANCE)[:1], "quick_rows": 1_000, "bar": lambda *_: 0.975, "nominal": 0.975}
    yield Line("shortcuts/chance", chance, CHANCE, {1_000: 1_000}, **judged)
    yield Line("shortcuts/leaking", leaking, LEAKING, {400: 200, 1_000: 200})
    yield Line("shortcuts/tables", tables, TABLES, {100: 60, 400: 20}, bar=always)
