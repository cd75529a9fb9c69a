"""The record of a monitor's page: lines over time, alarms, and what changed since the reference."""

from pathlib import Path
from typing import Any

import numpy as np

from faithscope.monitor.compared import CELLS_BY_RULE, compare, scoped_changes
from faithscope.monitor.look import Look
from faithscope.monitor.moments import to_date
from faithscope.monitor.periods import distance, drift_sentences
from faithscope.monitor.scopes import held_scopes
from faithscope.monitor.sequential import changes, shares
from faithscope.monitor.watched import MonitorRecord, WatchedLine, changed_explanations

_MOST_FEATURES = 20
_NO_REFERENCE = (
    "What changed, and whether explanations drift, is told against a reference period that was fixed beforehand: pass "
    "reference=30 for the first 30 days, on the command line --reference 30."
)


def watched_record(look: Look) -> MonitorRecord:
    """Everything that the page shows."""
    error, reference = 1 - look.confidence, look.reference
    lines = tuple(
        WatchedLine.of(look.names[name], draws, error * look.shares[name], look.alarms.get(name, ()))
        for name, draws in look.draws().items()
    )
    end = None if reference is None or look.origin is None else look.origin + reference - 1
    grouped = "Limits of groups hold for all groups together." if look.groups else None
    notes = (grouped, None if reference else _NO_REFERENCE, *look.notes)
    facts = {"state": Path(look.where).name, "groups by": ", ".join(look.by)}
    if look.once is not None:
        facts |= {"explanations": f"{look.once.distinct:,}", "unverifiable rows": f"{look.once.unverifiable:.1%}"}
    return MonitorRecord(
        f"{look.measure.capitalize()}, watched",
        _headline(look),
        lines,
        rows=look.limits[None].n,
        confidence=look.confidence,
        at_least=look.at_least,
        reference_end=None if end is None else str(to_date(end)),
        notes=tuple(note for note in notes if note),
        facts={name: fact for name, fact in facts.items() if fact},
        measure=look.measure,
        beside=tuple((look.names[name], told) for name, told in look.beside.items()),
        **({} if end is None else _changed(look, end, error)),
    )


def _headline(look: Look) -> str:
    limits, alarms = look.limits[None], [(name, alarm) for name, told in look.alarms.items() for alarm in told]
    if not limits.n:
        return "No rows were added yet."
    if not alarms:
        return f"No alarm. {limits}."
    name, alarm = alarms[0]
    others = len({group for group, _ in alarms if group is not None and group != name})
    more = f"; alarms in {others} group{'s' * (others != 1)} too" if others else ""
    return f"Alarm for {look.names[name]}: {alarm}{more}."


def _changed(look: Look, end: int, error: float) -> dict[str, Any]:
    """What changed within explanations, and of the explanations themselves, at all looks together.

    What is seen changes with a batch only, so the distance after the i-th one has its share of the error. Of scopes
    each rule is told in a sentence.
    """
    scopes, reference, alarms = held_scopes(look.connection), look.reference, look.alarms.get(None, ())
    assert reference is not None
    compared = compare(look.connection, reference, "cells" if scopes is None else CELLS_BY_RULE)
    if compared is None:
        return {"changed": ("There are no rows after the reference yet, or they were merged with it.",)}
    periods = compared.periods
    sentences = periods.sentences() if scopes is None else scoped_changes(look.connection, scopes, reference)
    if compared.until > to_date(end):
        sentences += (
            f"The state no longer tells the explanations of the reference from those until {compared.until}: here "
            "they count as the reference's.",
        )
    new = changes(compared.fresh, compared.reference, error / 2, compared.begin.toordinal())
    batches = len(np.unique(look.pairs.batch))
    apart = distance(periods.given[0], periods.given[1], error / 2 * float(shares(np.array([batches - 1]))[0]), seed=0)
    told = {"changed": sentences, "drift": drift_sentences(alarms, new, apart, periods.fresh, look.measure)}
    if scopes is not None:
        return told
    parts = periods.feature_parts(compared.features)
    largest = sorted(parts.items(), key=lambda item: -abs(item[1]))[:_MOST_FEATURES]
    return told | {
        "explanations": changed_explanations(periods, compared.names, compared.labels),
        "features": tuple((name, part) for name, part in sorted(largest, key=lambda item: item[1]) if part),
    }
