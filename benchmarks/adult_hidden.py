"""Adult as it is: every explainer by consistency, sufficiency, necessity, encoding and repeatability.

    python benchmarks/adult_hidden.py                  # 1,000 rows that the model has not seen; about 15 minutes
    python benchmarks/adult_hidden.py --rows 200       # fewer; nothing is kept

FAITHSCOPE_DATA names the folder that holds adult.parquet. The model is scikit-learn's HistGradientBoostingClassifier,
which takes categories and missing values as they are, trained on UCI's own training rows. Each explainer is repeated
with what changes between two runs of it: its seed, its background rows, or the training rows that it learns from.
"""

import os
from pathlib import Path

import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

import faithscope as fs
from faithscope.explainers import (
    Anchors,
    Constant,
    Counterfactual,
    Lime,
    Random,
    Shap,
    TreePath,
)
from ratios import markdown, options, tell

TRAINING_ROWS = 32_561  # UCI's own boundary
RUNS = 5
REPEATED = 100  # rows that are explained again and again
COARSER = {"SHAP": fs.SignOfTop(5), "LIME": fs.SignOfTop(5), "counterfactual": fs.Modified()}


def adult():
    """All rows as they are, and their labels."""
    table = pd.read_parquet(Path(os.environ["FAITHSCOPE_DATA"]) / "adult.parquet")
    return table.drop(columns="label"), table["label"]


def factories(model, train):
    """Per explainer what changes between runs, and a function from a seed to the explainer."""

    def sample(rows, seed):
        return train.sample(rows, random_state=seed)

    half = len(train) // 2
    return {
        "surrogate tree": (
            "training rows",
            lambda seed: TreePath.surrogate(model, sample(half, seed), max_leaf_nodes=64),
        ),
        "SHAP": ("background rows", lambda seed: Shap(model, sample(50, seed))),
        "LIME": ("seed", lambda seed: Lime(model, train, samples=1_000, seed=seed)),
        "anchors": ("seed", lambda seed: Anchors(model, train, beam=1, seed=seed)),
        "counterfactual": ("training rows", lambda seed: Counterfactual(model, sample(half, seed))),
        "always the same": ("seed", lambda seed: Constant()),
        "at random": ("seed", lambda seed: Random(8, seed=seed)),
        "the prediction itself": ("seed", lambda seed: lambda X: restated(model, X)),
    }


def restated(model, X):
    """A rule that holds for everybody, another one per prediction: the choice says all, the rule nothing."""
    always = {0: [("age", "<=", 200.0)], 1: [("hours-per-week", "<=", 200.0)]}
    chosen = [always[int(label != model.classes_[0])] for label in model.predict(X)]
    return fs.Rules.from_conditions(chosen, features=list(X.columns))


def line(name, changed, factory, model, rows):
    """All measures of one explainer."""
    evaluation = fs.evaluate(model, factory(0), rows, discretizer=COARSER.get(name), progress=False)
    again = fs.repeatability(factory, rows[:REPEATED], runs=RUNS, discretizer=COARSER.get(name), progress=False)
    encoding = evaluation.encoding() if evaluation.sufficiency is not None else None
    return {
        "explainer": name,
        "n": len(rows),
        "consistency": shown(evaluation.consistency),
        "unverifiable": f"{evaluation.consistency.unverifiable:.0%}",
        "sufficiency": shown(evaluation.sufficiency),
        "necessity": shown(evaluation.necessity),
        "encoding": "–" if encoding is None or encoding.value is None else shown(encoding),
        "encodes": {None: "–", True: "yes", False: "not seen"}[None if encoding is None else encoding.encodes],
        "repeatability": shown(again),
        "between runs": changed,
    }


def shown(estimate):
    """A value with its interval."""
    return "–" if estimate is None else f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def table(rows):
    """One line per explainer."""
    X, y = adult()
    X = X.astype(dict.fromkeys(X.select_dtypes(exclude="number"), "category"))
    train = X[:TRAINING_ROWS]
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=50, random_state=0)
    model.fit(train, y[:TRAINING_ROWS])
    seen = X[TRAINING_ROWS:].sample(rows, random_state=0)
    yield f"Adult, {rows:,} rows, {RUNS} runs\n"
    yield from markdown(line(name, *made, model, seen) for name, made in factories(model, train).items())


if __name__ == "__main__":
    asked = options(__doc__, rows=1_000).rows
    tell(table(asked), "adult_hidden.txt" if asked >= 1_000 else None)
