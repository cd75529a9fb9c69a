"""Repeatability: the answer, its tables and its card; measured(): from runs to the answer."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from faithscope.explanations.base import several
from faithscope.inputs.checks import check_whole
from faithscope.inputs.frames import frame
from faithscope.measures.repeatability.commonest import row_columns
from faithscope.measures.repeatability.features import feature_columns
from faithscope.measures.repeatability.interval import CrossedRuns, chance
from faithscope.measures.repeatability.notes import notes_on
from faithscope.measures.repeatability.runs import Runs
from faithscope.measures.telling.cards import number
from faithscope.sinks.card import Card, Sentence, Table
from faithscope.sinks.lines import in_lines
from faithscope.sinks.shareable import Shareable
from faithscope.visible import visible

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

_TOLD = 5  # rows, and features, that a card shows
_BARS = 20  # of a chart, from 0 to 1
_LONGEST = 60  # characters of an explanation in a card


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
    notes: tuple[str, ...]
    _crossed: CrossedRuns = field(compare=False)

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
        return frame(row_columns(self._crossed.runs, None if k is None else check_whole(k, "k")))

    def features(self, k: int | None = None, *, top: int = 5) -> "pd.DataFrame":
        """One line per feature, the one that changes most first; only the first k if k is given.

        Of importances, before any discretizer: ``sign_differs`` and ``top_differs``, how often two runs disagree on the
        sign of a feature (-, 0 or +), and on whether it is among the `top` largest in size; ``spread``, its standard
        deviation between runs, beside ``mean_size``, its mean absolute value. Of rules, highlights, prototypes and
        counterfactuals: ``use_differs``, how often one of two runs uses it and the other does not, and ``used``, how
        often it is used at all.
        """
        columns = feature_columns(self._crossed.runs, check_whole(top, "top, the number of largest features,"))
        return frame(columns).head(len(columns["feature"]) if k is None else check_whole(k, "k"))

    def runs_table(self) -> "pd.DataFrame":
        """One line per run, the one that stands out most first.

        ``value`` is how often the other runs explain rows as it does, ``without`` the repeatability of the others, NaN
        if that is one run.
        """
        order = np.argsort(self._crossed.by_run, kind="stable")
        columns = {"value": self._crossed.by_run[order], "without": self._crossed.without_run[order]}
        return frame({"run": [visible(self._crossed.runs.names[run]) for run in order], **columns})

    def pairs(self) -> "pd.DataFrame":
        """One line per pair of runs: the share of rows that both explain alike, lowest first."""
        first, second = np.triu_indices(self.runs, 1)
        shares = self._crossed.pairs[first, second]
        order, names = np.argsort(shares, kind="stable"), [visible(name) for name in self._crossed.runs.names]
        pairs = {"a": [names[run] for run in first[order]], "b": [names[run] for run in second[order]]}
        return frame({**pairs, "value": shares[order]})

    def plot(self) -> "alt.LayerChart":
        """Rows by how repeatable they are, with the value, its interval and chance, as an Altair chart."""
        from faithscope.charts import repeatability

        return repeatability(self, self._crossed.runs.by_share(_BARS).tolist())

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        names = ("value", "low", "high", "rows_low", "rows_high", "confidence", "method", "chance", "adjusted", "n")
        told = {name: getattr(self, name) for name in (*names, "runs", "distinct", "clusters", "discretizer")}
        return {"measure": "repeatability", **told, "notes": list(self.notes)}

    def _card(self) -> Card:
        numbers = (
            f"{self.value:.3f}",
            f"{self.low:.3f}–{self.high:.3f}",
            f"{self.rows_low:.3f}–{self.rows_high:.3f}",
            number(self.chance),
            number(self.adjusted),
        )
        columns = ("value", "interval", "these runs alone", "chance", "beyond chance")
        counted = f"{self._counted}, {100 * self.confidence:g}% intervals, {visible(self.discretizer)}"
        sentence = f"Two runs explain {self.value:.1%} of rows alike, on average."
        tables = (Table(columns, (numbers,), 0, caption=counted), self._changing())
        return Card("repeatability", (Sentence(sentence),), tables, tuple(map(visible, self.notes)))

    def _changing(self) -> Table:
        """The rows that change most."""
        columns = row_columns(self._crossed.runs, _TOLD)
        texts = [[text[:_LONGEST] for text in columns[name]] for name in ("commonest", "second")]
        cells = zip(columns["row"].tolist(), *texts, columns["different"].tolist(), columns["value"], strict=True)
        lines = tuple(
            (f"{row:,}", first, second, f"{many}", f"{value:.3f}") for row, first, second, many, value in cells
        )
        return Table(("row", "commonest", "second", "different", "value"), lines, 3, "Rows that change most")

    @property
    def _counted(self) -> str:
        clusters = "" if self.clusters is None else f" in {several(self.clusters, 'cluster', 'clusters')}"
        explanations = several(self.distinct, "explanation", "explanations")
        return f"{several(self.n, 'row', 'rows')}{clusters}, {self.runs} runs, {explanations}"

    def __str__(self) -> str:
        chance = "" if self.chance is None else f" (chance {self.chance:.2f})"
        ends = f"[{self.low:.2f}, {self.high:.2f}]"
        line = f"repeatability {self.value:.3f}{chance}, {100 * self.confidence:g}% interval {ends}; {self._counted}"
        return in_lines(line, self.notes)

    __repr__ = __str__


def measured(runs: Runs, confidence: float, discretizer: str) -> Repeatability:
    """The repeatability of some runs."""
    crossed = CrossedRuns(runs)
    value, (of_rows, of_both) = crossed.value, crossed.margins(confidence)
    return Repeatability(
        value=value,
        low=max(0.0, value - of_both),
        high=min(1.0, value + of_both),
        rows_low=max(0.0, value - of_rows),
        rows_high=min(1.0, value + of_rows),
        confidence=float(confidence),
        method="rows" if len(runs.names) == 2 else "rows and runs",
        chance=chance(runs),
        n=runs.n,
        runs=len(runs.names),
        distinct=runs.distinct,
        clusters=None if runs.sample.clusters is None else len(crossed.cluster_weights),
        discretizer=discretizer,
        notes=notes_on(crossed),
        _crossed=crossed,
    )
