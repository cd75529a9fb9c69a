"""The record of a monitor's page: lines over time, alarms, and what changed since the reference."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from faithscope.monitor.compared import Compared, compare
from faithscope.monitor.limits import all_draws, group_shares
from faithscope.monitor.moments import to_date
from faithscope.monitor.periods import distance, drift_sentences
from faithscope.monitor.scoped.changes import CELLS_BY_RULE, scoped_changes
from faithscope.monitor.scoped.scopes import Scopes
from faithscope.monitor.sequential import Alarm, changes, shares
from faithscope.monitor.telling import Told
from faithscope.monitor.watched import MonitorRecord, WatchedLine, changed_explanations

if TYPE_CHECKING:
    from faithscope.monitor.monitor import Monitor

_MOST_FEATURES = 20
_NO_REFERENCE = (
    "What changed, and whether explanations drift, is told against a reference period that was fixed beforehand: pass "
    "reference=30 for the first 30 days, on the command line --reference 30."
)


def watched_record(monitor: "Monitor", told: Told, connection: Any, reference: int | None) -> MonitorRecord:
    """Everything that the page shows, from one state of the store."""
    history = monitor._history
    pairs, codes = history.pairs, history.codes
    parts, error = group_shares(pairs), 1 - monitor.confidence
    lines = tuple(
        WatchedLine.of(told.names[name], draws, error * parts.get(codes[name], 1.0), told.alarms.get(name, ()))
        for name, draws in all_draws(pairs, codes).items()
    )
    begun = history.origin
    end = None if reference is None or begun is None else begun + reference - 1
    compared, by_rule = _compared(connection, monitor._scopes, reference)
    grouped = "Limits of groups hold for all groups together." if told.groups else None
    notes = (grouped, None if reference else _NO_REFERENCE, *told.notes)
    return MonitorRecord(
        f"{told.measure.capitalize()}, watched",
        _headline(told),
        lines,
        rows=told.limits.n,
        confidence=monitor.confidence,
        at_least=monitor.at_least,
        reference_end=None if end is None else str(to_date(end)),
        notes=tuple(note for note in notes if note),
        facts=_facts(monitor, told),
        measure=told.measure,
        beside=tuple(told.beside_lines()),
        **_changed(compared, end, told.alarms.get(None, ()), error, len(np.unique(pairs.batch)), by_rule),
    )


def _compared(connection: Any, scopes: Scopes | None, reference: int | None) -> tuple[Compared | None, tuple[str, ...]]:
    """What came in the reference and since; with scopes each rule in a sentence."""
    if reference is None:
        return None, ()
    compared = compare(connection, reference, "cells" if scopes is None else CELLS_BY_RULE)
    told = () if compared is None or scopes is None else scoped_changes(connection, scopes, reference)
    return compared, told


def _headline(told: Told) -> str:
    if not told.limits.n:
        return "No rows were added yet."
    alarms = [(name, alarm) for name, alarms in told.alarms.items() for alarm in alarms]
    if not alarms:
        return f"No alarm. {told.limits}."
    name, alarm = alarms[0]
    others = len({group for group, _ in alarms if group is not None and group != name})
    more = f"; alarms in {others} group{'s' * (others != 1)} too" if others else ""
    return f"Alarm for {told.names[name]}: {alarm}{more}."


def _facts(monitor: "Monitor", told: Told) -> dict[str, str]:
    facts = {"state": "memory" if monitor._store.path is None else Path(monitor._store.path).name}
    if monitor.by:
        facts["groups by"] = ", ".join(monitor.by)
    if told.single_look is not None:
        facts["explanations"] = f"{told.single_look.distinct:,}"
        facts["unverifiable rows"] = f"{told.single_look.unverifiable:.1%}"
    return facts


def _changed(
    compared: Compared | None,
    end: int | None,
    alarms: tuple[Alarm, ...],
    error: float,
    batches: int,
    by_rule: tuple[str, ...] = (),
) -> dict[str, Any]:
    """What changed within explanations, and of the explanations themselves, at all looks together.

    What is seen changes with a batch only, so the distance after the i-th one has its share of the error. Of scopes
    each rule is told in a sentence.
    """
    if end is None:
        return {}
    if compared is None:
        return {"changed": ("There are no rows after the reference yet, or they were merged with it.",)}
    periods = compared.periods
    sentences = by_rule or periods.sentences()
    if compared.until > to_date(end):
        sentences += (
            f"The state no longer tells the explanations of the reference from those until {compared.until}: here "
            "they count as the reference's.",
        )
    parts = periods.feature_parts(compared.features)
    largest = sorted(parts.items(), key=lambda item: -abs(item[1]))[:_MOST_FEATURES]
    new = changes(compared.fresh, compared.reference, error / 2, compared.begin.toordinal())
    look = error / 2 * float(shares(np.array([batches - 1]))[0])
    apart = distance(periods.given[0], periods.given[1], look, seed=0)
    if by_rule:
        return {
            "changed": sentences,
            "drift": drift_sentences(alarms, new, apart, periods.fresh, "sufficiency"),
        }
    return {
        "changed": sentences,
        "explanations": changed_explanations(periods, compared.names, compared.labels),
        "features": tuple((name, part) for name, part in sorted(largest, key=lambda item: item[1]) if part),
        "drift": drift_sentences(alarms, new, apart, periods.fresh),
    }
