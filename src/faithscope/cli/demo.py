"""faithscope demo: who is predicted to earn more, with reasons; on 8,000 people that come with the package."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faithscope.cli.options import CacheFolder, Json, ReportFile, SummaryFile
from faithscope.cli.outcome import Outcome, append_summary, tell

if TYPE_CHECKING:
    from faithscope.evaluation.compare import Comparison

CODES = "SHAP reason codes"


def demo(
    report: ReportFile = Path("report.html"),
    as_json: Json = False,
    summary: SummaryFile = None,
    cache: CacheFolder = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
) -> None:
    """Compare explanations of boosted trees on 4,000 people that the trees have not seen.

    Prints a table and what it shows, and writes report.html. Takes less than half a minute on two cores.

    Example: faithscope demo --report report.html
    """
    from faithscope.datasets import adult_sample

    append_summary(summary)
    if not find_spec("shap"):
        typer.echo(
            "Reason codes from SHAP are left out, since the shap package is not installed: "
            "pip install 'faithscope[shap]'",
            err=True,
        )
    adult = adult_sample()
    # A survey's weight; and education-num in words.
    people, half = adult.X.drop(columns=["fnlwgt", "education"]), len(adult.y) // 2
    train, others = people.iloc[:half], people.iloc[half:]
    model = _fitted(train, adult.y[:half])
    tell(
        demonstrate(model, train, others, cache=cache),
        "Adult: who is predicted to earn more than $50,000, and why",
        Outcome(report, as_json, summary),
    )
    if open_page:
        typer.launch(report.resolve().as_uri())


def demonstrate(model: Any, train: Any, others: Any, *, cache: Any = None) -> "Comparison":
    """Compare explainers on people that the model has not seen; SHAP among them if its package is installed."""
    import numpy as np

    from faithscope import explainers
    from faithscope.discretizers import ReasonCodes, SignOfTop
    from faithscope.evaluation.compare import compare

    married = others["marital-status"].isin(["Married-civ-spouse", "Married-AF-spouse"])
    asked: dict[str, Any] = {
        "LIME": explainers.Lime(model, train, samples=1000),
        "surrogate tree": explainers.TreePath.surrogate(model, train, max_leaf_nodes=16),
        "at random": explainers.Random(8),  # says nothing, on purpose
    }
    chosen: dict[str, Any] = {"LIME": SignOfTop(5)}
    if find_spec("shap"):
        asked = {CODES: explainers.Shap(model, train.iloc[:100]), **asked}
        chosen[CODES] = ReasonCodes(4, against=">50K")
    return compare(
        model, asked, others, discretizer=chosen, by=np.where(married, "married", "not married"), cache=cache
    )


def _fitted(train: Any, labels: Any) -> Any:
    """Boosted trees on the columns as they are: categories by number, missing values left missing."""
    import numpy as np
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    numbered = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    words = numbered, make_column_selector(dtype_exclude="number")
    columns = make_column_transformer(words, remainder="passthrough", verbose_feature_names_out=False)
    trees = HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=8, random_state=0)
    return make_pipeline(columns, trees).set_output(transform="pandas").fit(train, labels)
