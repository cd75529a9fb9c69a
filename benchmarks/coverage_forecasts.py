"""How well `plan` foresees: from n rows the unverifiable share at 4 n, held against what 4 n rows gave.

Its interval is tried at 10 n as well, if there are so many rows.
On the paper's data sets, where FAITHSCOPE_DATA names a folder that has them. Explanations are cheap and real: paths of
trees with at most 2⁶, 2⁸ and 2¹¹ leaves, contributions of a logistic model (the five largest with their signs, and
all rounded to a decimal), the nearest of 1,000 training rows; for texts the first word, and the word of the highest
coefficient. Models are trained on other rows than those explained.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope.datasets import Dataset, load
from faithscope.errors import FaithscopeError
from faithscope.explainers import FirstWord, TopCoefficient
from faithscope.readers import as_explanations

TABLES = ("chess", "avila", "bank", "adult", "covtype")
TEXTS = ("rt_polarity",)
MOST = 40_000  # rows explained, at most
TIMES = 4  # times the rows
FAR = 10  # times the rows: only the interval is told there
CLOSE = 0.04  # what the design promises of forecasts at 4 n


@dataclass(frozen=True)
class Forecast:
    """From n rows to 4 n: unverifiable share now, foreseen and observed; and the plan's own back-test from n/2 to n.

    `ends` and `far` are the intervals at 4 n and at 10 n with what was observed there: low, high, observed.
    """

    rows_of: str
    explanations: str
    n: int
    now: float
    foreseen: float | None
    observed: float
    backtest: float | None
    ends: tuple[float, float, float]
    far: tuple[float, float, float] | None

    @property
    def error(self) -> float:
        """Foreseen less observed share; NaN if nothing was foreseen."""
        return float("nan") if self.foreseen is None else self.foreseen - self.observed


def numbers(table: Any) -> NDArray[np.float64]:
    """Rows as numbers: categories by their codes, what is missing by the middle of its column."""
    columns = []
    for name in table.columns:
        column = table[name]
        codes = column if column.dtype.kind in "biuf" else column.astype("category").cat.codes
        values = codes.to_numpy(np.float64)
        columns.append(np.where(np.isnan(values), np.nanmedian(values), values))
    return np.column_stack(columns)


def explain_table(rows: Dataset) -> dict[str, Any]:
    """Explanations of rows that the models were not trained on, by their names."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import NearestNeighbors
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    order = np.random.default_rng(0).permutation(len(rows.y))
    learned = min(10_000, len(order) - 16_000)
    train, rest = order[:learned], order[learned : learned + MOST]
    X = numbers(rows.X)
    explanations: dict[str, Any] = {}
    for power in (6, 8, 11):
        tree = DecisionTreeClassifier(max_leaf_nodes=2**power, random_state=0).fit(X[train], rows.y[train])
        explanations[f"tree, 2^{power} leaves"] = tree.apply(X[rest])
    scale = StandardScaler().fit(X[train])
    linear = LogisticRegression(max_iter=200).fit(scale.transform(X[train]), rows.y[train])
    given = fs.Importances(scale.transform(X[rest]) * linear.coef_[0])
    explanations["linear, sign of top 5"] = fs.SignOfTop(5)(given)
    explanations["linear, 1 decimal"] = fs.Floor(1)(given)
    neighbors = NearestNeighbors(n_neighbors=1).fit(scale.transform(X[train[:1_000]]))
    explanations["nearest of 1,000 rows"] = neighbors.kneighbors(scale.transform(X[rest]), return_distance=False)[:, 0]
    return explanations


def explain_texts(rows: Dataset) -> dict[str, Any]:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    order = np.random.default_rng(0).permutation(len(rows.y))
    texts = rows.X["text"].to_numpy(object)
    train, rest = order[:4_000], order[4_000:]
    words = CountVectorizer().fit(texts[train])
    model = LogisticRegression(max_iter=200).fit(words.transform(texts[train]), rows.y[train])
    explained = list(texts[rest])
    return {
        "first word": FirstWord().explain(explained),
        "top coefficient": TopCoefficient(model, words).explain(explained),
    }


def foresee(name: str, what: str, codes: NDArray[np.int64], n: int, rng: np.random.Generator) -> Forecast:
    """One draw of 4 n rows, of which the plan sees n; rows are given by the numbers of their explanations."""
    rows = rng.permutation(len(codes))
    seen, whole, most = (_measure(codes[rows[: times * n]]) for times in (1, TIMES, FAR))
    plan = fs.plan(seen, unverifiable=0.999)
    foreseen = plan.at(TIMES * n) if plan.forecastable else None
    tried = None if plan.backtest is None else plan.backtest.error
    ends = (*plan.interval(TIMES * n), whole.unverifiable)
    far = (*plan.interval(FAR * n), most.unverifiable) if most.n == FAR * n else None
    return Forecast(name, what, n, seen.unverifiable, foreseen, whole.unverifiable, tried, ends, far)


def _measure(codes: NDArray[np.int64]) -> fs.Estimate:
    return fs.consistency(codes, np.zeros(len(codes)))


def foresee_all(names: tuple[str, ...], sizes: tuple[int, ...], times: int) -> Iterator[Forecast]:
    """Every data set, kind of explanation and number of rows, so many times."""
    if not os.environ.get("FAITHSCOPE_DATA"):
        print("skipped: forecasts need the paper's data sets; FAITHSCOPE_DATA names no folder that has them")
        return
    for name in names:
        try:
            rows = load(name)
        except FaithscopeError as error:
            print(f"skipped: {name}: {error}")
            continue
        explained = explain_texts(rows) if name in TEXTS else explain_table(rows)
        for what, given in explained.items():
            codes, _ = as_explanations(given).group()
            for n in sizes:
                rng = np.random.default_rng(n)
                for _ in range(times if TIMES * n <= len(codes) else 0):
                    yield foresee(name, what, codes, n, rng)


def table(forecasts: list[Forecast]) -> Iterator[str]:
    """Errors by rows, by data set and by kind of explanation; beside them the error of expecting no change."""
    yield f"{'':<30}{'draws':>6}{'mean':>8}{'mean abs':>9}{'9 in 10':>8}{'most':>7}{'≤ .04':>7}{'no change':>11}"
    told = [forecast for forecast in forecasts if forecast.foreseen is not None]
    sizes = sorted({forecast.n for forecast in told})
    for n in sizes:
        yield _line(f"n = {n:,} to {TIMES * n:,}", [forecast for forecast in told if forecast.n == n])
    for field in ("rows_of", "explanations"):
        for n in sizes:
            yield f"{'data set' if field == 'rows_of' else 'explanations'}, n = {n:,}"
            for value in dict.fromkeys(getattr(forecast, field) for forecast in told):
                chosen = [forecast for forecast in told if getattr(forecast, field) == value and forecast.n == n]
                if chosen:
                    yield _line(f"  {value}", chosen)
    yield f"not forecastable, every explanation being different: {len(forecasts) - len(told)} of {len(forecasts)} draws"
    yield from _worst(told)
    for n in sizes:
        for times, field in ((TIMES, "ends"), (FAR, "far")):
            intervals = [getattr(forecast, field) for forecast in forecasts if forecast.n == n]
            yield _held(n, times, [ends for ends in intervals if ends is not None])


def _held(n: int, times: int, intervals: list[tuple[float, float, float]]) -> str:
    """How often an interval held what was found, to within one row: a share of 0 is found where 1e-9 is expected."""
    what = f"interval, n = {n:,} to {times * n:,}"
    if not intervals:
        return f"{what:<36} none"
    low, high, observed = np.array(intervals).T
    off = np.maximum(low - observed, observed - high)
    held = f"held what was found in {np.mean(off <= 1 / (times * n)):.3f}, else off by at most {off.max():.4f}"
    return f"{what:<36}{len(intervals):>4} draws, {held}; mean width {np.mean(high - low):.3f}"


def _line(what: str, forecasts: list[Forecast]) -> str:
    errors = np.array([forecast.error for forecast in forecasts])
    off, still = np.abs(errors), np.mean([forecast.now - forecast.observed for forecast in forecasts])
    numbers = f"{errors.mean():>+8.3f}{off.mean():>9.3f}{np.quantile(off, 0.9):>8.3f}{off.max():>7.3f}"
    return f"{what:<30}{len(forecasts):>6}{numbers}{np.mean(off <= CLOSE):>7.0%}{still:>11.3f}"


def _worst(told: list[Forecast]) -> Iterator[str]:
    """The kind of rows and explanations that are forecast worst, and what the back-test would have said."""
    cases: dict[tuple[str, str, int], list[Forecast]] = {}
    for forecast in told:
        cases.setdefault((forecast.rows_of, forecast.explanations, forecast.n), []).append(forecast)
    name, what, n = max(cases, key=lambda case: abs(np.mean([forecast.error for forecast in cases[case]])))
    worst = cases[name, what, n]
    foreseen, observed = (
        np.mean([getattr(forecast, field) for forecast in worst]) for field in ("foreseen", "observed")
    )
    yield f"worst on average: {name}, {what}, n = {n:,}: {foreseen:.3f} foreseen, {observed:.3f} found"
    tried = np.array(
        [(abs(forecast.backtest), abs(forecast.error)) for forecast in told if forecast.backtest is not None]
    )
    calm = tried[:, 0] <= CLOSE / 2
    yield (
        f"back-test off by at most {CLOSE / 2:.2f}: {calm.mean():.0%} of draws, then mean abs error "
        f"{tried[calm, 1].mean():.3f}; otherwise {tried[~calm, 1].mean() if (~calm).any() else 0.0:.3f}"
    )
