"""What every public measure answers over a grid of small systems: the numbers that no change may move unsaid.

python tests/frozen/grid.py            # which numbers differ from those that are kept
python tests/frozen/grid.py --write    # keep today's: a commit of its own, with a changelog line "changes results"

A part is a file in ``numbers/``; a case is a line of its own with one answer per line below it, so that a diff names
the case and the number. What is refused is kept by the kind of its error and the first words of its sentence.
"""

# ruff: noqa: B023 - a case is called before the next one is made

import argparse
import hashlib
import json
import math
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import faithscope as fs
from faithscope.errors import FaithscopeError

NUMBERS = Path(__file__).parent / "numbers"
SIZES = (1, 2, 7, 60, 2000)
SENTENCE = 9  # words of a refusal that are kept
NOTE = 5  # words of a note
# What an interval is made of may differ by 1e-9, everything else by 1e-10.
ENDS = ("low", "high", "difference")
DIGESTS = ("sum", "tilted")  # of what an explainer says, by way of solvers that round differently elsewhere

Case = tuple[str, Callable[[], Any]]  # called before the next is made, so loops may be closed over


class System:
    """Rows with everything that measures ask for: keys, rules, words, points, labels, numbers, weights, clusters."""

    def __init__(self, n, seed=0):
        rng = np.random.default_rng([n, seed])
        self.n = n
        self.keys = rng.zipf(1.5, n) % max(2, n // 5)
        self.x = np.column_stack([rng.integers(0, 10, n), rng.normal(size=n).round(1), rng.integers(0, 3, n)])
        score = self.keys % 3 + 0.4 * self.x[:, 0] + rng.normal(size=n)
        self.labels = np.array(["no", "maybe", "yes"])[np.clip(score // 2, 0, 2).astype(int)]
        self.numbers = score.round(1)
        self.weights = rng.choice([0.25, 1.0, 1.0, 3.0], n)
        self.weights[2:3] = 0.0
        self.clusters = rng.permutation(np.minimum(np.arange(n) // min(3, max(1, n // 2)), n // 4 + 1))
        self.masks = rng.random((n, min(n, 6))) < 0.4
        self.reason = rng.integers(0, self.masks.shape[1], n)
        self.groups = np.array(["south", "north", "east"])[rng.integers(0, 3, n)]
        self.rng = rng

    @property
    def table(self):
        return pd.DataFrame(self.x, columns=["age", "debt", "job"])

    @cache  # noqa: B019 - a system lives as long as the run
    def rules(self, own=True):
        """Overlapping rules over two columns; some do not cover their own row where `own` is false."""
        bounds = np.round(self.x[:, :2] * [0.5, 1.0]).clip([0, -1], [4, 1]) * [2, 1]
        if not own:
            bounds[::5, 0] += 2
        conditions = [
            [("age", ">=", age), ("debt", "<=", debt + 1.5)] if debt > -1 else [("age", ">=", age)]
            for age, debt in bounds.tolist()
        ]
        return fs.Rules.from_conditions(conditions, features=["age", "debt", "job"])

    def documents(self):
        """Documents of five words, and the words that are highlighted: every seventh row has one that it lacks."""
        rng = np.random.default_rng(self.n)
        words = np.array(["late", "payment", "high", "income", "good", "bad", "plot", "dull"])
        drawn = words[rng.integers(0, len(words), (self.n, 5))]
        chosen = [{row[0], row[1]} if i % 2 else {row[0]} for i, row in enumerate(drawn.tolist())]
        chosen[::7] = [{"dull"} for _ in chosen[::7]]
        return fs.Highlights(chosen), [" ".join(row) for row in drawn]

    def judge(self, unasked=False):
        """Reasons, and a judge who was not asked about every pair where `unasked`."""
        _, first = np.unique(self.reason, return_index=True)
        answers = self.masks[:, self.reason[np.sort(first)]].astype(float)
        if unasked:
            answers[np.random.default_rng(1).random(answers.shape) < 0.3] = np.nan
        row, explanation = np.indices(answers.shape).reshape(2, -1)
        asked = {"row": row, "explanation": explanation, "applies": answers.ravel()}
        return fs.Reasons([f"reason {number}" for number in self.reason]), fs.Judged(pd.DataFrame(asked))

    def counterfactuals(self):
        return fs.Counterfactuals((self.x + np.array([1.0, 0.5, 0.0])).round(), self.x)

    def prototypes(self):
        return fs.Prototypes(self.reason % self.n, points=self.x)

    def model(self, rows):
        rows = np.asarray(rows, float)
        return np.where(0.4 * rows[:, 0] + rows[:, 1] > 2, "yes", "no")

    def probability(self, rows):
        rows = np.asarray(rows, float)
        return np.round(1 / (1 + np.exp(2 - 0.4 * rows[:, 0] - rows[:, 1])), 3)


@cache
def system(n):
    return System(n)


AGREEMENTS = {"labels": None, "close": fs.Close(1.0), "tolerance": fs.Tolerance(0.5), "spread": fs.Spread()}
MANNERS = ("plain", "weights", "clusters", "both")


def asked(s, agreement, manner):
    """The predictions, and the options of this agreement and of this manner of weighing rows."""
    options = {}
    if agreement != "labels":
        options["agreement"] = AGREEMENTS[agreement]
    if manner in ("weights", "both"):
        options["weights"] = s.weights if s.weights.any() else np.ones(s.n)
    if manner in ("clusters", "both"):
        options["clusters"] = s.clusters
    return (s.labels if agreement == "labels" else s.numbers), options


SCOPED = {
    "rules": lambda s: (s.rules(), s.table, {}),
    "rules that miss": lambda s: (s.rules(own=False), s.table, {}),
    "highlights": lambda s: (*s.documents(), {}),
    "nearest": lambda s: (s.counterfactuals(), s.x, {}),
    "balls": lambda s: (s.prototypes(), s.x, {"relation": fs.Ball(2.0)}),
    "own relation": lambda s: (s.keys, s.x, {"relation": lambda X, key: np.asarray(X)[:, 0] % 3 == key % 3}),
    "judged": lambda s: (s.judge()[0], None, {"relation": s.judge()[1]}),
    "judged in part": lambda s: (s.judge()[0], None, {"relation": s.judge(unasked=True)[1]}),
}


def combinations():
    for n in SIZES:
        for agreement in AGREEMENTS:
            for manner in MANNERS:
                yield f"{agreement}, {manner}, n={n}", system(n), agreement, manner


def consistency():
    for name, s, agreement, manner in combinations():
        y, options = asked(s, agreement, manner)
        yield f"equality, {name}", lambda: fs.consistency(s.keys, y, **options)
        if s.n == 60:
            for interval in (None, "proven"):
                o = {**options, "interval": interval, "confidence": 0.9}
                yield f"equality by {interval}, {name}", lambda: fs.consistency(s.keys, y, **o)
    s = system(60)
    values = np.round(s.x, 0)
    for discretizer in ("sign", "rank", "1-fp", "sign-of-top-5"):
        yield (
            f"importances by {discretizer}",
            lambda: fs.consistency(fs.Importances(values), s.labels, discretizer=discretizer),
        )
    yield "vectors of numbers", lambda: fs.consistency(s.keys, s.x, agreement=fs.Spread())
    yield "an agreement of one's own", lambda: fs.consistency(s.keys, s.numbers, agreement=_near)


def _near(a, b):
    return np.exp(-np.abs(a - b))


def sufficiency():
    for name, s, agreement, manner in combinations():
        y, options = asked(s, agreement, manner)
        for scoped, made in SCOPED.items():
            if s.n < 2000 or scoped in ("rules", "rules that miss", "highlights"):
                yield f"{scoped}, {name}", lambda: _scoped(fs.sufficiency, made(s), y, options)
    s = system(60)
    for how in ({"interval": "proven"}, {"unseen": True}):
        for scoped in ("rules", "rules that miss", "highlights"):
            yield (
                f"{scoped} by {how}",
                lambda: _scoped(fs.sufficiency, SCOPED[scoped](s), s.labels, how),
            )
    yield "rules, further rows", lambda: fs.sufficiency(s.rules(), s.labels, s.table, unlabeled=system(7).table)


def _scoped(measure, made, y, options):
    explanations, X, relation = made
    return measure(explanations, y, X, **relation, **options)


def beyond():
    """Rules times rows beyond 10⁸, for which blocks of rows are left out instead of rows."""
    rng = np.random.default_rng(5)
    n, different = 11_000, 10_000
    X = np.column_stack([rng.integers(0, 40_000, n), rng.integers(0, 9, n)]).astype(float)
    y = (X[:, 0] > 20_000).astype(int) ^ (rng.random(n) < 0.1)
    bounds = [[("a", "<=", float(X[i % different, 0])), ("b", ">=", float(X[i, 1] // 3))] for i in range(n)]

    def measured():
        return fs.sufficiency(fs.Rules.from_conditions(bounds, features=["a", "b"]), y, X)

    yield f"{different:,} rules and more, {n:,} rows", measured


def populations():
    for n in (2, 7, 60):
        s = system(n)
        draws = np.repeat(s.x, 2, axis=0)
        of = np.repeat(np.arange(n), 2)
        kinds = {
            "real rows": fs.RealRows,
            "perturbed": lambda: fs.Perturbed(system(60).table, draws=4),
            "product": lambda: fs.Product(system(60).table, draws=4),
            "conditional": lambda: fs.Conditional(system(60).table, k=5),
            "own draws": lambda: fs.drawn(s.rules(), pd.DataFrame(draws, columns=s.table.columns), of=of),
        }
        for kind, population in kinds.items():
            for agreement in AGREEMENTS:
                for manner in ("plain", "weights", "clusters"):
                    _, options = asked(s, agreement, manner)
                    model = s.model if agreement == "labels" else s.probability
                    if agreement in ("close", "tolerance"):
                        options["agreement"] = type(AGREEMENTS[agreement])(0.2)
                    yield (
                        f"{kind}, {agreement}, {manner}, n={n}",
                        lambda: fs.sufficiency(s.rules(), model, s.table, population=population(), **options),
                    )
    highlights, texts = system(60).documents()

    def good(documents):
        return ["good" in text for text in documents]

    yield "words", lambda: fs.sufficiency(highlights, good, texts, population=fs.Perturbed(draws=3))


def within():
    for n in SIZES:
        s = system(n)
        points = s.x[:, :2].astype(float)
        for agreement in AGREEMENTS:
            for manner in ("plain", "clusters"):
                y, options = asked(s, agreement, manner)
                for tau in (0.0, 0.5, 2.0):
                    yield (
                        f"tau={tau}, {agreement}, {manner}, n={n}",
                        lambda: fs.within(points, y, tau, **options),
                    )
        yield (
            f"curve, n={n}",
            lambda: [one.to_dict() for one in fs.within_curve(points, s.labels, [0.0, 0.5, 2.0]).estimates],
        )
        if n > 2:
            yield f"maximum metric, n={n}", lambda: fs.within(points, s.labels, 0.5, metric="chebyshev")


def hidden():
    """Necessity and encoding."""
    for name, s, agreement, manner in combinations():
        y, options = asked(s, agreement, manner)
        for measure in (fs.necessity, fs.encoding):
            for scoped in ("rules", "rules that miss", "highlights", "judged", "nearest"):
                if s.n < 2000 or scoped == "rules":
                    yield (
                        f"{measure.__name__}, {scoped}, {name}",
                        lambda: _scoped(measure, SCOPED[scoped](s), y, options),
                    )


def rows():
    """What is said of single rows and of single explanations."""
    for n in (2, 7, 60):
        s = system(n)
        for agreement in AGREEMENTS:
            for manner in MANNERS:
                y, options = asked(s, agreement, manner)
                made = lambda: fs.evaluate(y, s.rules(), s.table, progress=False, **options)  # noqa: E731
                name = f"{agreement}, {manner}, n={n}"
                yield f"local, {name}", lambda: made().local()
                yield f"table, {name}", lambda: made().table()
                if manner == "plain":
                    yield f"scopes, {name}", lambda: made().scopes()
                    yield f"counterexamples, {name}", lambda: _pairs(made().counterexamples(k=10))
                    yield f"by group, {name}", lambda: _groups(made().by(s.groups).among or made().by(s.groups))
                    yield f"by group beside everybody, {name}", lambda: _groups(made().by(s.groups))
    for name, options in (
        ("labels", {}),
        ("Tolerance", {"agreement": fs.Tolerance(0.5)}),
    ):  # of pairs equally far apart
        alike = fs.evaluate([0, 1, 2, 0] * 3, ["a"] * 6 + ["b"] * 6, [[1.0], [2.0]] * 6, **options)
        yield f"counterexamples at equal distances, {name}", lambda ev=alike: _pairs(ev.counterexamples(k=20))
    s = system(60)
    yield (
        "a row outside the sample",
        lambda: fs.local([4.0, 0.5, 1.0], s.model, lambda X: _by_age(X), s.table).to_dict(),
    )
    yield (
        "until enough rows are seen",
        lambda: fs.sample_until([(s.keys, s.labels)], s.keys[0], epsilon=0.3, budget=50, prediction="no").to_dict(),
    )


def _by_age(X):
    conditions = [[("age", ">=", float(age // 2 * 2))] for age in pd.DataFrame(X).iloc[:, 0]]
    return fs.Rules.from_conditions(conditions, features=["age", "debt", "job"])


def _pairs(found):
    """Pairs of rows in the order in which they are told, so that a swapped tie shows."""
    return [" ".join(map(str, row)) for row in found.to_numpy().tolist()]


def _groups(found):
    told = {str(name): found.estimates[name] for name in sorted(found.estimates)}
    return {**told, "differences": found.differences()}


def deciding():
    """Certificates, plans, decoders, curves and bounds."""
    for n in SIZES:
        s = system(n)
        for manner in ("plain", "clusters"):
            for agreement in AGREEMENTS:
                y, options = asked(s, agreement, manner)
                for interval in ("proven", None):
                    yield (
                        f"certify by {interval}, {agreement}, {manner}, n={n}",
                        lambda: _certified(s, y, interval=interval, **options),
                    )
        yield f"plan, n={n}", lambda: fs.plan(fs.consistency(s.keys, s.labels))
        yield f"plan of rules, n={n}", lambda: fs.plan(fs.sufficiency(s.rules(), s.labels, s.table))
        yield f"bound of the error, n={n}", lambda: vars(fs.mse_bound(fs.consistency(s.keys, s.labels)))
        yield f"curve of tolerance, n={n}", lambda: _curve(fs.tolerance_curve(s.keys, s.numbers, [0.1, 1.0]))
        for decoder in (fs.GibbsDecoder, fs.OptimalDecoder):
            yield f"{decoder.__name__}, labels, n={n}", lambda: _decoded(decoder, s)
    yield "sample sizes", lambda: {"paper": fs.sample_size(40, 0.1), "local": fs.local_sample_size(0.1)}
    yield "bound of a known system", lambda: vars(fs.mse_bound(p=[0.5, 0.5], q=[0.9, 0.1], n=50))


def _certified(s, y, **options):
    told = fs.certify(fs.Importances(s.x), y, **options).to_dict()
    return told | {"tried": {one["discretizer"]: one["low"] for one in told["tried"]}}


def _curve(curve):
    return [estimate.to_dict() for estimate in curve.estimates]


def _decoded(decoder, s):
    y, half = s.labels, max(1, s.n // 2)
    fitted = decoder().fit(s.keys[:half], y[:half])
    told = fitted.predict(s.keys[half:][:20]) if s.n > 1 else []
    return {
        "accuracy": fitted.accuracy(s.keys[half:], y[half:]),
        "error": fitted.error,
        "predictions": " ".join(map(str, told)),
    }


def explaining():
    """Repeatability, agreement of explainers, leakage, and differences between explainers and between groups."""
    for n in (2, 7, 60, 2000):
        s = system(n)
        runs = [s.keys, np.roll(s.keys, 1), np.where(np.arange(n) % 3, s.keys, 0)]
        texts = [f"the {word} of {label}" for word, label in zip(s.keys % 4, s.labels, strict=True)]
        others = {"a": fs.Importances(s.x), "b": fs.Importances(s.x[:, ::-1]), "keys": s.keys}
        for manner in MANNERS:
            _, o = asked(s, "labels", manner)
            yield f"repeatability, {manner}, n={n}", lambda: fs.repeatability(runs, **o)
            yield f"explainer agreement, {manner}, n={n}", lambda: fs.explainer_agreement(others, k=2, **o)
            yield f"leakage, {manner}, n={n}", lambda: fs.leakage(texts, s.labels, **o)
        explainers = {"rules": s.rules(), "those that miss": s.rules(own=False), "keys": s.keys}
        for agreement in AGREEMENTS:
            for manner in MANNERS:
                y, o = asked(s, agreement, manner)
                if n < 2000 or manner == "plain":
                    yield (
                        f"paired differences, {agreement}, {manner}, n={n}",
                        lambda: fs.compare(y, explainers, s.table, progress=False, **o).differences(),
                    )
        for simultaneous in (False, True):
            yield (
                f"differences between groups, simultaneous={simultaneous}, n={n}",
                lambda: fs.consistency(s.keys, s.labels, by=s.groups).among.differences(simultaneous=simultaneous),
            )
            yield (
                f"differences between groups beside everybody, simultaneous={simultaneous}, n={n}",
                lambda: fs.consistency(s.keys, s.labels, by=s.groups).differences(simultaneous=simultaneous),
            )


def finding():
    """Slices where explanations fail, and whether importances name the right features and signs."""
    for n in (60, 2000):
        s = system(n)
        rng = np.random.default_rng([n, 5])
        since = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 120, n), "D")
        people = s.table.assign(region=s.groups, since=since)
        people.loc[::17, "debt"] = np.nan
        broken = (people["region"] == "north") & (people["age"] >= 5)
        codes = np.where(broken, rng.integers(0, 20, n), s.keys % 7)
        labels, numbers = np.where(broken, s.labels, codes % 2), np.where(broken, s.numbers, codes)
        importances = fs.Importances(s.x, names=list(s.table))
        for manner in MANNERS:
            for agreement, y in (("labels", labels), ("close", numbers), ("tolerance", numbers)):
                _, o = asked(s, agreement, manner)
                looked = lambda: fs.evaluate(y, codes.tolist(), people, progress=False, **o).slices()  # noqa: E731
                yield f"slices, {agreement}, {manner}, n={n}", lambda: looked()
            for agreement in ("labels", "close"):
                y, o = asked(s, agreement, manner)
                for k in (1, 2):
                    yield (
                        f"named features, {k} of 3, {agreement}, {manner}, n={n}",
                        lambda: _naming(fs.sufficiency(importances, y, s.table, relation=fs.Alike(k), **o)),
                    )
            _, o = asked(s, "labels", manner)
            drawn, moved = (
                fs.Perturbed(s.x, draws=10),
                lambda X: np.column_stack([1 - s.probability(X), s.probability(X)]),
            )
            yield f"direction, {manner}, n={n}", lambda: fs.direction(importances, moved, s.x, population=drawn, **o)


def _naming(estimate):
    beyond = {name: getattr(estimate, name) for name in ("beyond_random", "beyond_global")}
    return {**estimate.to_dict(), **{name: None if more is None else list(more) for name, more in beyond.items()}}


def discretized():
    """What discretizers make of values with ties, zeros of both signs and numbers at the edges of bins."""
    rng = np.random.default_rng(3)
    values = rng.choice([-0.25, -0.1, -0.0, 0.0, 0.05, 0.1, 0.1, 0.3, 1.0], (40, 6))
    importances = fs.Importances(values, names=list("abcdef"))
    pair = fs.Counterfactuals(values[:, :3] + rng.choice([0.0, 0.5], (40, 3)), values[:, :3])
    drawn = rng.choice(["Late", "high", "no"], (40, 2))
    texts = fs.Reasons([f"{word} payments and {other} income" for word, other in drawn], inputs=drawn[:, 0])
    makers = {
        **{
            f"{one!r}": (one, importances)
            for one in (fs.Floor(1), fs.Truncate(1), fs.Sign(), fs.Rank(), fs.SignOfTop(3))
        },
        **{f"{one!r}": (one, importances) for one in (fs.TopFeatures(2), fs.TopRegions(2), fs.ReasonCodes(2))},
        "grouped": (fs.Grouped({"first": ["a", "b"], "last": ["e", "f"]}), importances),
        "pooled": (fs.Pool(3), importances),
        "pooled signs": (fs.Pool(3) | fs.Sign(), importances),
        **{f"{one!r}": (one, pair) for one in (fs.Delta(), fs.DeltaSign(), fs.Modified())},
        "template": (fs.Template(), texts),
        "codebook": (fs.Codebook({"late": "late", "rich": "high income"}), texts),
        "common phrases": (fs.CommonPhrases(3).learned_from(texts), texts),
        "phrases": (fs.Phrases(["late payments", "no income"]), texts),
        "clusters": (fs.Clusters(values, 3), texts),
    }
    for name, (discretizer, explanations) in makers.items():
        yield name, lambda: digest(discretizer(explanations))


def digest(explanations):
    """What explanations say: numbers by their sums, and everything else to the letter."""
    if isinstance(explanations, fs.Importances):
        return sums(np.asarray(explanations.values, float))
    codes, first = explanations.group()[:2]
    told = {"different": len(first), "groups": letters(np.asarray(codes).tolist())}
    if isinstance(explanations, fs.Counterfactuals):
        return {**told, "points": letters(np.asarray(explanations.points).tolist())}
    written = [explanations.describe(row) for row in range(len(explanations))]
    return {**told, "texts": letters(written), "first": written[0][:80]}


def sums(values):
    """Sums by which arrays are told apart whose every number may be off by rounding."""
    flat = np.nan_to_num(values.reshape(len(values), math.prod(values.shape[1:])), nan=-7.0, posinf=1e3, neginf=-1e3)
    rows, columns = np.cos(np.arange(flat.shape[0]) + 0.5), np.sin(np.arange(flat.shape[1]) + 0.5)
    return {"shape": str(values.shape), "sum": float(flat.sum()), "tilted": float(rows @ flat @ columns)}


def letters(thing):
    return hashlib.sha256(json.dumps(thing, default=str).encode()).hexdigest()[:16]


def explainers():
    """What each explainer says about a table of numbers, and one with missing values, categories and dates."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    X, X_train = system(60).x[:12].astype(float), system(2000).x[:300].astype(float)
    y = (X_train[:, 0] + 2 * X_train[:, 1] > 4).astype(int)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X_train, y)
    tree = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X_train, y)
    boosted = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=5, random_state=0)
    holes = np.where(np.random.default_rng(2).random(X_train.shape) < 0.1, np.nan, X_train)
    boosted.fit(holes, y)
    people_train, people = _people(200), _people(210).iloc[200:]
    texts = system(60).documents()[1]
    counts = CountVectorizer().fit(texts)
    linear = LogisticRegression().fit(counts.transform(texts), ["good" in text for text in texts])
    e = fs.explainers
    numbers = {
        "TreePath": lambda: e.TreePath(tree),
        "surrogate": lambda: e.TreePath.surrogate(forest, X_train, max_leaf_nodes=5),
        "NearestNeighbors": lambda: e.NearestNeighbors(X_train, k=2),
        "Lime": lambda: e.Lime(forest, X_train, samples=200),
        "Lime, own draws": lambda: e.Lime(forest, X_train, samples=200, draws="own"),
        "Anchors": lambda: e.Anchors(forest, X_train, beam=2),
        "Shap of margins": lambda: e.Shap(boosted, holes[:20]),
        "Shap of probabilities": lambda: e.Shap(forest, X_train[:20]),
        "Shap of labels": lambda: e.Shap(forest, X_train[:20], output="label"),
        "Shap by permutation": lambda: e.Shap(forest.predict_proba, X_train[:10], algorithm="permutation"),
        "Counterfactual": lambda: e.Counterfactual(forest, X_train),
        "SufficientReason": lambda: e.SufficientReason(forest, X_train),
        "SufficientReason with missing values": lambda: e.SufficientReason(boosted, holes),
        "Random": lambda: e.Random(4),
        "Constant": e.Constant,
        "Unique": e.Unique,
    }
    for name, make in numbers.items():
        yield f"{name}, numbers", lambda: digest(make().explain(X))
    holey = np.where(np.random.default_rng(4).random(X.shape) < 0.2, np.nan, X)
    for name in ("surrogate", "Shap of margins", "SufficientReason with missing values"):
        make = numbers[name] if name != "surrogate" else lambda: e.TreePath.surrogate(boosted, holes)
        yield f"{name}, missing values", lambda: digest(make().explain(holey))
    table = {
        "surrogate": lambda: e.TreePath.surrogate(_people_model, people_train, max_leaf_nodes=6),
        "NearestNeighbors": lambda: e.NearestNeighbors(people_train, metric="gower"),
        "Lime": lambda: e.Lime(_people_chance, people_train, samples=200),
        "Anchors": lambda: e.Anchors(_people_model, people_train, beam=1),
        "Shap": lambda: e.Shap(_people_chance, people_train[:10], algorithm="permutation", evaluations=10),
        "Counterfactual": lambda: e.Counterfactual(_people_model, people_train),
        "Random": lambda: e.Random(4),
        "Unique": e.Unique,
    }
    for name, make in table.items():
        yield f"{name}, categories, missing values and dates", lambda: digest(make().explain(people))
    words = {
        "FirstWord": e.FirstWord,
        "AllWords": e.AllWords,
        "TopCoefficient": lambda: e.TopCoefficient(linear, counts),
        "TextAnchors": lambda: e.TextAnchors(lambda rows: ["good" in text for text in rows], beam=2),
    }
    for name, make in words.items():
        yield f"{name}, texts", lambda: digest(make().explain(texts[:12]))


def gradients():
    X = system(60).x[:12].astype(np.float32)
    for method in ("gradient", "gradient x input", "integrated gradients"):
        made = lambda: fs.explainers.Gradient(_network(), method=method, offset=True)  # noqa: E731
        yield method, lambda: digest(made().explain(X))


def dice():
    people = _people(150).fillna({"debt": 0.0})  # dice-ml draws no missing numbers
    yield "random", lambda: digest(fs.explainers.Dice(_PeopleModel(), people).explain(people[20:23]))


def _people(n):
    rng = np.random.default_rng(8)
    people = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "job": pd.Categorical(rng.choice(["clerk", "cook", "smith"], n)),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 2000, n), "D"),
            "debt": rng.normal(size=n).round(2),
        }
    )
    people.loc[rng.random(n) < 0.15, "debt"] = np.nan
    people.loc[rng.random(n) < 0.15, "job"] = None
    return people


def _people_chance(rows):
    score = (rows["age"].to_numpy(float) - 45) / 15 + (rows["job"].astype(str) == "clerk") - rows["debt"].fillna(0.5)
    late = (pd.to_datetime(rows["since"]) > pd.Timestamp("2023-01-01")).to_numpy(float)
    one = 1 / (1 + np.exp(-np.asarray(score, float) - late))
    return np.column_stack([1 - one, one])


def _people_model(rows):
    return (_people_chance(rows)[:, 1] > 0.5).astype(int)


class _PeopleModel:
    predict = staticmethod(_people_model)
    predict_proba = staticmethod(_people_chance)


def _network():
    import torch

    layers = torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)
    for layer in layers[::2]:
        for place, part in enumerate((layer.weight, layer.bias)):
            part.data = torch.cos(torch.arange(part.numel(), dtype=torch.float32) + place).reshape(part.shape)
    return torch.nn.Sequential(*layers)


def logs():
    """Audits in DuckDB of the rows that memory measures elsewhere in this grid."""
    where = {
        "keys": {"explanation": "key", "kind": "keys"},
        "importances by sign": {"explanation": ["age", "debt", "job"], "discretizer": "sign"},
        "rules": {"explanation": "rule", "kind": "rules", "inputs": ["age", "debt", "job"]},
        "reasons": {"explanation": "text", "kind": "reasons"},
    }
    for n in SIZES:
        frame = _log(system(n))
        for kind, explained in where.items():
            for agreement in AGREEMENTS if kind == "keys" else ("labels", "close"):
                for manner in ("plain", "clusters") if n == 60 or kind == "keys" else ("plain",):
                    _, options = asked(system(n), agreement, "plain")
                    options |= {**explained, "prediction": "yhat" if agreement == "labels" else "number"}
                    if manner == "clusters":
                        options["clusters"] = "customer"
                    if n == 60 or kind in ("keys", "rules"):
                        yield f"{kind}, {agreement}, {manner}, n={n}", lambda: _audited(frame, **options)
        if n > 2:
            o = {**where["keys"], "prediction": "yhat"}
            yield f"by group, n={n}", lambda: _groups(fs.audit(frame, by="region", **o).populations.among)
            yield f"by group beside everybody, n={n}", lambda: _groups(fs.audit(frame, by="region", **o).populations)
            windows, half = fs.audit(frame, time="when", every="1d", **o).windows, len(frame) // 2
            yield f"windows, n={n}", lambda: windows.among.table()
            yield f"windows beside the reference, n={n}", lambda: windows.table()
            yield (
                f"beside a reference, n={n}",
                lambda: fs.audit(frame[half:], against=frame[:half], **o).to_dict()["reference"],
            )


def _log(s):
    return s.table.assign(
        key=[f"k{key}" for key in s.keys],
        yhat=s.labels,
        number=s.numbers,
        customer=s.clusters,
        region=s.groups,
        rule=[s.rules().describe(row) for row in range(s.n)],
        text=s.documents()[1],
        when=pd.Timestamp("2026-03-01") + pd.to_timedelta(np.arange(s.n) * 3600, "s"),
    )


def _audited(frame, **options):
    audit = fs.audit(frame, **options)
    measures = {name: getattr(audit, name) for name in ("consistency", "sufficiency", "necessity")}
    return {name: estimate for name, estimate in measures.items() if estimate is not None}


def monitors():
    """A monitor after thirty days, in which agreement drops on the twentieth."""
    rng = np.random.default_rng(9)
    days = []
    for day in range(30):
        leaf = rng.zipf(1.6, 120) % 25
        noise = rng.random(120) < (0.05 if day < 20 else 0.5)
        days.append(pd.DataFrame({"leaf": leaf, "yhat": (leaf + noise) % 2, "region": rng.choice(["eu", "us"], 120)}))
    start = pd.Timestamp("2026-01-01")

    @cache
    def watched():
        monitor = fs.Monitor(at_least=0.85, reference=10, by="region")
        for number, day in enumerate(days):
            when = [start + pd.Timedelta(days=number)] * len(day)
            monitor.add(day["leaf"], day["yhat"], when=when, by=day["region"])
        return monitor

    yield "consistency: limits", lambda: vars_of(watched().limits())
    yield "consistency: alarms", lambda: _alarms(watched())
    yield "consistency: a single look", lambda: watched().single_look()
    yield "consistency: days", lambda: watched().table()
    yield "consistency: everything", lambda: {k: v for k, v in watched().to_dict().items() if k != "days"}
    yield "limits of a group", lambda: vars_of(watched().limits("eu"))


def _alarms(monitor):
    return {str(group): [vars_of(alarm) for alarm in told] for group, told in monitor.alarms().items()}


def vars_of(thing):
    names = getattr(thing, "__dataclass_fields__", None) or vars(thing)
    return {name: getattr(thing, name) for name in names if not name.startswith("_")}


def refusals():
    """What is refused at the doors, each by the first words of its sentence."""
    s, t = system(60), system(7)
    rules, log, keys = s.rules(), _log(s), {"prediction": "yhat", "explanation": "key"}
    holes = [*s.labels[:-1], None]
    calls = {
        "too few predictions": lambda: fs.consistency(s.keys, s.labels[:5]),
        "no rows": lambda: fs.consistency([], []),
        "a missing prediction": lambda: fs.consistency(s.keys, holes),
        "a missing number": lambda: fs.consistency(s.keys, [np.nan, *s.numbers[1:]], agreement=fs.Close(1.0)),
        "labels by closeness": lambda: fs.consistency(s.keys, s.labels, agreement=fs.Close(1.0)),
        "an agreement's name": lambda: fs.consistency(s.keys, s.numbers, agreement="near"),
        "a negative eps": lambda: fs.Close(-1.0),
        "confidence of 95": lambda: fs.consistency(s.keys, s.labels, confidence=95),
        "an unknown interval": lambda: fs.consistency(s.keys, s.labels, interval="wald"),
        "negative weights": lambda: fs.consistency(s.keys, s.labels, weights=-s.weights),
        "no weight at all": lambda: fs.consistency(s.keys, s.labels, weights=np.zeros(s.n)),
        "too few weights": lambda: fs.consistency(s.keys, s.labels, weights=s.weights[:3]),
        "a missing cluster": lambda: fs.consistency(s.keys, s.labels, clusters=holes),
        "an unknown discretizer": lambda: fs.consistency(fs.Importances(s.x), s.labels, discretizer="sgn"),
        "a discretizer of another kind": lambda: fs.consistency(rules, s.labels, discretizer="sign"),
        "sufficiency of importances": lambda: fs.sufficiency(fs.Importances(s.x), s.labels, s.x),
        "sufficiency without rows": lambda: fs.sufficiency(rules, s.labels),
        "rules of other columns": lambda: fs.sufficiency(rules, s.labels, s.table.rename(columns={"age": "years"})),
        "rows of another length": lambda: fs.sufficiency(rules, s.labels, t.table),
        "rules on shuffled labels": lambda: fs.sufficiency(
            rules, pd.Series(s.labels, index=s.rng.permutation(60)), s.table
        ),
        "a ball of no radius": lambda: fs.Ball(-1.0),
        "balls of rules": lambda: fs.sufficiency(rules, s.labels, s.table, relation=fs.Ball(1.0)),
        "a population of labels": lambda: fs.sufficiency(rules, s.labels, s.table, population=fs.Perturbed(s.table)),
        "within a negative distance": lambda: fs.within(s.x, s.labels, -1.0),
        "within of keys": lambda: fs.within(s.labels, s.labels, 1.0),
        "an unknown metric": lambda: fs.within(s.x, s.labels, 1.0, metric="far"),
        "necessity of importances": lambda: fs.necessity(fs.Importances(s.x), s.labels, s.x),
        "encoding without rows": lambda: fs.encoding(rules, s.labels),
        "importances of one column": lambda: fs.Importances(s.numbers),
        "importances with a hole": lambda: fs.Importances(np.full((3, 2), np.nan)),
        "names of too few features": lambda: fs.Importances(s.x, names=["age"]),
        "a rule with an unknown operator": lambda: fs.Rules.from_conditions([[("age", "~", 1.0)]], features=["age"]),
        "a rule of an unknown feature": lambda: fs.Rules.from_conditions([[("year", "<=", 1.0)]], features=["age"]),
        "a rule that cannot be read": lambda: fs.Rules.parse(["age or so"], features=["age"]),
        "prototypes beyond the points": lambda: fs.Prototypes([0, 9], points=t.x),
        "counterfactuals of other rows": lambda: fs.Counterfactuals(s.x, t.x),
        "a judge of other rows": lambda: fs.sufficiency(t.judge()[0], t.labels, relation=s.judge()[1]),
        "one run": lambda: fs.repeatability([s.keys]),
        "runs of other rows": lambda: fs.repeatability([s.keys, t.keys]),
        "one explainer": lambda: fs.explainer_agreement({"a": s.keys}),
        "leakage of importances": lambda: fs.leakage(fs.Importances(s.x), s.labels),
        "a plan of a word": lambda: fs.plan("consistency"),
        "a plan for no silence": lambda: fs.plan(fs.consistency(s.keys, s.labels), unverifiable=0.0),
        "certified weights": lambda: fs.certify(fs.Importances(s.x), s.labels, interval="wald"),
        "an evaluation of swapped arguments": lambda: fs.evaluate(s.table, s.model, rules, progress=False),
        "a comparison of nothing": lambda: fs.compare(s.model, {}, s.table, progress=False),
        "groups of another length": lambda: fs.evaluate(s.labels, s.keys, s.table, progress=False).by(t.groups),
        "something that nobody reads": lambda: fs.read(object()),
        "an audit without a prediction": lambda: fs.audit(log, explanation="key"),
        "an audit of an unknown column": lambda: fs.audit(log, **{**keys, "explanation": "why"}),
        "an audit of a missing file": lambda: fs.audit("no-such-file.parquet", **keys),
        "an audit with a missing prediction": lambda: fs.audit(log.assign(yhat=holes), **keys),
        "an audit of an unknown kind": lambda: fs.audit(log, **keys, kind="words"),
        "an audit with a condition that fails": lambda: fs.audit(log, **keys, where="age >"),
        "a monitor of other lengths": lambda: fs.Monitor().add(s.keys, t.labels),
        "a monitor's bound of 2": lambda: fs.Monitor(at_least=2.0),
        "an explanation that was never given": lambda: fs.sample_until([(s.keys, s.labels)], 0, epsilon=2.0, budget=9),
    }
    yield from calls.items()


PARTS = {
    "consistency": consistency,
    "sufficiency": sufficiency,
    "beyond": beyond,
    "populations": populations,
    "within": within,
    "hidden": hidden,
    "rows": rows,
    "deciding": deciding,
    "explaining": explaining,
    "finding": finding,
    "discretized": discretized,
    "explainers": explainers,
    "gradients": gradients,
    "dice": dice,
    "logs": logs,
    "monitors": monitors,
    "refusals": refusals,
}
# What a part needs beside what tests install, and the libraries on whose fits and draws its answers stand.
NEEDS = {"gradients": "torch", "dice": "dice_ml", "explainers": "shap"}
MADE_WITH = {"explainers": "sklearn", "dice": "dice_ml"}


def answers(part):
    """What every case of a part answers, each number by its name."""
    told = {}
    if part in MADE_WITH:
        told["made with"] = {"library": made_with(part)}
    for name, call in PARTS[part]():
        assert name not in told, f"{part} has two cases {name!r}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                told[name] = dict(named(call()))
            except FaithscopeError as error:
                told[name] = {"refused": f"{type(error).__name__}: {' '.join(str(error).split()[:SENTENCE])}"}
    return told


def made_with(part):
    """The library on whose fits and draws the answers of a part stand, with its version."""
    library = packages_distributions()[MADE_WITH[part]][0]
    return f"{library} {'.'.join(version(library).split('.')[:2])}"


def named(thing, path=""):
    """Every number, word and truth of an answer by the way to it; columns of a table by their sums."""
    if hasattr(thing, "to_dict") and not isinstance(thing, pd.DataFrame):
        thing = thing.to_dict()
    if isinstance(thing, pd.DataFrame):
        yield f"{path}rows".strip(), len(thing)
        for column in thing:
            values = thing[column]
            if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
                yield from named(sums(values.to_numpy(float, na_value=np.nan).reshape(-1, 1)), f"{path}{column} ")
            else:
                yield f"{path}{column}".strip(), letters([str(value) for value in values])
    elif isinstance(thing, Mapping):
        for name, value in thing.items():
            yield from named(value, f"{path}{name} ")
    elif isinstance(thing, list | tuple | np.ndarray):
        for place, value in enumerate(thing):
            if "notes" in path or path.strip() == "note":
                value = " ".join(str(value).split()[:NOTE])
            yield from named(value, f"{path}{place} ")
    elif thing is None or isinstance(thing, bool | np.bool_ | str):
        yield path.strip(), bool(thing) if isinstance(thing, np.bool_) else thing
    elif isinstance(thing, int | float | np.number):
        yield path.strip(), thing.item() if isinstance(thing, np.number) else thing
    else:
        yield path.strip(), str(thing)


def written(cases):
    """The text of a part: a case per line, its answers below it."""
    told = [[name, *(f"  {key}: {_shown(value)}" for key, value in case.items())] for name, case in cases.items()]
    return "\n\n".join("\n".join(lines) for lines in told) + "\n"


def _shown(value):
    return (
        f"{value:.15g}" if isinstance(value, float) and math.isfinite(value) else json.dumps(value, ensure_ascii=False)
    )


def kept(part):
    """The cases of a part as they are kept."""
    cases = {}
    for case in (NUMBERS / f"{part}.txt").read_text().rstrip().split("\n\n"):
        name, *lines = case.split("\n")
        told = (line.partition(": ") for line in lines)
        cases[name] = {key.strip(): json.loads(value) for key, _, value in told}
    return cases


def differences(old, new):
    """Each number that is not what it was, in a sentence of its own."""
    told = [f"{name}: no longer measured" for name in old if name not in new]
    told += [f"{name}: new" for name in new if name not in old]
    for name in (name for name in old if name in new):
        for key in {**old[name], **new[name]}:
            before, after = old[name].get(key, "nothing"), new[name].get(key, "nothing")
            if not same(key, before, after):
                told.append(f"{name}, {key}: was {before!r}, is {after!r}")
    return told


def same(key, before, after):
    """Whether two answers are one: numbers to 1e-10, ends of intervals to 1e-9."""
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (before, after))
    if not numbers:
        return type(before) is type(after) and bool(before == after)
    if math.isnan(before) or math.isnan(after):
        return math.isnan(before) and math.isnan(after)
    close = 1e-7 if key in DIGESTS else 1e-9 if any(word in key for word in ENDS) else 1e-10
    return before == after or abs(before - after) <= close * max(1.0, abs(before))


def main():
    """Compare, or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    differ = 0
    for part in chosen.parts or PARTS:
        before, new = kept(part), json.loads(json.dumps(answers(part)))
        told = differences(before, new)
        for name, case in new.items():  # what did not change stays as it was written, in its place
            held = {key: old for key, old in before.get(name, {}).items() if key in case}
            new[name] = {
                **held,
                **{key: now for key, now in case.items() if key not in held or not same(key, held[key], now)},
            }
        if chosen.write:
            (NUMBERS / f"{part}.txt").write_text(written(new))
        differ += len(told)
        print(f"{part}: {len(new)} cases, {sum(map(len, new.values()))} answers", *told, sep="\n  ")
    sys.exit(min(1, differ))


if __name__ == "__main__":
    main()
