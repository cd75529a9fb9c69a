"""audit(): a log of predictions and explanations in, without the model; an Audit out."""

from dataclasses import replace
from typing import Any

from faithscope.agreements import to_agreement
from faithscope.discretizers import Discretizer, Original, to_discretizer
from faithscope.errors import BadInput
from faithscope.inputs.checks import check_whole, is_real
from faithscope.measures.estimate import Estimate, Method, to_interval
from faithscope.runtime.memory import in_memory
from faithscope.tables.engine.missing import Nulls
from faithscope.tables.left_out import dropped, left_out
from faithscope.tables.log.chosen_rows import ChosenRows
from faithscope.tables.log.columns import Names, named_columns, one_column
from faithscope.tables.measured_log import MeasuredLog
from faithscope.tables.options import AuditOptions
from faithscope.tables.reference import Reference, about_reference, aligned, refuse_shared
from faithscope.tables.result import Audit
from faithscope.tables.scoped.measures import scoped_measures
from faithscope.tables.sources.source import LogSource, open_source
from faithscope.tables.windows import over_time

__all__ = ["Audit", "audit"]


@in_memory("audit a part of the log")
def audit(
    table: Any,
    *,
    prediction: Names | None = None,
    explanation: Names | None = None,
    kind: str | None = None,
    discretizer: Discretizer | str | None = None,
    by: Names | None = None,
    where: str | None = None,
    since: Any = None,
    time: str | None = None,
    every: str = "1d",
    reference: Any = None,
    nulls: Nulls = "error",
    confidence: float = 0.95,
    interval: Method | None = None,
    unseen: bool = False,
    connect: str | None = None,
    id: Names | None = None,
    agreement: Any = None,
    clusters: str | None = None,
    inputs: Names | None = None,
) -> Audit:
    """Measure how faithful the explanations in a log are, where the log lives; nothing is ever written there.

    Two things are taken for granted: rows are independent draws, and the explainer was fixed before they were seen. A
    note tells if whole rows of the log repeat more often than chance gives, such as cases that were logged again.

    Parameters
    ----------
    table : path, glob, list of paths, pandas, polars or Arrow table, Ibis table, query, or a database's table by name
        One row per prediction. Parquet, CSV and JSON lines are read in place by DuckDB. The rows of a query (a polars
        LazyFrame, a DuckDB relation, an Arrow dataset or reader) are read once, in batches.
    prediction : str or list of str, optional
        The column of predictions; known if faithscope wrote the log. Several columns, such as probabilities, only with
        ``agreement=fs.Spread()``, which adds them up.
    explanation : str or list of str, optional
        The columns of the explanation by name or glob, such as ``"phi_*"``; known if faithscope wrote the log.
    kind : str, optional
        importances, keys, reasons, codes, rules, words, prototypes or counterfactuals; by default what names and types
        say, and "reasons" (in words) for a discretizer of these. Codes are read as sets, from several columns, lists or
        joined texts: see `Codes`.
    discretizer : Discretizer or str, optional
        Such as ``SignOfTop(5)`` or ``"sign-of-top-5"``; of reasons in words, ``Codebook({...})`` or
        ``"codebook:codes.json"``.
    by : str or list of str, optional
        Columns that name populations; of several, each of them and their combinations.
    where : str, optional
        A condition of SQL on the log's columns, such as ``"region = 'EU' and age >= 18"``: other rows are left out, of
        the reference too. It is read here, and no engine sees its text.
    since : date, datetime or str, optional
        Leave out rows before this moment, by the column `time`, or by the log's only column of dates or moments; not of
        the reference.
    time, every : str, optional
        A column of moments, and the length of a window: 1d, 6h, 30min, 1w, 1mo.
    reference : log, Audit or int, optional
        What the log is compared with: another log with the same columns and none of the same rows, such as last week's
        (`Audit.reference` is the difference). With `time`, windows are compared with it, or with the first so many
        windows together, which one odd window decides less; by default with the first window.
    nulls : {"error", "drop", "key"}
        What to do with rows in which a used column is missing: refuse, leave out, or let missing be a value.
    confidence, interval, unseen
        As for `consistency`.
    connect : str, optional
        A database, such as ``postgres://user@host/database`` or ``spark``, in which `table` is a name.
    id : str or list of str, optional
        Columns that identify rows, which have no numbers in a log: they stand first when rows are shown, and are
        never part of an explanation or of a measure.
    agreement : Close, Tolerance or Spread, optional
        How much two predictions agree if they are numbers; by default they are labels, which agree if they are equal.
    clusters : str, optional
        A column that says which rows belong together, such as a customer's number: a row is then compared with rows of
        other clusters only, and the interval leaves out whole clusters. Rows without a value are one cluster with
        ``nulls="key"``, left out with ``"drop"``. Without it, rows must be independent: repeated ones vouch for each
        other, and the estimate is too high.
    inputs : str or list of str, optional
        The column of the texts that reasons in words are about, or several, which ``Template()`` blanks; known if
        faithscope wrote the log.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import pandas as pd, faithscope as fs
    >>> log = pd.DataFrame({"leaf": [1, 1, 1, 2, 2, 2], "yhat": ["yes", "yes", "no", "no", "no", "no"]})
    >>> audited = fs.audit(log, prediction="yhat", explanation="leaf")
    >>> round(audited.consistency.value, 3), audited.consistency.n
    (0.667, 6)
    """
    chosen = to_discretizer(discretizer)
    coarse: Any = Original() if chosen is None else chosen
    how = to_agreement(agreement)
    method, allowed = to_interval(interval, unseen)
    options = AuditOptions(
        *(prediction, explanation, kind, coarse, nulls, id, confidence, method, how, clusters),
        inputs=inputs,
        unseen=allowed,
    )
    source = open_source(table, connect)
    groups = () if by is None else named_columns(source.columns, by, "by")
    moments = () if time is None else (one_column(source.columns, time, "time"),)
    other = _opened_reference(reference, source, time, connect)
    with source.one_state():
        chosen_rows = ChosenRows(source).where(where).since(since, time)
        measured = MeasuredLog.of(chosen_rows.source, options, (*groups, *moments))
        baseline, compared = _baseline(other, measured, where)
        sufficient, necessary, notes = scoped_measures(measured)
        populations = measured.by(groups) if groups else None
        return Audit(
            measured.consistency,
            sufficient,
            name=measured.log.source.name,
            explainer=measured.log.kind.what,
            discretizer=repr(coarse),
            populations=populations,
            windows=None if time is None else over_time(measured, time, every, baseline, groups),
            necessity=necessary,
            reference=_compared(measured, sufficient, baseline),
            notes=(*chosen_rows.notes, *measured.log.notes, *notes, *left_out(measured, populations), *compared),
            _measured=measured,
        )


def _opened_reference(
    reference: Any, log: LogSource, time: str | None, connect: str | None
) -> LogSource | MeasuredLog | int:
    """What is compared with: a log, measured or not, or the first so many windows."""
    if reference is None:
        return 1
    if is_real(reference):
        if time is None:
            raise BadInput(
                f"reference={reference} is a number of windows of time: say which column is the time, or pass a log."
            )
        return check_whole(reference, "reference, a number of windows,")
    if isinstance(reference, Audit):
        return reference._measured
    with about_reference():
        source = open_source(reference, connect)
    refuse_shared(log, source)
    return source


def _baseline(
    reference: LogSource | MeasuredLog | int, measured: MeasuredLog, where: str | None
) -> tuple[MeasuredLog | int, tuple[str, ...]]:
    """What is compared with, measured like the log, and notes on its rows that were left out."""
    if isinstance(reference, int):
        return reference, ()
    if isinstance(reference, MeasuredLog):
        return aligned(measured, reference), ()
    with about_reference(), reference.one_state():
        chosen = ChosenRows(reference).where(where)
        options = measured.log.options
        if measured.reasons is not None:  # what was learned from the log holds for its reference
            options = replace(options, discretizer=measured.reasons.settled)
        theirs = MeasuredLog.of(chosen.source, options)
    theirs = aligned(measured, theirs)
    return theirs, tuple(f"of the reference: {note}" for note in (*chosen.notes, *dropped(theirs)))


def _compared(measured: MeasuredLog, sufficient: Estimate | None, reference: MeasuredLog | int) -> Reference | None:
    """The log against another one; None if it is compared with none."""
    if isinstance(reference, int):
        return None
    theirs = scoped_measures(reference).sufficiency if sufficient is not None else None
    pairs = ((measured.consistency, reference.consistency), (sufficient, theirs))
    both = [(ours, other) for ours, other in pairs if ours is not None and other is not None]
    name = reference.log.source.name
    name = name if name != measured.log.source.name else f"the reference ({name})"
    found = measured.beside(measured.rows, (), [None], reference)
    asked = None if found is None else found.answered_by([1])
    return Reference(
        name,
        {other.measure: other for _, other in both},
        {ours.measure: ours for ours, _ in both},
        None if asked is None else asked.estimate(0),
        None if asked is None else asked.checked_difference,
    )
