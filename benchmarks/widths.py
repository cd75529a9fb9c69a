"""How wide the interval of consistency is on the seven data sets of the paper: about all silence, and the default.

    FAITHSCOPE_DATA=folder python benchmarks/widths.py            # printed: benchmarks/results/widths.txt
    FAITHSCOPE_DATA=folder python benchmarks/widths.py --quick    # two data sets, fewer rows

A model is trained on one part of the rows, a random forest for tables and a logistic model for texts; explanations are
made for others: leaves of decision trees with at most 2⁶, 2⁸ and 2¹¹ leaves, SHAP values of the forest (signs of the
five largest; rounded down to a decimal), the nearest of 1,000 training rows; for texts the first word, and the word of
the highest coefficient. Explainers are fixed before the rows they explain are seen. Without FAITHSCOPE_DATA there are
no rows, and nothing is measured.
"""

import os

import numpy as np
from numpy.random import default_rng
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.datasets import NAMES, load
from faithscope.explainers import FirstWord, Shap, TopCoefficient, TreePath
from faithscope.measures.estimate import estimate
from ratios import describe_machine, numbers, options

TRAINED = 10_000  # rows, at most; half of the rows if there are fewer
SIZES = (200, 1_000, 5_000)


def width(name, what, explanations, predictions):
    """An interval before and after on rows of one data set with one kind of explanation, and what the default saves."""
    before = estimate(fs.count(explanations, predictions), interval="jackknife")
    after = fs.consistency(explanations, predictions)
    old, new = before.high - before.low, after.high - after.low
    told = {"n": after.n, "unverifiable": after.unverifiable, "value": after.value}
    return {"rows_of": name, "explanations": what, **told, "before": old, "after": new, "narrower": 1 - new / old}


def explain_table(rows, trained, most, contributions):
    """Explanations by their names, and predictions, of rows that nothing was trained on.

    Of training rows, their labels and other rows `contributions` makes a name, importances and predictions.
    """
    order = default_rng(0).permutation(len(rows.y))
    train, rest, X = order[:trained], order[trained : trained + most], numbers(rows.X)
    explained = {}
    for power in (6, 8, 11):
        tree = DecisionTreeClassifier(max_leaf_nodes=2**power, random_state=0).fit(X[train], rows.y[train])
        explained[f"tree, 2^{power} leaves"] = TreePath(tree).explain(X[rest])
    name, values, predictions = contributions(X[train], rows.y[train], X[rest])
    explained[f"{name}, sign of top 5"] = fs.SignOfTop(5)(values)
    explained[f"{name}, 1 decimal"] = fs.Floor(1)(values)
    scale = StandardScaler().fit(X[train])
    neighbors = NearestNeighbors(n_neighbors=1).fit(scale.transform(X[train[:1_000]]))
    explained["nearest of 1,000 rows"] = neighbors.kneighbors(scale.transform(X[rest]), return_distance=False)[:, 0]
    return explained, predictions


def by_forest(train, labels, rest):
    """SHAP values of a random forest."""
    forest = RandomForestClassifier(20, max_depth=8, random_state=0).fit(train, labels)
    return "SHAP", Shap(forest, train[:5], class_index=1).explain(rest), forest.predict(rest)


def explain_texts(rows, trained, most):
    """The same for texts."""
    order, texts = default_rng(0).permutation(len(rows.y)), rows.X["text"].to_numpy(object)
    train, rest = order[:trained], order[trained : trained + most]
    words = CountVectorizer().fit(texts[train])
    model = LogisticRegression(max_iter=200).fit(words.transform(texts[train]), rows.y[train])
    explained = list(texts[rest])
    given = {
        "first word": FirstWord().explain(explained),
        "top coefficient": TopCoefficient(model, words).explain(explained),
    }
    return given, model.predict(words.transform(explained))


def measure(name, sizes):
    """Widths on one data set: the first n rows, for every n, and all if they are fewer."""
    rows, most = load(name), max(sizes)
    half = len(rows.y) // 2
    if "text" in rows.X:
        explained, predictions = explain_texts(rows, half, most)
    else:
        explained, predictions = explain_table(rows, min(TRAINED, half), most, by_forest)
    for what, given in explained.items():
        for n in sorted({min(size, len(predictions)) for size in sizes}):
            yield width(name, what, given.take(np.arange(n)), predictions[:n])


def table(widths):
    """A line per data set, kind of explanation and number of rows; and how much narrower the default is by rows."""
    head = f"{'unverif.':>9}{'value':>7}{'before':>8}{'after':>8}{'narrower':>9}"
    yield f"{'data set':<13}{'explanations':<24}{'n':>6}{head}"
    for each in widths:
        shares = f"{each['unverifiable']:>9.3f}{each['value']:>7.3f}{each['before']:>8.3f}{each['after']:>8.3f}"
        yield f"{each['rows_of']:<13}{each['explanations']:<24}{each['n']:>6,}{shares}{each['narrower']:>9.0%}"
    for n in sorted({each["n"] for each in widths}):
        gains = [each["narrower"] for each in widths if each["n"] == n]
        median, most = np.median(gains), max(gains)
        yield f"n = {n:,}: {len(gains)} intervals, narrower by {median:.0%} in the median, by {most:.0%} at most"


if __name__ == "__main__":
    quick = options(__doc__, quick=False).quick
    if os.environ.get("FAITHSCOPE_DATA"):
        names, sizes = (("heart", "chess"), SIZES[:2]) if quick else (NAMES, SIZES)
        widths = [each for name in names for each in measure(name, sizes)]
        print(describe_machine(("faithscope", "numpy", "scikit-learn", "shap")), "\n")
        print("\n".join(table(widths)))
    else:
        print("skipped: widths need the paper's data sets; FAITHSCOPE_DATA names no folder that has them")
