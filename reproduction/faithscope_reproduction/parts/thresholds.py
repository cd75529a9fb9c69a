"""Figures 3 and 8: Anchors against their precision threshold on six data sets."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from scipy.stats import rankdata

from faithscope_reproduction.claims import by_trend
from faithscope_reproduction.data import NAMES
from faithscope_reproduction.numbers import record_of, uniqueness
from faithscope_reproduction.records import SETTINGS, Claim, Figure, Outcome, Record, Setting, total
from faithscope_reproduction.settings import Settings
from faithscope_reproduction.systems import BoostedSystem

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_QUICK_THRESHOLDS, _QUICK_NAMES, _QUICK_ROWS = (0.5, 0.95), ("heart", "bank", "adult"), 25
_ROWS, _FEWER = 1_000, {"avila": 75, "chess": 500, "covtype": 60}  # their models are slow
_NOTES = {
    "as_defined": "categories as categories; the paper draws a curve and prints no numbers",
    "as_run": "all columns as numbers, anchors as anchor-exp gives them, learned from the test rows; the paper draws a "
    "curve and prints no numbers",
}
_EXPECTED = {"sufficiency": 1, "uniqueness": 1, "consistency": -1}


def run(figure: str, settings: Settings) -> Outcome:
    """Consistency, sufficiency and uniqueness of anchors for every threshold, in both settings."""
    names = _QUICK_NAMES if settings.quick else NAMES
    outcome = total(settings.each(figure, _curves, product(names, SETTINGS)))
    claims = [claim(setting, measure, outcome.records) for setting in SETTINGS for measure in _EXPECTED]
    claims += [claim(setting, "sufficiency", outcome.records, checked=True) for setting in SETTINGS]
    return outcome + Outcome(claims=tuple(claims))


def _curves(name: str, setting: Setting, settings: Settings) -> Outcome:
    system = BoostedSystem.of(name, settings, setting, _QUICK_ROWS if settings.quick else _FEWER.get(name, _ROWS))
    records: list[Record] = []
    thresholds = _QUICK_THRESHOLDS if settings.quick else THRESHOLDS
    for threshold in thresholds:
        ev = system.evaluated(system.anchors(threshold))
        like = Record(
            "figure3", f"{name} {threshold}", "uniqueness", setting, len(system.rows), None, note=_NOTES[setting]
        )
        estimates = [estimate for estimate in (ev.consistency, ev.sufficiency) if estimate is not None]
        records += [record_of(estimate, replace(like, measure=estimate.measure)) for estimate in estimates]
        records.append(replace(like, ours=uniqueness(ev.consistency, setting)))
    ordered = sorted(records, key=lambda record: record.measure)
    columns: dict[str, list[Any]] = {
        "curve": [record.measure for record in ordered],
        "x": [float(record.case.split()[1]) for record in ordered],
        **{field: [getattr(record, name) for record in ordered] for field, name in _FIELDS.items()},
    }
    title = f"Anchors on {name}, {setting.replace('_', ' ')}"
    return Outcome(
        tuple(records), (Figure(f"figure3-{name}-{setting}", title, "precision threshold", "share", columns),)
    )


_FIELDS = {"y": "ours", "low": "low", "high": "high"}


def claim(setting: Setting, measure: str, records: Sequence[Record], *, checked: bool = False) -> Claim:
    """Whether a measure, or its verified part, follows the threshold, by ranks within each data set.

    Finer anchors cover fewer rows, and an anchor that covers nobody else counts as a failure in the estimate.
    """
    x: list[float] = []
    y: list[float] = []
    for name in NAMES:
        chosen = [
            record
            for record in records
            if (record.setting, record.measure) == (setting, measure) and record.case.split()[0] == name
        ]
        values = [record.ours or 0.0 for record in chosen]
        if checked:  # agreement among the rows that can be checked; 0 if none can
            shares = [1 - (record.unverifiable or 0.0) for record in chosen]
            values = [value / share if share > 0 else 0.0 for value, share in zip(values, shares, strict=True)]
        x += [float(record.case.split()[1]) for record in chosen]
        y += (_EXPECTED[measure] * rankdata(values)).tolist()
    way = "grows" if _EXPECTED[measure] > 0 else "falls"
    where = ", where it can be checked," if checked else ""
    words = f"the estimated {measure} of anchors{where} {way} with the precision threshold"
    test = "Kendall's rank correlation over thresholds, ranks within each data set"
    return by_trend(Claim("figure3", setting, words=words, test=test), x, y)
