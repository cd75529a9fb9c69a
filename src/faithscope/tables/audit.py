"""audit(): a log of predictions and explanations in, without the model; an Audit out."""

from dataclasses import replace
from functools import partial
from typing import Any, Unpack

from faithscope.discretizers import Discretizer
from faithscope.errors import BadInput
from faithscope.inputs.checks import check_whole, is_real
from faithscope.measures.estimate import Estimate, Method
from faithscope.notes import of_kind
from faithscope.runtime.memory import in_memory
from faithscope.runtime.of_logs import tells_new_words
from faithscope.tables.audited import AuditedLog
from faithscope.tables.conditions import only_rows
from faithscope.tables.layout import open_log
from faithscope.tables.logs import Log, LogColumns
from faithscope.tables.reference import Reference, about_reference, refuse_unlike, shared_by
from faithscope.tables.result import Audit
from faithscope.tables.scopes import scoped_by, scoped_measures
from faithscope.tables.source import LogSource, Names
from faithscope.tables.windows import Every, over_time
from faithscope.words import several

__all__ = ["Audit", "audit"]


@tells_new_words
@in_memory("audit a part of the log")
def audit(
    table: Any,
    *,
    discretizer: Discretizer | str | None = None,
    by: Names | None = None,
    every: str | None = None,
    against: Any = None,
    agreement: Any = None,
    confidence: float = 0.95,
    interval: Method | None = None,
    unseen: bool = False,
    **columns: Unpack[LogColumns],
) -> Audit:
    """Measure how faithful the explanations in a log are, where the log lives; nothing is ever written there.

    Two things are taken for granted: rows are independent draws, and the explainer was fixed before they were seen. A
    note tells if whole rows of the log repeat more often than chance gives, such as cases that were logged again.

    Parameters
    ----------
    table : Log, or what `Log` takes
        One row per prediction: a file, a glob, a frame, a query, a database's table by name.
    discretizer : Discretizer or str, optional
        Such as ``SignOfTop(5)`` or ``"sign-of-top-5"``; of reasons in words, ``Codebook({...})`` or
        ``"codebook:codes.json"``.
    by : str or list of str, optional
        Columns that name populations; several are crossed.
    every : str, optional
        The length of a window of time: 1d, 6h, 30min, 1w, 1mo. By default no windows of a `Log`; days, if ``time=`` is
        passed here.
    against : log, Audit or int, optional
        What the log is compared with: another log with the same columns and none of the same rows, such as last week's
        (`Audit.reference` is the difference). In windows, these are compared with it, or with the first so many
        windows together, which one odd window decides less; by default with the first window.
    agreement : Close, Tolerance or Spread, optional
        How much two predictions agree if they are numbers; by default they are labels, which agree if they are equal.
    confidence, interval, unseen
        As for `consistency`.
    **columns
        What `Log` takes besides the table, if that is no `Log`: prediction, explanation, kind, inputs, id, clusters,
        time, nulls, connect; and where and since, as of ``Log.only``. The rows of another log that it is compared with
        are those of `where` too, and not those of `since`.

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
    log = Log._of(table, columns, "fs.audit")
    time = log.time if every is not None or not isinstance(table, Log) else None
    if every is not None and time is None:
        raise BadInput(f"every={every!r} is the length of windows of time: name their column, time=... or --by-time.")
    width = None if time is None else Every.of("1d" if every is None else every)
    how = {"confidence": confidence, "interval": interval, "unseen": unseen}
    options = log._options(discretizer=discretizer, agreement=agreement, **how)
    source = log._source()
    groups = () if by is None else source.named(by, "by")
    times = () if time is None else source.named([time], "time")
    with log._opened(source, options, (*groups, *times), shows=True) as chosen:
        measured = open_log(chosen, options)
        whole = measured.consistency
        baseline: AuditedLog | int = 1
        compared: tuple[str, ...] = ()
        if against is not None:
            baseline, compared = _baseline(against, source, time, measured)
        sufficient, necessary, notes = scoped_measures(measured)
        populations = measured.by(groups) if groups else None
        known = [each.measure for each in (sufficient, necessary) if each is not None]
        scoped = scoped_by(measured, groups, known) if groups and known else {}
        outside = []  # rows that are in no population of a grouping
        if populations is not None:
            rows = whole.n - sum(part.n for part in populations.estimates.values())
            if rows:
                told = several(rows, "row is", "rows are")
                outside.append(f"{told} in no population by {populations.by}: values missing")
        return Audit(
            whole,
            sufficient,
            name=measured.source.name,
            explainer=measured.kind.what,
            discretizer=repr(options.discretizer),
            populations=populations,
            sufficiency_populations=scoped.get("sufficiency"),
            necessity_populations=scoped.get("necessity"),
            windows=None if time is None or width is None else over_time(measured, time, width, baseline, groups),
            necessity=necessary,
            reference=None if isinstance(baseline, int) else _compared(measured, sufficient, baseline),
            notes=(*measured.source.notes, *notes, *outside, *compared),
            _measured=measured,
        )


def _baseline(
    against: Any, source: LogSource, time: str | None, measured: AuditedLog
) -> tuple[AuditedLog | int, tuple[str, ...]]:
    """What is compared with, another log or the first so many windows, and notes on its rows that were left out."""
    if is_real(against):
        if time is None:
            raise BadInput(
                f"against={against} is a number of windows of time: say which column is the time, or pass a log."
            )
        return check_whole(against, "against, a number of windows,"), ()
    notes: tuple[str, ...] = ()
    if isinstance(against, Audit):
        reference = against._measured
    else:
        log: Log = measured.options.said
        other = against if isinstance(against, Log) else replace(log, table=against, since=None)
        with about_reference():
            theirs = other._source()
        shared = "their table" if other.table is log.table else shared_by(source, theirs)
        if shared is not None:
            both = other.only(log.where, since=log.since)
            try:
                only_rows(source, both.where, both.since, both.time)
            except BadInput:  # no row is in both
                pass
            else:
                raise BadInput(
                    f"The log and its reference share {shared}, and rows of it: a difference is one between the rows "
                    "of two logs, such as log.only(\"day < '2026-03-01'\") and log.only(\"day >= '2026-03-01'\")."
                )
        # Of two features that are equally important, the first decides, so they are read in one order.
        options = replace(measured.options, said=other, nulls=other.nulls or "error", features=measured.features)
        if measured.reasons is not None:  # what was learned from the log holds for its reference
            options = replace(options, discretizer=measured.reasons.settled)
        with about_reference(), other._opened(theirs) as chosen:
            reference = open_log(chosen, options)
            dropped = of_kind(reference.consistency.notes, "dropped")
        notes = tuple(f"of the reference: {note}" for note in (*chosen.notes, *dropped))
    refuse_unlike(measured, reference)
    return reference, notes


def _compared(measured: AuditedLog, sufficient: Estimate | None, reference: AuditedLog) -> Reference:
    """The log against another one."""
    theirs = scoped_measures(reference)[0] if sufficient is not None else None
    pairs = ((measured.consistency, reference.consistency), (sufficient, theirs))
    both = [(ours, other) for ours, other in pairs if ours is not None and other is not None]
    name = reference.source.name
    name = name if name != measured.source.name else f"the reference ({name})"
    found = measured.beside_reference(measured.everything, reference)
    asked = None if found is None else found.answered_by([1])
    return Reference(
        name,
        {other.measure: other for _, other in both},
        {ours.measure: ours for ours, _ in both},
        None if asked is None else asked.estimate(0),
        None if asked is None else partial(asked.difference, checked=True),
    )
