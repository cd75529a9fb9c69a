"""What reports are made of in tests: a comparison with something of everything, and one with hostile names."""

from functools import cache
from io import StringIO

import numpy as np
import pandas as pd
from numpy.random import default_rng
from rich.console import Console

import faithscope as fs
from faithscope.report.document import Group
from faithscope.report.html import render
from faithscope.report.sections.contradictions import Contradiction
from faithscope.report.summary import summarize
from faithscope.report.terminal import show

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"quoted\" & 'quoted' `ticked`",
    "{{ 7 * 7 }} {% raw %} ${7*7}",
    "emoji 🦊 and\u2028line\u2029breaks",
    "عربي מימין \u202etfel ot thgir",
    "[red]markup[/red] \x1b[31mescape",
)


def rows(n=240, seed=0):
    """Rows with numbers and a category, repeated often enough that explanations are."""
    rng = default_rng(seed)
    columns = {
        "age": rng.integers(20, 60, n),
        "income": rng.normal(50, 9, n).round(1),
        "job": rng.choice(["a", "b"], n),
    }
    return pd.DataFrame(columns)


def predict(X):
    return np.where((X["age"] > 40) ^ (X["income"] > 60), "yes", "no")


def by_age(X):
    conditions = [[("age", ">", 38.0)] if age > 38 else [("age", "<=", 38.0)] for age in X["age"]]
    return fs.Rules.from_conditions(conditions, features=list(X.columns))


def evaluation(X=None, **options):
    return fs.evaluate(predict, by_age, rows() if X is None else X, **options)


def importances(X):
    return fs.Importances(np.column_stack([X["age"] - 40.5, X["income"] - 60, np.zeros(len(X))]), names=list(X.columns))


@cache
def comparison(n=240):
    """Rules, importances, and the three baselines, by job."""
    X = rows(n)
    explainers = {
        "rules by age": by_age,
        "importances": importances,
        "constant": fs.explainers.Constant(),
        "random": fs.explainers.Random(5),
        "unique": fs.explainers.Unique(),
    }
    return fs.compare(predict, explainers, X, by=X["job"])


@cache
def hostile():
    """Names of explainers, columns, categories, predictions and groups that try to break out."""
    rng = default_rng(1)
    n = 120
    X = pd.DataFrame({name: rng.choice(np.array(HOSTILE, object), n) for name in HOSTILE[:5]})
    labels = rng.choice(np.array(HOSTILE[:2], object), n)
    groups = rng.choice(np.array(HOSTILE[:3], object), n)
    explainers = {name: list(X.iloc[:, j % 5]) for j, name in enumerate(HOSTILE)}
    return fs.compare(labels, explainers, X, by=groups)


@cache
def maps():
    """Maps of images, series and top regions."""
    rng = default_rng(2)
    X = rng.normal(size=(150, 1, 8, 8))
    labels = X[:, 0, :4].sum(axis=(1, 2)) + rng.normal(size=150) > 0
    pool = fs.Pool((2, 2))
    discretizers = {"signs": pool | fs.Sign(), "top regions": pool | fs.TopRegions(2), "series": fs.Pool(4) | fs.Sign()}
    explainers = {"signs": X, "top regions": X, "series": X.reshape(150, 64)}
    return fs.compare(labels, explainers, X, discretizer=discretizers)


@cache
def summary(result=comparison):
    """What a report tells of one of these, summarized once."""
    return summarize(result())


def blocks(told, kind):
    """The blocks of one kind, also those of groups."""
    inner = [(each, blocks(each.blocks, kind) if isinstance(each, Group) else ()) for each in told]
    return [block for each, within in inner for block in ([each] if isinstance(each, kind) else within)]


def pairs(explainer):
    """The pairs of rows that a report shows, the first first."""
    return blocks(explainer.parts["contradictions"], Contradiction)


@cache
def page(result=comparison):
    """Its page, rendered once."""
    return render(summary(result))


def printed(summary, width=100):
    """What a terminal shows of it, without color."""
    console = Console(file=StringIO(), width=width, no_color=True, force_terminal=False, highlight=False)
    with console.capture() as captured:
        show(summary, console)
    return captured.get()
