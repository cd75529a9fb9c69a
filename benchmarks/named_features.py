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
from ratios import RESULTS, describe_machine, options, save_svg, tell
from wrong_reasons import coded, explained, table_of

NAMES = ("adult", "heart", "covtype", "chess", "avila", "bank", "wine", "breast cancer")
TRAINED, MEASURED = 8_000, 2_000
KEPT = "named_features.txt"
WAYS = {  # of naming features, and their colors
    "chance": "#8a94a3",
    "columns reversed": "#a61f1a",
    "random three": "#7b3a8c",
    "the same three": "#b8500b",
    "named by SHAP": "#0068a3",
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
    return {
        "table": name,
        "rows": len(X),
        "chance": right.chance,
        "named by SHAP": right.value,
        "columns reversed": wrong.value,
        "random three": right.value - right.beyond_random.value,
        "the same three": right.value - right.beyond_global.value,
        "beyond random": "{:+.3f} ({:+.3f} to {:+.3f})".format(*right.beyond_random),
        "beyond the same": "{:+.3f} ({:+.3f} to {:+.3f})".format(*right.beyond_global),
        "reversed beyond random": "{:+.3f} ({:+.3f} to {:+.3f})".format(*wrong.beyond_random),
    }


def markdown(lines):
    """The lines of a table; shares with three decimals."""
    yield f"| {' | '.join(lines[0])} |"
    yield "|---" * len(lines[0]) + "|"
    for told in lines:
        yield f"| {' | '.join(f'{cell:.3f}' if isinstance(cell, float) else str(cell) for cell in told.values())} |"


def draw(kept, path):
    """A dot per table and way of naming features, from lines that were kept."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in kept if line.startswith("| ")]
    points = [
        {"table": told["table"], "agreement": float(told[way]), "features": way}
        for told in (dict(zip(cells[0], row, strict=True)) for row in cells[1:])
        for way in WAYS
    ]
    encoded = {
        "y": alt.Y("table:N", sort=list(NAMES), title=None),
        "x": alt.X("agreement:Q", title="share of rows alike in the features that get the same prediction"),
        "color": alt.Color("features:N", scale=alt.Scale(domain=list(WAYS), range=list(WAYS.values())), title=None),
        "shape": alt.Shape("features:N", scale=alt.Scale(domain=list(WAYS)), title=None),
    }
    chart = alt.Chart(alt.Data(values=points)).mark_point(filled=True, size=90, opacity=1).encode(**encoded)
    text = {"labelFontSize": 12, "titleFontSize": 12}
    chart = chart.properties(width=470, height=26 * len(cells) - 26).configure(
        axis=text, legend=text, view={"stroke": None}, background="white"
    )
    save_svg(chart, path)


def main():
    """Measure, print and keep the table, or draw the one that was kept."""
    chosen = options(__doc__, only=[], plot=Path)
    if chosen.plot:
        draw((RESULTS / KEPT).read_text().splitlines(), chosen.plot)
        return
    lines = [line(name) for name in chosen.only or NAMES]
    machine = describe_machine(("faithscope", "scikit-learn", "shap"))
    tell([machine, "", *markdown(lines)], None if chosen.only else KEPT)


if __name__ == "__main__":
    main()
