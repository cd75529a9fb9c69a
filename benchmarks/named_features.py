"""Does it name the right features? Sufficiency of the features that exact SHAP values name, and of wrong ones.

    python benchmarks/named_features.py                 # the table of docs/features.md, kept in results/
    python benchmarks/named_features.py --only heart    # one table; nothing is kept
    python benchmarks/named_features.py --plot docs/images/features.svg   # draw what was kept

FAITHSCOPE_DATA names the folder of the paper's data sets. The model is scikit-learn's HistGradientBoostingClassifier,
fitted on rows that are not measured; shap's TreeExplainer explains the class that it predicts. A row names its three
features of largest size; rows are alike in a number if both lie in the same quarter, in a category if it is the same.
"""

from pathlib import Path

import altair as alt
import numpy as np

import faithscope as fs
from ratios import RESULTS, coded, describe_machine, markdown, marked, options, save_panels, tell
from wrong_reasons import explained, table_of

NAMES = ("adult", "heart", "covtype", "chess", "avila", "bank", "wine", "breast cancer")
TRAINED, MEASURED = 8_000, 2_000
KEPT = "named_features.txt"
MARKS = {  # of ways of naming features
    "chance": ("#8a94a3", "circle"),
    "columns reversed": ("#a61f1a", "square"),
    "random three": ("#7b3a8c", "cross"),
    "the same three": ("#b8500b", "diamond"),
    "named by SHAP": ("#0068a3", "triangle-up"),
}


def line(name):
    """The line of one table: rows name the three features of largest size."""
    X, y = table_of(name)
    order, many = np.random.default_rng(0).permutation(len(X)), min(MEASURED, len(X) // 2)
    held, train, numbers = order[:many], order[many : many + TRAINED], coded(X)
    _, predictions, values = explained(numbers.iloc[train], y[train], numbers.iloc[held])
    X = X.iloc[held].reset_index(drop=True)
    right, wrong = (
        fs.sufficiency(fs.Importances(each, names=list(X)), predictions, X, relation=fs.Alike(3))
        for each in (values, values[:, ::-1])
    )
    gains = {"beyond random": right.beyond_random, "beyond the same": right.beyond_global}
    gains["reversed beyond random"] = wrong.beyond_random
    return {
        "table": name,
        "rows": len(X),
        "chance": right.chance,
        "named by SHAP": right.value,
        "columns reversed": wrong.value,
        "random three": right.value - right.beyond_random.value,
        "the same three": right.value - right.beyond_global.value,
        **{name: "{:+.3f} ({:+.3f} to {:+.3f})".format(*gain) for name, gain in gains.items()},
    }


def draw(kept, path):
    """A dot per table and way of naming features, from lines that were kept."""
    heads, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in kept if line.startswith("| "))
    lines = [dict(zip(heads, row, strict=True)) for row in rows]
    points = [{"table": each["table"], "agreement": float(each[way]), "by": way} for each in lines for way in MARKS]
    title = "share of rows alike in the features that get the same prediction"
    dots = alt.Chart().mark_point(filled=True, size=90, opacity=1)
    dots = dots.encode(
        *marked(MARKS), y=alt.Y("table:N", sort=list(NAMES), title=None), x=alt.X("agreement:Q", title=title)
    )
    save_panels([dots], points, None, path, width=470, height=26 * len(rows))


if __name__ == "__main__":
    chosen = options(__doc__, only=[], plot=Path)
    if chosen.plot:
        draw((RESULTS / KEPT).read_text().splitlines(), chosen.plot)
    else:
        machine = describe_machine(("faithscope", "scikit-learn", "shap"))
        tell([machine, "", *markdown(map(line, chosen.only or NAMES))], None if chosen.only else KEPT)
