"""How repeatable are explanations of Adult, at the granularity that people read?

    python benchmarks/repeatability.py             # 300 rows, 5 runs; about two minutes
    python benchmarks/repeatability.py --rows 30   # fewer

FAITHSCOPE_DATA names the folder that holds adult.parquet. The model is a pipeline of scikit-learn's (texts one-hot with
missing ones as a category, gradient boosting), trained on UCI's own training rows and asked about rows that it has not
seen. LIME is run with 100, 1,000 and 5,000 samples, its draws shared by all rows or drawn for each row anew, as the
lime package does; the background rows of SHAP are drawn anew in each run; a tree is retrained on bootstrapped rows.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from adult_hidden import TRAINING_ROWS, adult
from ratios import clock, describe_machine, options

FEWER = 5_000  # training rows that explainers and retrained models see


def makers(train: pd.DataFrame, labels: pd.Series) -> dict[str, Callable[[int], Any]]:
    """What makes an explainer of a seed, by name."""
    texts = OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_exclude=np.number)
    by_kind = make_column_transformer(texts, remainder="passthrough", verbose_feature_names_out=False)
    trees = HistGradientBoostingClassifier(max_iter=50, random_state=0)
    model = make_pipeline(by_kind, trees).fit(train, labels)
    sampled = train.sample(FEWER, random_state=0)

    def lime(samples: int, draws: Any) -> Callable[[int], Any]:
        return lambda seed: fs.explainers.Lime(model, sampled, samples=samples, draws=draws, seed=seed)

    def retrained(seed: int) -> Any:
        rows = train.sample(FEWER, replace=True, random_state=seed)
        numbers = rows.select_dtypes(np.number)
        return fs.explainers.TreePath(DecisionTreeClassifier(max_depth=4).fit(numbers, labels[rows.index]))

    def background(seed: int) -> Any:
        return fs.explainers.Shap(model, train.sample(20, random_state=seed))

    return {
        **{f"Lime, {size:,} samples, shared draws": lime(size, "shared") for size in (100, 1_000, 5_000)},
        **{f"Lime, {size:,} samples, own draws": lime(size, "own") for size in (100, 1_000)},
        "SHAP, 20 background rows drawn anew": background,
        "path of a retrained tree": retrained,
    }


def main() -> None:
    many = options(__doc__, rows=300).rows
    print(describe_machine(("faithscope", "numpy", "scipy", "sklearn")))
    X, y = adult()
    rows = X[TRAINING_ROWS:].sample(many, random_state=0)
    print(f"\nAdult, {many} rows, 5 runs, SignOfTop(5) of importances; 95% intervals\n")
    print(f"{'':<38}{'value':>6}{'interval':>15}{'these runs':>15}{'chance':>8}{'seconds':>9}")
    for name, explain in makers(X[:TRAINING_ROWS], y[:TRAINING_ROWS]).items():
        paths = name.startswith("path")
        asked, seen = (None, rows.select_dtypes(np.number)) if paths else (fs.SignOfTop(5), rows)
        spent, told = clock(partial(fs.repeatability, explain, seen, discretizer=asked, progress=False))
        both, alone = f"{told.low:.3f}-{told.high:.3f}", f"{told.rows_low:.3f}-{told.rows_high:.3f}"
        print(f"{name:<38}{told.value:>6.3f}{both:>15}{alone:>15}{told.chance:>8.3f}{spent:>9.1f}", flush=True)
        for note in told.notes[:1]:
            print(f"    {note}")
        print("    " + told.features(3).to_string(index=False, float_format="{:.3f}".format).replace("\n", "\n    "))


if __name__ == "__main__":
    main()
