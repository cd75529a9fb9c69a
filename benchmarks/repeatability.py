"""How repeatable are explanations of Adult, at the granularity that people read?

    python benchmarks/repeatability.py             # 300 rows, 5 runs; about two minutes
    python benchmarks/repeatability.py --rows 30   # fewer

FAITHSCOPE_DATA names the folder that holds adult.parquet. The model is a pipeline of scikit-learn's (texts one-hot with
missing ones as a category, gradient boosting), trained on UCI's own training rows and asked about rows that it has not
seen. LIME is run with 100, 1,000 and 5,000 samples, its draws shared by all rows or drawn for each row anew, as the
lime package does; the background rows of SHAP are drawn anew in each run.
"""

from functools import partial

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import faithscope as fs
from adult_hidden import TRAINING_ROWS, adult
from ratios import describe_machine, options


def makers(train, labels):
    """What makes an explainer of a seed, by name."""
    texts = OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_exclude=np.number)
    by_kind = make_column_transformer(texts, remainder="passthrough", verbose_feature_names_out=False)
    trees = HistGradientBoostingClassifier(max_iter=50, random_state=0)
    model = make_pipeline(by_kind, trees).fit(train, labels)
    sampled = train.sample(5_000, random_state=0)
    lime, shap = partial(fs.explainers.Lime, model, sampled), partial(fs.explainers.Shap, model)
    return {
        "Lime, 100 samples, shared draws": lambda seed: lime(samples=100, seed=seed),
        "Lime, 1,000 samples, shared draws": lambda seed: lime(samples=1_000, seed=seed),
        "Lime, 5,000 samples, shared draws": lambda seed: lime(seed=seed),
        "Lime, 1,000 samples, own draws": lambda seed: lime(samples=1_000, draws="own", seed=seed),
        "SHAP, 20 background rows drawn anew": lambda seed: shap(train.sample(20, random_state=seed)),
    }


if __name__ == "__main__":
    many = options(__doc__, rows=300).rows
    print(describe_machine(("faithscope", "numpy", "scipy", "sklearn")))
    X, y = adult()
    rows = X[TRAINING_ROWS:].sample(many, random_state=0)
    print(f"\nAdult, {many} rows, 5 runs, SignOfTop(5) of importances; 95% intervals\n")
    print(f"{'':<38}{'value':>6}{'interval':>15}{'these runs':>15}{'chance':>8}")
    for name, explain in makers(X[:TRAINING_ROWS], y[:TRAINING_ROWS]).items():
        told = fs.repeatability(explain, rows, discretizer=fs.SignOfTop(5), progress=False)
        both, alone = f"{told.low:.3f}-{told.high:.3f}", f"{told.rows_low:.3f}-{told.rows_high:.3f}"
        print(f"{name:<38}{told.value:>6.3f}{both:>15}{alone:>15}{told.chance:>8.3f}", flush=True)
        print(*(f"    {note}" for note in told.notes[:1]), sep="\n")
