"""Evaluation: how faithful one explainer is to one model, and every question one can ask about it."""

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import count
from faithscope.counting.coverage import Coverage, cover
from faithscope.discretizers import Discretize, Original, discretize, usual
from faithscope.errors import BadInput, NotScoped
from faithscope.explanations import Explanations
from faithscope.inputs.alignment import index_of, row_labels, same_rows
from faithscope.inputs.checks import same_length
from faithscope.inputs.frames import frame
from faithscope.inputs.labels import to_labels
from faithscope.inputs.rows import rows_of
from faithscope.measures import scopes
from faithscope.measures.consistency import measure_consistency
from faithscope.measures.counterexamples import counterexamples
from faithscope.measures.estimate import Estimate, Interval, noted
from faithscope.measures.local import per_explanation, per_row
from faithscope.measures.populations import Populations, by, with_notes
from faithscope.measures.sufficiency import by as sufficiency_by
from faithscope.measures.sufficiency import measure_sufficiency, to_estimate
from faithscope.relations import says_where, to_relation

if TYPE_CHECKING:
    import pandas as pd

    from faithscope.measures.planning import Plan
    from faithscope.report.result import Contents, Provenance, RowPair


@dataclass(frozen=True)
class Evaluation:
    """How faithful one explainer is to one model on some rows.

    Attributes
    ----------
    consistency : Estimate
        Same explanation, same prediction?
    sufficiency : Estimate or None
        Wherever the explanation applies, same prediction? None where explanations do not say where they apply.
    explanations : Explanations
        As they were measured, after discretization.
    predictions : array, (n,)
    X : rows
        As they were given.
    name, explainer, discretizer : str
        What the explainer is called, how it was set up, and what made its explanations coarser.
    undiscretized : Explanations
        As the explainer made them.
    seed : int
        Of the evaluation; explainers have seeds of their own.
    seconds : dict of str to float
        How long each phase took.
    baseline : bool
        Whether the explainer says nothing on purpose, which its own attribute ``baseline = True`` says (`Constant`,
        `Random` and `Unique` have it), so that guards do not judge it beside others. Ready explanations do not say who
        made them: False.
    rows : array, (n,), or None
        The positions of these rows among those that were handed over, where only some are reported (`Best`); None
        where all are.
    """

    consistency: Estimate
    sufficiency: Estimate | None
    explanations: Explanations = field(repr=False)
    predictions: NDArray[Any] = field(repr=False)
    X: Any = field(repr=False)
    weights: Any = field(default=None, repr=False)
    relation: Any = field(default=None, repr=False)
    undiscretized: Explanations | None = field(default=None, repr=False)
    name: str = "explainer"
    explainer: str = "ready explanations"
    discretizer: str = repr(Original())
    seed: int = 0
    seconds: dict[str, float] = field(default_factory=dict, repr=False)
    baseline: bool = False
    rows: NDArray[np.int64] | None = field(default=None, repr=False)
    _coverage: Coverage | None = field(default=None, repr=False)

    @property
    def uniqueness(self) -> float:
        """Share of rows whose explanation no other row was given."""
        return uniqueness(self.consistency)

    def local(self) -> "pd.DataFrame":
        """One line a row: local consistency and sufficiency with exact intervals, and the counts behind them.

        The frame has the row labels of X; of rows without any, their positions.
        """
        columns = per_row(self._counts(), self.explanations, self.predictions, self.consistency.confidence)
        if self._coverage is not None:
            columns |= scopes.per_row(self._coverage, self.predictions, self.consistency.confidence)
        return frame(columns, index_of(self.X) if index_of(self.X) is not None else self.rows)

    def table(self, k: int | None = None) -> "pd.DataFrame":
        """One line an explanation, worst first; only the k worst where k is given.

        The interval of the purity is exact for a label named beforehand; here it is the commonest of these rows, so
        of many labels the purity looks too high (``docs/statistics.md``).
        """
        return frame(per_explanation(self._counts(), self.consistency.confidence, k))

    def counterexamples(self, k: int = 10) -> "pd.DataFrame":
        """Pairs of rows, same explanation, different prediction: worst explanations first, nearest rows first.

        ``row_a`` and ``row_b`` are positions in X as it was handed over, ``index_a`` and ``index_b`` its row labels
        (the positions again where it has none).
        """
        found = counterexamples(self._counts(), self.explanations, self.predictions, self.X, k)
        return frame(self._named(found, {"row_a": "index_a", "row_b": "index_b"}))

    def scopes(self, k: int | None = None) -> "pd.DataFrame":
        """One line an explanation that says where it applies: its precision and coverage on these rows, worst first.

        The interval of the precision is exact for a label named beforehand, as that of `table` is.
        """
        return frame(scopes.per_scope(self._scoped(), self.consistency.confidence, k))

    def wrongly_covered(self, k: int = 10) -> "pd.DataFrame":
        """Rows that an explanation covers although they get another prediction, worst explanations first.

        ``row`` and ``wrong_row`` are positions in X as it was handed over, ``index`` and ``wrong_index`` its row
        labels (the positions again where it has none).
        """
        how = to_relation(self.relation, self.explanations)
        found = scopes.wrongly_covered(self._scoped(), self.explanations, self.predictions, self.X, how, k)
        return frame(self._named(found, {"row": "index", "wrong_row": "wrong_index"}))

    def _named(self, columns: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
        """Columns of positions in these rows as positions in X as it was handed over, each followed by row labels."""
        labels = row_labels(self.X)
        told: dict[str, Any] = {}
        for name, column in columns.items():
            told[name] = column if name not in names or self.rows is None else self.rows[column]
            if name in names:
                told[names[name]] = told[name] if labels is None else labels[column]
        return told

    def _scoped(self) -> Coverage:
        if self._coverage is None:
            to_relation(self.relation, self.explanations).scopes(self.explanations)  # says why, for most kinds
            raise NotScoped("Sufficiency was not measured here.")
        return self._coverage

    def by(self, groups: Any, measure: Literal["consistency", "sufficiency"] = "consistency") -> Populations:
        """The same measure for each group of rows, with intervals on the differences."""
        notes = same_rows(X=self.X, explanations=self.explanations, groups=groups)
        found = with_notes(self._by(groups, measure), notes)
        return replace(found, by=str(getattr(groups, "name", None) or ""))

    def _by(self, groups: Any, measure: str) -> Populations:
        if self.rows is not None and (many := len(to_labels(groups, "Groups"))) > len(self.rows):
            raise BadInput(
                f"Groups have {many:,} rows, but only {len(self.rows):,} are reported, since others were chosen on: "
                "pass the groups of these, np.asarray(groups)[found.rows]."
            )
        if measure == "sufficiency":
            self._scoped()
            how = (self.relation, self.consistency.confidence, self.weights)
            return sufficiency_by(self.explanations, self.X, self.predictions, groups, *how)
        if measure != "consistency":
            raise BadInput(f"measure must be 'consistency' or 'sufficiency'; got {measure!r}.")
        found = self.consistency
        options: dict[str, Any] = {"confidence": found.confidence, "interval": found.interval, "weights": self.weights}
        return by(self.explanations, self.predictions, groups, **options)

    def discretizations(self) -> "pd.DataFrame":
        """Consistency against uniqueness for the paper's discretizations of these explanations, finest first."""
        given = self.explanations if self.undiscretized is None else self.undiscretized
        options: dict[str, Any] = {"confidence": self.consistency.confidence, "interval": self.consistency.interval}
        family = usual(given)
        options["weights"] = self.weights
        found = [measure_consistency(given, self.predictions, discretizer=one, **options) for one in family]
        columns: dict[str, Any] = {"discretizer": [repr(one) for one in family]}
        for name in ("value", "low", "high", "unverifiable", "verified", "chance", "distinct"):
            columns[name] = [getattr(one, name) for one in found]
        return frame(columns | {"uniqueness": [uniqueness(one) for one in found]})

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this evaluation, ready for JSON."""
        sufficiency = None if self.sufficiency is None else self.sufficiency.to_dict()
        measured = {"consistency": self.consistency.to_dict(), "sufficiency": sufficiency}
        made = {name: getattr(self, name) for name in ("name", "explainer", "discretizer", "seed", "baseline")}
        return {**measured, "uniqueness": self.uniqueness, **made}

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write rows, predictions and explanations as a log, which `audit` reads back to the same numbers.

        The row labels of a pandas frame are a column too, under their name or ``index``: ``audit(path, id="index")``.
        """
        from faithscope.tables.log.writing import write_log

        write_log(path, self.explanations, self.predictions, self.X)

    def to_html(self, path: str | os.PathLike[str], *, groups: Any = None) -> None:
        """Write a report that anybody can open: one HTML file that needs no network.

        Parameters
        ----------
        groups : array-like, (n,), optional
            The population of each row, to be compared in the report.
        """
        from faithscope.report import write_report

        measures: list[Literal["consistency", "sufficiency"]] = ["consistency"]
        measures += [] if self.sufficiency is None else ["sufficiency"]
        populations = [] if groups is None else [self.by(groups, measure) for measure in measures]
        write_report(self, path, populations={self.name: populations})

    def plot(self) -> Any:
        """Value, interval, chance and the unverifiable part as an Altair chart."""
        from faithscope.charts import estimates

        return estimates([(self.name, found) for found in self._estimates()])

    def _estimates(self) -> list[Estimate]:
        return [self.consistency] if self.sufficiency is None else [self.consistency, self.sufficiency]

    def __str__(self) -> str:
        return "\n".join(map(str, self._estimates()))

    def _repr_html_(self) -> str:
        return "".join(found._repr_html_() for found in self._estimates())

    def _counts(self) -> Any:
        """Every row counts once, whatever its weight."""
        return self.consistency.counts if self.weights is None else count(self.explanations, self.predictions)

    def _contents(self) -> "Contents":
        """What there is to report."""
        from faithscope.report.result import Contents

        return Contents({self.name: self})

    def _provenance(self) -> "Provenance":
        """How the explanations came about."""
        from faithscope.report.result import Provenance

        return Provenance(self.explainer, self.discretizer, self.explanations.kind, self.seed, self.seconds)

    def _plan(self, measure: str) -> "Plan":
        """How many rows the measure needs."""
        from faithscope.measures.planning import plan

        return plan(getattr(self, measure))

    def _row_pairs(self, measure: str, k: int) -> "tuple[RowPair, ...]":
        """Up to k pairs of rows that lower the measure."""
        from faithscope.report.result import row_pairs

        columns = self.counterexamples(k) if measure == "consistency" else self.wrongly_covered(k)
        return row_pairs({str(name): column for name, column in columns.items()}, self.rows)

    @cached_property
    def _discretized(self) -> list[dict[str, Any]]:
        """The consistency of these explanations per discretization, finest first."""
        return [
            {str(name): value for name, value in line.items()} for line in self.discretizations().to_dict("records")
        ]


def uniqueness(found: Estimate) -> float:
    """Share of rows whose explanation no other row was given."""
    return float(np.sum(found.counts.per_explanation == 1) / found.counts.n)


def assess(
    explanations: Explanations,
    predictions: NDArray[Any],
    X: Any,
    *,
    discretizer: Discretize | None = None,
    confidence: float = 0.95,
    interval: Interval = "jackknife",
    weights: Any = None,
    relation: Any = None,
    notes: tuple[str, ...] = (),
    **about: Any,
) -> Evaluation:
    """An evaluation of what a model and an explainer have said, checked; `about` are its remaining attributes."""
    coarse = discretize(explanations, discretizer)
    same_length(X=rows_of(X), predictions=len(predictions), explanations=len(coarse))
    found = measure_consistency(coarse, predictions, confidence=confidence, interval=interval, weights=weights)
    found = noted(found, notes)
    about |= {"undiscretized": explanations, "discretizer": repr(Original() if discretizer is None else discretizer)}
    if not says_where(coarse, relation):
        return Evaluation(found, None, coarse, predictions, X, weights, relation, **about)
    covered = cover(coarse, predictions, X, to_relation(relation, coarse), device="auto")
    sufficient = (
        to_estimate(covered, "sufficiency", confidence)
        if weights is None
        else measure_sufficiency(coarse, X, predictions, relation=relation, confidence=confidence, weights=weights)
    )
    sufficient = noted(sufficient, notes)
    return Evaluation(found, sufficient, coarse, predictions, X, weights, relation, _coverage=covered, **about)
