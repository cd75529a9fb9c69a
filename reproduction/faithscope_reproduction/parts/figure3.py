"""Figures 3 and 8: Anchors against their precision threshold on six data sets."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scipy.stats import rankdata

import faithscope as fs
from faithscope_reproduction.claims import by_trend
from faithscope_reproduction.models.splits import NAMES
from faithscope_reproduction.records import SETTINGS, Claim, Figure, Outcome, Record, Setting, record_of, total
from faithscope_reproduction.samples import distinct_share, unique_share
from faithscope_reproduction.settings import Settings, Steps
from faithscope_reproduction.sweep import SweptAnchors
from faithscope_reproduction.systems import BoostedSystem

ID = "figure3"
TITLE = "Anchors by precision threshold (Figures 3 and 8)"
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_QUICK_THRESHOLDS, _QUICK_NAMES, _QUICK_ROWS = (0.5, 0.95), ("heart", "bank", "adult"), 25
_ROWS, _FEWER = 1_000, {"avila": 150, "covtype": 150}  # their models are slow
_NOTES = {
    "as_defined": "categories as categories; the paper draws a curve and prints no numbers",
    "as_run": "all columns as numbers, anchors as anchor-exp gives them, learned from the test rows; the paper draws a "
    "curve and prints no numbers",
}
_EXPECTED = {"sufficiency": 1, "uniqueness": 1, "consistency": -1}


def run(settings: Settings) -> Outcome:
    """Consistency, sufficiency and uniqueness of anchors for every threshold, in both settings."""
    steps = Steps(settings, sys.modules[__name__])
    names = _QUICK_NAMES if settings.quick else NAMES
    outcome = total(
        steps.do(f"{name} {setting}", _curves, name, setting, settings) for name in names for setting in SETTINGS
    )
    claims = [_claim(setting, measure, outcome.records) for setting in SETTINGS for measure in _EXPECTED]
    claims += [_claim(setting, "sufficiency", outcome.records, checked=True) for setting in SETTINGS]
    return outcome + Outcome(claims=tuple(claims))


def _curves(name: str, setting: Setting, settings: Settings) -> Outcome:
    system = BoostedSystem.of(name, settings, setting, _QUICK_ROWS if settings.quick else _FEWER.get(name, _ROWS))
    like = Record(ID, name, "consistency", setting, len(system.rows), None, note=_NOTES[setting])
    records: list[Record] = []
    thresholds = _QUICK_THRESHOLDS if settings.quick else THRESHOLDS
    for threshold, anchors in SweptAnchors.of(system.anchors(thresholds[0]), thresholds).items():
        evaluation = system.evaluated(anchors)
        records += _records(evaluation, replace(like, case=f"{name} {threshold}"))
    title = f"Anchors on {name}, {setting.replace('_', ' ')}"
    drawn = Figure(f"{ID}-{name}-{setting}", title, "precision threshold", "share", _columns(records))
    return Outcome(tuple(records), (drawn,))


def _records(evaluation: fs.Evaluation, like: Record) -> list[Record]:
    unique = distinct_share if like.setting == "as_run" else unique_share
    estimates = (
        [evaluation.consistency] if evaluation.sufficiency is None else [evaluation.consistency, evaluation.sufficiency]
    )
    records = [record_of(estimate, replace(like, measure=estimate.measure)) for estimate in estimates]
    return [*records, replace(like, measure="uniqueness", ours=unique(evaluation.consistency))]


def _columns(records: Sequence[Record]) -> dict[str, list[Any]]:
    ordered = sorted(records, key=lambda record: record.measure)
    return {
        "curve": [record.measure for record in ordered],
        "x": [_threshold(record) for record in ordered],
        "y": [record.ours for record in ordered],
        "low": [record.low for record in ordered],
        "high": [record.high for record in ordered],
    }


def _threshold(record: Record) -> float:
    return float(record.case.split()[1])


def _claim(setting: Setting, measure: str, records: Sequence[Record], *, checked: bool = False) -> Claim:
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
        if not chosen:
            continue
        x += [_threshold(record) for record in chosen]
        y += (
            _EXPECTED[measure] * rankdata([_verified(record) if checked else record.ours for record in chosen])
        ).tolist()
    way = "grows" if _EXPECTED[measure] > 0 else "falls"
    where = ", where it can be checked," if checked else ""
    return by_trend(
        Claim(
            ID,
            setting,
            words=f"the estimated {measure} of anchors{where} {way} with the precision threshold",
            test="Kendall's rank correlation over thresholds, ranks within each data set",
        ),
        x,
        y,
    )


def _verified(record: Record) -> float:
    """Agreement among the rows that can be checked; 0 if none can."""
    silent = record.unverifiable or 0.0
    return 0.0 if silent >= 1 else (record.ours or 0.0) / (1 - silent)
