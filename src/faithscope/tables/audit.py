"""audit(): a log of predictions and explanations in, without the model; an Audit out."""

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from faithscope.discretizers import Discretizer, to_discretizer
from faithscope.errors import BadInput
from faithscope.inputs.checks import check_whole
from faithscope.inputs.frames import frame
from faithscope.measures.counterexamples import counterexamples
from faithscope.measures.estimate import Estimate, Interval, check_interval
from faithscope.measures.intervals import check_confidence
from faithscope.measures.local import per_explanation
from faithscope.measures.populations import Populations
from faithscope.runtime.memory import in_memory
from faithscope.tables.engine.missing import Nulls
from faithscope.tables.engine.showing import shown
from faithscope.tables.log.columns import Names, group_columns, one_column
from faithscope.tables.log.naming import NamedRows
from faithscope.tables.log.opening import open_log
from faithscope.tables.measuring import Measured
from faithscope.tables.scopes import sufficiency
from faithscope.tables.sources.source import Source, open_source
from faithscope.tables.windows import Windows, over_time
from faithscope.tables.worst import candidates, worst_counts, worst_keys
from faithscope.visible import visible

if TYPE_CHECKING:
    import pandas as pd

    from faithscope.measures.planning import Plan
    from faithscope.report.result import Contents, Provenance, RowPair

_SHOWN = 100  # explanations whose rows are fetched to be shown


@dataclass(frozen=True)
class Audit:
    """How faithful the explanations in a log are to its predictions.

    Attributes
    ----------
    consistency : Estimate
        Same explanation, same prediction?
    sufficiency : Estimate or None
        Wherever the explanation applies, same prediction? None where explanations do not say where they apply, or
        the log does not hold the inputs they speak of; then `notes` say so.
    name : str
        The log.
    explainer, discretizer : str
        What the explanations are, and what made them coarser.
    populations : Populations or None
        By the columns that were asked for.
    windows : Windows or None
        Over time, where that was asked for.
    notes : tuple of str
        What could not be measured, and why.
    """

    consistency: Estimate
    sufficiency: Estimate | None
    name: str
    explainer: str
    discretizer: str
    populations: Populations | None = None
    windows: Windows | None = None
    notes: tuple[str, ...] = ()
    _measured: Measured = field(repr=False, compare=False, kw_only=True)

    @property
    def uniqueness(self) -> float:
        """Share of rows whose explanation no other row was given."""
        profile = self.consistency.counts.profile()
        return float(profile.uniqueness)

    def table(self, k: int | None = 100) -> "pd.DataFrame":
        """One line an explanation, the k worst first; all of them where k is None."""
        with self._measured.asked():
            return frame(per_explanation(worst_counts(self._measured.rows, k), self.consistency.confidence, k))

    def counterexamples(self, k: int = 10) -> "pd.DataFrame":
        """Pairs of rows, same explanation, different prediction: worst explanations first, nearest rows first.

        A log has no row numbers. The columns that ``id=`` named stand first, as ``<column>_a`` and ``<column>_b``;
        ``index_a`` and ``index_b`` tell rows by them, or else by the first of the rows' own columns. The nearest are
        sought among a few rows of each label; ids do not count in the distance.
        """
        return frame(self._examples[2].pairs(self._pairs(k)))

    def _counterexamples(self, k: int) -> "pd.DataFrame":
        """The same with rows as positions in `X` too, for a report that shows them side by side."""
        found = self._pairs(k)
        return frame({**found, **self._examples[2].names(found)})

    def _pairs(self, k: int) -> dict[str, Any]:
        if check_whole(k, "k, the number of pairs wanted,") > _SHOWN:
            raise BadInput(f"An audit shows at most {_SHOWN} pairs of rows; got k={k}.")
        with self._measured.asked():
            explanations, labels, rows = self._examples
            counts = worst_counts(self._measured.rows, _SHOWN)
        return counterexamples(counts, explanations, labels, rows.compared, k)

    @property
    def X(self) -> "pd.DataFrame":  # noqa: N802
        """Rows of the worst explanations: ids first, then what is neither prediction nor explanation."""
        return self._examples[2].whole

    @cached_property
    def _examples(self) -> tuple[Any, list[Any], NamedRows]:
        log = self._measured.log
        schema = log.source.table.schema()
        engine = log.source.table.get_backend().name
        others = [name for name in dict.fromkeys((*log.ids, *log.source.columns)) if name not in log.used]
        told = {name: one for name in others if (one := shown(name, schema[name], engine)) is not None}
        names = {f"x{j}": one for j, one in enumerate(told.values())}
        rows = log.rows(shown=names, among=None if log.stream is None else worst_keys(self._measured.rows, _SHOWN))
        found = candidates(rows, _SHOWN, list(names))
        labels = found.column("label").to_pylist()
        labels = [str(one) for one in labels] if None in labels else labels
        cells = {column: found.column(name).to_pylist() for name, column in zip(names, told, strict=True)}
        ids = {name: cells.pop(name) for name in log.ids}
        return rows.read(found), labels, NamedRows(ids, cells)

    def by(self, columns: Names) -> Populations:
        """Consistency for each value of a column, or each combination of values of several."""
        with self._measured.asked():
            return self._measured.by(group_columns(self._measured.log.source.columns, columns))

    def over_time(self, column: str, every: str, reference: "Audit | None" = None) -> Windows:
        """Consistency in each window of time, compared with another audit or with the first window."""
        one_column(self._measured.log.source.columns, column, "time")
        with self._measured.asked():
            return over_time(self._measured, column, every, None if reference is None else reference._measured)

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this audit, ready for JSON."""
        made = {name: getattr(self, name) for name in ("name", "explainer", "discretizer")}
        return {
            "consistency": self.consistency.to_dict(),
            "sufficiency": None if self.sufficiency is None else self.sufficiency.to_dict(),
            "uniqueness": self.uniqueness,
            **made,
            "populations": None if self.populations is None else self.populations.to_dict(),
            "windows": None if self.windows is None else self.windows.to_dict(),
            "notes": list(self.notes),
        }

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a report that anybody can open: one HTML file that needs no network."""
        from faithscope.report import write_report

        write_report(self, path)

    def __str__(self) -> str:
        estimates = [self.consistency] if self.sufficiency is None else [self.consistency, self.sufficiency]
        return "\n".join([*map(str, estimates), *map(visible, self.notes)])

    def _repr_html_(self) -> str:
        estimates = [self.consistency] if self.sufficiency is None else [self.consistency, self.sufficiency]
        return "".join(found._repr_html_() for found in estimates)

    def _contents(self) -> "Contents":
        """What there is to report."""
        from faithscope.report.result import Breakdown, Contents

        breakdowns = [] if self.populations is None else [Breakdown.of(self.populations)]
        if self.windows is not None:
            by = f"windows of {self.windows.every}"
            breakdowns.append(Breakdown(by, self.windows.estimates, self.windows.differences))
        return Contents({self.name: self}, {self.name: breakdowns})

    def _provenance(self) -> "Provenance":
        """How the explanations came about."""
        from faithscope.report.result import Provenance

        return Provenance(self.explainer, self.discretizer, notes=self.notes)

    def _plan(self, measure: str) -> "Plan":
        """How many rows the measure needs."""
        from faithscope.measures.planning import plan

        return plan(getattr(self, measure))

    def _row_pairs(self, measure: str, k: int) -> "tuple[RowPair, ...]":
        """Up to k pairs of rows that lower consistency; none for sufficiency."""
        from faithscope.report.result import row_pairs

        return row_pairs(dict(self._counterexamples(k).items())) if measure == "consistency" else ()

    @property
    def _discretized(self) -> tuple[()]:
        """Empty: an audit measures one discretization."""
        return ()


@in_memory("audit a part of the log")
def audit(
    table: Any,
    *,
    prediction: str | None = None,
    explanation: Names | None = None,
    kind: str | None = None,
    discretizer: Discretizer | str | None = None,
    by: Names | None = None,
    time: str | None = None,
    every: str = "1d",
    reference: Any = None,
    nulls: Nulls = "error",
    confidence: float = 0.95,
    interval: Interval = "jackknife",
    connect: str | None = None,
    id: Names | None = None,
) -> Audit:
    """Measure how faithful the explanations in a log are, where the log lives; nothing is ever written there.

    Parameters
    ----------
    table : path, glob, list of paths, pandas, polars or Arrow table, Ibis table, or a database's table by name
        One row a prediction. Parquet, CSV and JSON lines are read in place by DuckDB.
    prediction : str, optional
        The column of predicted labels; known where faithscope wrote the log.
    explanation : str or list of str, optional
        The columns of the explanation by name or glob, such as ``"phi_*"``; known where faithscope wrote the log.
    kind : str, optional
        importances, keys, rules, words, prototypes or counterfactuals; by default what names and types say.
    discretizer : Discretizer or str, optional
        Such as ``SignOfTop(5)`` or ``"sign-of-top-5"``, applied in the engine.
    by : str or list of str, optional
        Columns that name populations.
    time, every : str, optional
        A column of moments, and how long a window is: 1d, 6h, 30min, 1w, 1mo.
    reference : log, optional
        Another log with the same columns that windows are compared with; by default the first window.
    nulls : {"error", "drop", "key"}
        What to do with rows in which a used column is missing: refuse, leave out, or let missing be a value.
    confidence, interval
        As for `consistency`.
    connect : str, optional
        A database, such as ``postgres://user@host/database`` or ``spark``, in which `table` is a name.
    id : str or list of str, optional
        Columns that identify rows, which have no numbers in a log: they stand first where rows are shown, and are
        never part of an explanation or of a measure.

    Returns
    -------
    Audit
    """
    check_confidence(confidence)
    check_interval(interval)
    how: dict[str, Any] = {"prediction": prediction, "explanation": explanation, "kind": kind}
    how |= {"discretizer": to_discretizer(discretizer), "nulls": nulls, "ids": id}
    source = open_source(table, connect)
    groups = [] if by is None else group_columns(source.columns, by)
    moments = [] if time is None else [one_column(source.columns, time, "time")]
    if time is None and reference is not None:
        raise BadInput("reference is what windows of time are compared with: say which column is the time.")
    baseline = None if reference is None else _measured(open_source(reference, connect), how, confidence, interval)
    with source.one_state():
        measured = _measured(source, {**how, "carried": (*groups, *moments)}, confidence, interval)
        log = measured.log
        consistent, (sufficient, notes) = measured.consistency, sufficiency(measured)
        words = (log.source.name, log.kind.what, repr(log.discretizer))
        found = Audit(consistent, sufficient, *words, notes=notes, _measured=measured)
        populations = measured.by(groups) if groups else None
        windows = None if time is None else over_time(measured, time, every, baseline)
    return replace(found, populations=populations, windows=windows)


def _measured(source: Source, how: dict[str, Any], confidence: float, interval: Interval) -> Measured:
    """The log, its rows counted."""
    with source.one_state():
        log, seen = open_log(source, **how)
        measured = Measured(log, seen.rows, confidence, interval)
        measured.consistency  # noqa: B018
    return measured
