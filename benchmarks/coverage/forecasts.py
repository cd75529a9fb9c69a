"""How well `plan` foresees: from n rows the unverifiable share at 4 n, held against what 4 n rows gave; also at 10 n.

On the paper's data sets, where FAITHSCOPE_DATA names a folder that has them. Explanations are cheap and real: paths of
trees with at most 2⁶, 2⁸ and 2¹¹ leaves, contributions of a logistic model (the five largest with their signs, and
all rounded to a decimal), the nearest of 1,000 training rows; for texts the first word, and the word of the highest
coefficient. Models are trained on other rows than those explained.
"""

import os

import numpy as np
from harness import Line, none
from numpy.random import default_rng
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.datasets import load
from faithscope.explainers import FirstWord, TopCoefficient, TreePath
from faithscope.readers import as_explanations
from ratios import numbers

TABLES = ("chess", "avila", "bank", "adult", "covtype")
TEXTS = ("rt_polarity",)
MOST = 40_000  # rows explained, at most
TIMES, FAR = 4, 10  # times the rows: only the interval is told at ten times
CLOSE = 0.04  # what the design promises of forecasts at 4 n


def explained(rows, texts):
    """Explanations by their names, of rows that nothing was trained on."""
    order, many = default_rng(0).permutation(len(rows.y)), 4_000 if texts else min(10_000, len(rows.y) - 16_000)
    train, rest = order[:many], order[many : many + MOST]
    labels = rows.y[train]
    if texts:
        documents = rows.X["text"].to_numpy(object)
        words, asked = CountVectorizer().fit(documents[train]), list(documents[order[many:]])
        model = LogisticRegression(max_iter=200).fit(words.transform(documents[train]), labels)
        return {
            "first word": FirstWord().explain(asked),
            "top coefficient": TopCoefficient(model, words).explain(asked),
        }
    X, given = numbers(rows.X), {}
    for power in (6, 8, 11):
        tree = DecisionTreeClassifier(max_leaf_nodes=2**power, random_state=0).fit(X[train], labels)
        given[f"tree, 2^{power} leaves"] = TreePath(tree).explain(X[rest])
    scale = StandardScaler().fit(X[train])
    scaled, others = scale.transform(X[train]), scale.transform(X[rest])
    values = fs.Importances(others * LogisticRegression(max_iter=200).fit(scaled, labels).coef_[0])
    given |= {"linear, sign of top 5": fs.SignOfTop(5)(values), "linear, 1 decimal": fs.Floor(1)(values)}
    nearest = NearestNeighbors(n_neighbors=1).fit(scaled[:1_000])
    return given | {"nearest of 1,000 rows": nearest.kneighbors(others, return_distance=False)[:, 0]}


def foreseen(codes, n, rng):
    """One draw of rows, given by the numbers of their explanations, of which the plan sees n.

    The interval must hold what was found to within one row: a share of 0 is found where 1e-9 is expected.
    """
    rows = rng.permutation(len(codes))
    parts = (codes[rows[: times * n]] for times in (1, TIMES, FAR))
    seen, whole, most = (fs.consistency(part, np.zeros(len(part))) for part in parts)
    plan = fs.plan(seen, unverifiable=0.999)
    answers = {"interval at 4 n": (*plan.interval(TIMES * n), whole.unverifiable, 1 / (TIMES * n))}
    if most.n == FAR * n:
        answers["interval at 10 n"] = (*plan.interval(FAR * n), most.unverifiable, 1 / most.n)
    if plan.forecastable:
        point = plan.at(TIMES * n)
        error = point - whole.unverifiable
        answers |= {"foreseen at 4 n": point, "found at 4 n": whole.unverifiable, "error": error}
        answers["error of expecting no change"] = seen.unverifiable - whole.unverifiable
        if plan.backtest is not None:
            calm = "at most" if abs(plan.backtest.error) <= CLOSE / 2 else "more than"
            answers[f"size of the error, back-test off by {calm} .02"] = abs(error)
    return answers


def lines():
    """The study of forecasts, a line per data set; none without the data sets."""
    if not os.environ.get("FAITHSCOPE_DATA"):
        print("skipped: forecasts need the paper's data sets; FAITHSCOPE_DATA names no folder that has them")
        return
    for name in TABLES + TEXTS:
        given = explained(load(name), name in TEXTS)
        codes = {f"{name}, {what}": as_explanations(each).group()[0] for what, each in given.items()}
        sizes = tuple(n for n in (250, 1_000, 4_000) if TIMES * n <= len(next(iter(codes.values()))))
        yield Line("forecasts", foreseen, codes, 10, bar=none, rows=sizes)


def by_part(cells):
    """The error of the point by the number of rows: of all draws, by data set and by kind of explanation."""
    told = [cell for cell in cells if cell.interval == "error" and cell.line == "forecasts"]
    for n in dict.fromkeys(cell.n for cell in told):
        parts = {}
        for cell in told:
            for part in ("all", *cell.system.split(", ", 1)) if cell.n == n else ():
                parts.setdefault(part, []).extend(cell.values or ())
        for part, errors in parts.items():
            off = np.abs(errors)
            nine, most, close = np.quantile(off, 0.9), off.max(), np.mean(off <= CLOSE)
            sizes = f"{off.mean():.3f} in size, nine in ten within {nine:.3f}, largest {most:.3f}"
            mean = f"mean error {np.mean(errors):+.3f}, {sizes}, {close:.0%} within {CLOSE}"
            yield f"n = {n:,}, {part}, {len(off)} draws: {mean}"
