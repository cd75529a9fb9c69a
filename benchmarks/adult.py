"""Adult as it is, with its categories and missing values, through every door, with the time that each step takes.

    python benchmarks/adult.py                 # all explainers on 1,000 rows that the model has not seen
    python benchmarks/adult.py --rows 200      # fewer
    python benchmarks/adult.py --keep folder   # leave the report, the rows and the system there

FAITHSCOPE_DATA names the folder that holds adult.parquet. The model is scikit-learn's HistGradientBoostingClassifier,
which takes categories and missing values as they are, trained on UCI's own training rows. Nothing is encoded, filled
or dropped before it reaches faithscope.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

import faithscope as fs
from faithscope.explainers import (
    Anchors,
    Constant,
    Counterfactual,
    Dice,
    Lime,
    NearestNeighbors,
    Random,
    Shap,
    TreePath,
    Unique,
)

TRAINING_ROWS = 32_561  # UCI's own boundary


def load(folder: Path) -> tuple[pd.DataFrame, pd.Series]:
    """All rows as they are, texts as categories, and their labels."""
    table = pd.read_parquet(folder / "adult.parquet")
    texts = [name for name in table.columns[:-1] if not pd.api.types.is_numeric_dtype(table[name])]
    return table.drop(columns="label").astype(dict.fromkeys(texts, "category")), table["label"]


def fitted(train: pd.DataFrame, labels: pd.Series) -> HistGradientBoostingClassifier:
    """The model, which takes categories and missing values as they are."""
    trees = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=50, random_state=0)
    return trees.fit(train, labels)


def system(folder: Path | None = None) -> tuple[Any, dict[str, Any]]:
    """The model and every explainer of a table that faithscope has, each on the training rows as they are."""
    X, y = load(folder or Path(os.environ["FAITHSCOPE_DATA"]))
    train, labels = X[:TRAINING_ROWS], y[:TRAINING_ROWS]
    model = fitted(train, labels)
    sampled = train.sample(2_000, random_state=0)
    return model, {
        "surrogate tree": TreePath.surrogate(model, train, max_leaf_nodes=64),
        "SHAP": Shap(model, train.sample(50, random_state=0)),
        "LIME": Lime(model, train, samples=1_000),
        "anchors": Anchors(model, train, beam=1),
        "counterfactual": Counterfactual(model, train),
        "DiCE": Dice(model, sampled),
        "nearest neighbor": NearestNeighbors(sampled, metric="gower"),
        "always the same": Constant(),
        "at random": Random(8),
        "all different": Unique(),
    }


def timed(what: str, work: Callable[[], Any]) -> Any:
    """What the work gives, after a line that says how long it took."""
    start = time.perf_counter()
    answer = work()
    print(f"{what:<58}{time.perf_counter() - start:>9.1f} s", flush=True)
    return answer


def command(folder: Path, rows: int) -> dict[str, Any]:
    """The command line on the same rows, by sex, as JSON."""
    X, _ = load(Path(os.environ["FAITHSCOPE_DATA"]))
    X[TRAINING_ROWS:].sample(rows, random_state=0).to_parquet(folder / "rows.parquet")
    (folder / "adult_system.py").write_text(
        "from adult import system as every\n\n\ndef system():\n"
        "    model, methods = every()\n    return model, {'surrogate tree': methods['surrogate tree']}\n"
    )
    words = ["--system", "adult_system:system", "--data", "rows.parquet", "--by", "sex", "--json"]
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "faithscope", "evaluate", *words, "--report", "cli.html"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return dict(json.loads(done.stdout))


def main() -> None:
    """Every door once, each with its time."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=1_000, help="rows on which all explainers are compared")
    options.add_argument("--keep", type=Path, help="a folder for the report, the rows and the system")
    chosen = options.parse_args()
    X, _ = load(Path(os.environ["FAITHSCOPE_DATA"]))
    missing = int(X.isna().any(axis=1).sum())
    print(f"Adult as it is: {len(X):,} rows, {X.shape[1]} columns, {missing:,} rows with a missing value")
    model, methods = timed("model and explainers prepared", system)
    tree = methods["surrogate tree"]
    everyone = timed(f"evaluate, surrogate tree, {len(X):,} rows", lambda: fs.evaluate(model, tree, X))
    print(everyone)
    print(timed("  by sex", lambda: everyone.by(X["sex"])))
    print(timed("  counterexamples", lambda: everyone.counterexamples(3)).to_string())
    same = timed(f"evaluate, always the same, {len(X):,} rows", lambda: fs.evaluate(model, Constant(), X))
    print(timed("  counterexamples", lambda: same.counterexamples(3)).to_string())
    rows = X[TRAINING_ROWS:].sample(chosen.rows, random_state=0)
    coarser = {"SHAP": fs.SignOfTop(5), "LIME": fs.SignOfTop(5), "counterfactual": fs.Modified(), "DiCE": fs.Modified()}
    compared = timed(
        f"compare, {len(methods)} explainers, {len(rows):,} rows",
        lambda: fs.compare(model, methods, rows, discretizer=coarser, groups=rows["sex"], progress=False),
    )
    for name, evaluation in compared.evaluations.items():
        spent = sum(seconds for phase, seconds in evaluation.seconds.items() if phase != "predicting")
        print(f"  {name:<18}{spent:>8.1f} s   {evaluation.consistency}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        timed("the report", lambda: compared.to_html(folder / "report.html"))
        told = timed(f"faithscope evaluate --by sex --report, {len(rows):,} rows", lambda: command(folder, len(rows)))
    agree = told["evaluations"]["surrogate tree"]["consistency"]["value"]
    if not np.isclose(agree, compared.evaluations["surrogate tree"].consistency.value):
        sys.exit(f"The command line says {agree}, compare says {compared.evaluations['surrogate tree'].consistency}.")


if __name__ == "__main__":
    main()
