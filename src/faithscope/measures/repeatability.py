"""Repeatability: how often two runs explain a row alike, which rows and features change, and which run stands out."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import join_all, several
from faithscope.explanations.conditions.conjunctions import Shared
from faithscope.explanations.forms import top_signs
from faithscope.explanations.importances import Importances, Rankings
from faithscope.inputs.checks import check_whole
from faithscope.inputs.frames import frame
from faithscope.measures.counterexamples import named_rows
from faithscope.measures.named_features import named_features, named_parts
from faithscope.measures.runs import Runs
from faithscope.measures.telling import in_clusters, number
from faithscope.notes import Notes
from faithscope.rounding import down, in_brackets, told_share, up
from faithscope.sinks.card import Table
from faithscope.sinks.lines import in_lines
from faithscope.sinks.shareable import Shareable
from faithscope.visible import visible

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

_TOLD = 5  # rows that a card shows
_LONGEST = 60  # characters of an explanation in a card
_REAL = "importances are real numbers that nearly all differ: name what people read, such as fs.SignOfTop(5)"
_NEARLY_ALL = 0.9  # of real numbers that are different
_FEW = 10  # runs: with fewer, a kind that is not rare may be missing
_NUMBERS = (
    *("value", "low", "high", "rows_low", "rows_high", "confidence", "method", "chance", "adjusted", "n", "runs"),
    *("distinct", "clusters", "discretizer"),
)


@dataclass(frozen=True, repr=False)
class Repeatability(Shareable):
    """How often two runs explain a row alike, with an interval.

    Attributes
    ----------
    value : float
        Share of pairs of runs that give a row the same explanation, over rows.
    low, high : float
        The interval, for further rows and further runs; of 2 runs, for further rows of these runs.
    rows_low, rows_high : float
        The interval for further rows of these very runs.
    confidence : float
    method : str
        Over what the jackknife of the interval was taken: ``"rows and runs"``, or ``"rows"`` if there are 2 runs.
    chance : float or None
        How often different rows have the same explanation, by different runs: what an explainer repeats that always
        says the same, or that ignores the row. None if there is one row.
    n, runs, distinct : int
        Number of rows, of runs, and of different explanations of all runs together.
    clusters : int or None
        Number of clusters of rows; None if rows are independent.
    discretizer : str
    notes : tuple of str
        What a reader should know.

    Examples
    --------
    >>> import faithscope as fs
    >>> repeated = fs.repeatability([["a", "b", "b"], ["a", "b", "c"]])
    >>> round(repeated.value, 3), repeated.table(1)["commonest"].tolist()
    (0.667, ['b'])
    """

    value: float
    low: float
    high: float
    rows_low: float
    rows_high: float
    confidence: float
    method: str
    chance: float | None
    n: int
    runs: int
    distinct: int
    clusters: int | None
    discretizer: str
    notes: Notes
    _runs: Runs = field(compare=False)

    @property
    def interval(self) -> tuple[float, float]:
        """The pair (low, high)."""
        return self.low, self.high

    @property
    def adjusted(self) -> float | None:
        """What is repeated beyond chance, ``(value - chance) / (1 - chance)``; None if chance is unknown or 1."""
        if self.chance is None or self.chance >= 1:
            return None
        return (self.value - self.chance) / (1 - self.chance)

    def table(self, k: int | None = None) -> "pd.DataFrame":
        """One line per row, the least repeatable first; only the k least repeatable if k is given.

        ``row`` is its position and ``index`` its row label, ``value`` the share of pairs of runs that explain it alike,
        ``different`` the number of its different explanations; then the two commonest, each with its number of runs.
        """
        runs, describe = self._runs, cache(self._runs.describe)
        order = np.argsort(runs.shares, kind="stable")[: None if k is None else check_whole(k, "k")]
        codes, times, place = runs.codes[:, order], runs.times[:, order], np.arange(len(order))
        columns = named_rows(runs.sample, order) | {
            "value": runs.shares[order],
            "different": np.rint((1 / times).sum(axis=0)).astype(np.int64),
        }
        for name, many in (("commonest", "runs"), ("second", "second_runs")):
            run = (times * (1 + codes.max()) - codes).argmax(axis=0)  # of equally common ones the one that occurs first
            code, often = codes[run, place], times[run, place]
            texts = [describe(which) if rows else "" for which, rows in zip(code.tolist(), often, strict=True)]
            columns |= {name: texts, many: often}
            times = np.where(codes == code, 0, times)
        return frame(columns)

    def features(self, k: int | None = None, *, top: int = 5) -> "pd.DataFrame":
        """One line per feature, the one that changes most first; only the first k if k is given.

        Of importances, before any discretizer: ``sign_differs`` and ``top_differs``, how often two runs disagree on the
        sign of a feature (-, 0 or +), and on whether it is among the `top` largest in size; ``spread``, its standard
        deviation between runs, beside ``mean_size``, its mean absolute value. Of rules, highlights, prototypes and
        counterfactuals: ``use_differs``, how often one of two runs uses it and the other does not, and ``used``, how
        often it is used at all.
        """
        check_whole(top, "top, the number of largest features,")
        k, runs = None if k is None else check_whole(k, "k"), self._runs
        first, many = runs.given[0], len(runs.given)

        def differing(*kinds: Any) -> Any:
            """The share of pairs of runs that differ, from how many runs are of each kind."""
            return 1 - sum(each * (each - 1) for each in kinds) / (many * (many - 1))

        if isinstance(first, Importances) and not isinstance(first, Rankings):
            values = np.stack([first._with_my_order(each).values.astype(np.float64) for each in runs.given])
            kept = sum(top_signs(each, top) != 0 for each in values)
            signs = ((np.sign(values) == sign).sum(axis=0) for sign in (-1, 0, 1))
            columns = {
                "feature": [visible(first._label(j)) for j in range(values.shape[2])],
                "sign_differs": runs.mean(differing(*signs).T),
                "top_differs": runs.mean(differing(kept, many - kept).T),
                "spread": np.sqrt(runs.mean(values.var(axis=0, ddof=1).T)),
                "mean_size": runs.mean(np.abs(values).mean(axis=0).T),
            }
            order = ["top_differs", "sign_differs", "spread"]
            return frame(columns).sort_values(order, ascending=False, ignore_index=True)[:k]
        every = join_all(runs.given)
        named = named_parts(every) if isinstance(every, Shared) else named_features(every, top)
        if named is None:
            raise BadInput(
                "features() needs importances, rules, highlights, prototypes or counterfactuals, and these are "
                f"{first.kind}, which name no features: table() tells which rows change."
            )
        width = len(named.names)
        cells, times = np.unique(named.rows % runs.n * width + named.features, return_counts=True)
        row, feature = np.divmod(cells, width)
        shares = {"use_differs": differing(times, many - times), "used": times / many}
        weight = runs.units.weight[row] / runs.units.weight.sum()
        sums = {name: np.bincount(feature, weight * share, width) for name, share in shares.items()}
        table = frame({"feature": list(map(visible, named.names)), **sums})
        return table[table["used"] > 0].sort_values(list(sums), ascending=False, ignore_index=True)[:k]

    def runs_table(self) -> "pd.DataFrame":
        """One line per run, the one that stands out most first.

        ``value`` is how often the other runs explain rows as it does, ``without`` the repeatability of the others, NaN
        if that is one run.
        """
        runs = self._runs
        columns = {"run": list(map(visible, runs.names)), "value": runs.by_run, "without": runs.without_run}
        return frame(columns).sort_values("value", kind="stable", ignore_index=True)

    def pairs(self) -> "pd.DataFrame":
        """One line per pair of runs: the share of rows that both explain alike, lowest first."""
        a, b = np.triu_indices(self.runs, 1)
        names = np.array(list(map(visible, self._runs.names)), object)
        columns = {"a": names[a], "b": names[b], "value": self._runs.pairs[a, b]}
        return frame(columns).sort_values("value", kind="stable", ignore_index=True)

    def plot(self) -> "alt.LayerChart":
        """The value with its interval, beside chance, as an Altair chart."""
        from faithscope.charts import estimates

        return estimates([("two runs", self)])

    measure = _title = "repeatability"
    _written = ("measure", *_NUMBERS, "notes")

    def _sentences(self) -> Iterable[str]:
        return [f"Two runs explain {self.value:.1%} of rows alike, on average."]

    def _tables(self) -> Iterable[Table]:
        ends = (f"{down(low)}–{up(high)}" for low, high in ((self.low, self.high), (self.rows_low, self.rows_high)))
        numbers = (f"{self.value:.3f}", *ends, number(self.chance), number(self.adjusted))
        columns = ("value", "interval", "these runs alone", "chance", "beyond chance")
        counted = f"{self._counted}, {100 * self.confidence:g}% intervals, {visible(self.discretizer)}"
        yield Table(columns, (numbers,), 0, caption=counted)
        changing = self.table(_TOLD)[["row", "commonest", "second", "different", "value"]]
        lines = tuple(
            (f"{row:,}", first[:_LONGEST], second[:_LONGEST], f"{many}", f"{value:.3f}")
            for row, first, second, many, value in changing.itertuples(index=False)
        )
        yield Table(tuple(changing), lines, 3, "Rows that change most")

    @property
    def _counted(self) -> str:
        rows = f"{several(self.n, 'row', 'rows')}{in_clusters(self.clusters)}"
        return f"{rows}, {self.runs} runs, {several(self.distinct, 'explanation', 'explanations')}"

    def __str__(self) -> str:
        chance = "" if self.chance is None else f", chance {self.chance:.2f}"
        interval = f"{100 * self.confidence:g}% interval {in_brackets(self.low, self.high)}"
        line = f"repeatability {told_share(self.value)}, {interval}{chance}; {self._counted}"
        return in_lines(line, self.notes)


def measured(runs: Runs, confidence: float, discretizer: str) -> Repeatability:
    """The repeatability of some runs."""
    value, (of_rows, of_both) = runs.value, runs.margins(confidence)
    return Repeatability(
        value=value,
        low=max(0.0, value - of_both),
        high=min(1.0, value + of_both),
        rows_low=max(0.0, value - of_rows),
        rows_high=min(1.0, value + of_rows),
        confidence=float(confidence),
        method="rows" if len(runs.names) == 2 else "rows and runs",
        chance=runs.chance,
        n=runs.n,
        runs=len(runs.names),
        distinct=runs.distinct,
        clusters=None if runs.sample.clusters is None else len(runs.units.mass),
        discretizer=discretizer,
        notes=_notes(runs, confidence),
        _runs=runs,
    )


def _notes(runs: Runs, confidence: float) -> Notes:
    """What a reader should know of the runs, then what rows and explanations bring along."""
    told, raw = [], runs.explanations
    if (runs.times == len(runs.names)).all() and runs.n > 1:
        told.append(
            "every run gave every row one and the same explanation, which repeats itself whatever the rows are"
            if runs.distinct == 1
            else "every run gave each row the same explanation: either nothing is random, or the seed does not reach it"
        )
    real = isinstance(raw, Importances) and not raw.form and raw.values.dtype.kind == "f"
    if real and runs.distinct >= _NEARLY_ALL * runs.codes.size:
        told.append(_REAL)
    if len(runs.names) == 2:
        told.append("of 2 runs nothing is known about others: the interval is for further rows that these two explain")
    elif len(runs.names) < _FEW:
        missing = 1 - (1 - confidence) ** (1 / len(runs.names))  # such a kind is in none of them with that chance
        kind = f"{len(runs.names)} runs may lack a kind that up to {missing:.0%} of runs are of"
        told.append(f"{kind}, of which the interval knows nothing")
    given = [note for explanations in (*runs.given, raw) for note in explanations.notes]
    return tuple(dict.fromkeys([*told, *runs.sample.notes, *given]))
