"""Which rows a result leaves out, in notes: those with missing values, and those without a group."""

from faithscope.explanations.base import several
from faithscope.measures.comparing.populations import Populations
from faithscope.tables.engine.missing import dropped_note
from faithscope.tables.measured_log import MeasuredLog


def dropped(measured: MeasuredLog) -> tuple[str, ...]:
    """How many rows were dropped since values are missing."""
    return dropped_note(measured.dropped)


def left_out(measured: MeasuredLog, populations: Populations | None) -> tuple[str, ...]:
    """How many of the measured rows are in no population of a grouping."""
    notes = []
    for grouping in populations.groupings if populations is not None else ():
        rows = measured.consistency.n - sum(estimate.n for estimate in grouping.estimates.values())
        if rows:
            notes.append(f"{several(rows, 'row is', 'rows are')} in no population by {grouping.by}: values missing")
    return tuple(notes)
