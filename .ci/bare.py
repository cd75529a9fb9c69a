"""The package as `pip install faithscope` leaves it: it measures, and names every extra that it misses."""

import json
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LogisticRegression

import faithscope as fs
from faithscope.errors import MissingExtra

EXTRAS = ("vl_convert", "shap", "xgboost", "dice_ml", "torch", "psycopg", "pyspark", "pytest", "polars")
SYSTEM = """
import numpy as np
system = (lambda X: X["a"].to_numpy() > 0), {"rounded": lambda X: np.round(X.to_numpy())}
"""


def missing(extra, work):
    """Raise unless some work says which extra it needs."""
    told = "nothing was missed"
    try:
        work()
    except MissingExtra as error:
        told = str(error)
    assert f"faithscope[{extra}]" in told, f"{extra}: {told}"
    print(f"without {extra}: {told}")


def command(folder, *words):
    """What a command prints; it must succeed."""
    program = Path(sys.executable).parent / "faithscope"
    return subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def without_the_reproduction(folder):
    """Raise unless the command that reproduces the paper says how to install what it needs."""
    words = [Path(sys.executable).parent / "faithscope", "reproduce", "table1", "--quick"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2, done
    assert "pip install ./reproduction" in done.stderr, done
    print(done.stderr)


def main():
    """Import, measure, run the commands, and miss the extras."""
    assert not [name for name in EXTRAS if find_spec(name)], "this environment is not bare"
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 2)).round(1), columns=["a", "b"])
    model = LogisticRegression().fit(X, X["a"] > 0)
    found = fs.compare(model, {"LIME": fs.explainers.Lime(model.predict_proba, X, samples=500)}, X, progress=False)
    print(found)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found.to_html(folder / "report.html")
        chart = found["LIME"].consistency.plot()
        chart.save(folder / "chart.html")
        assert "<iframe" in chart._repr_html_()
        missing("pictures", lambda: chart.save(folder / "chart.png"))
        (folder / "mine.py").write_text(SYSTEM)
        X.to_parquet(folder / "X.parquet")
        fs.evaluate(model, lambda X: np.round(X.to_numpy()), X, progress=False).to_parquet(folder / "log.parquet")
        assert json.loads(command(folder, "evaluate", "--system", "mine:system", "--data", "X.parquet", "--json"))
        assert json.loads(command(folder, "audit", "log.parquet", "--json"))
        print(command(folder, "plan", "log.parquet"))
        print(command(folder, "demo"))
        without_the_reproduction(folder)
    fs.explainers.Shap(model, X).explain(X[:20])
    trees = GradientBoostingRegressor(n_estimators=5).fit(X, X["a"])
    missing("shap", lambda: fs.explainers.Shap(trees, X).explain(X))
    missing("dice", lambda: fs.explainers.Dice(model, X).explain(X))
    missing("torch", lambda: fs.explainers.Gradient(model).explain(X))
    missing("postgres", lambda: fs.audit("t", prediction="y", explanation="e", connect="postgres://u@localhost/x"))
    missing("spark", lambda: fs.audit("t", prediction="y", explanation="e", connect="spark"))


if __name__ == "__main__":
    main()
