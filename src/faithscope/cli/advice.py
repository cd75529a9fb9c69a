"""Advice in notes, with options of the command line in place of Python's arguments."""

from collections.abc import Iterable
from dataclasses import replace

from faithscope.measures.estimate import Estimate
from faithscope.notes import Note
from faithscope.report.explainer import Explainer, Summary
from faithscope.report.result import Breakdown
from faithscope.tables.windows import Windows


def with_options(summary: Summary) -> Summary:
    """The same summary with advice that can be typed."""
    return replace(summary, explainers=tuple(map(_explainer, summary.explainers)))


def typed_windows(windows: Windows) -> Windows:
    """The same windows with advice that can be typed."""
    return replace(windows, estimates={start: _estimate(each) for start, each in windows.estimates.items()})


def _explainer(explainer: Explainer) -> Explainer:
    return replace(
        explainer,
        measures=tuple(map(_estimate, explainer.measures)),
        populations=tuple(map(_groups, explainer.populations)),
        notes=_typed(explainer.notes),
    )


def _groups(groups: Breakdown) -> Breakdown:
    return replace(groups, estimates={name: _estimate(estimate) for name, estimate in groups.estimates.items()})


def _estimate(estimate: Estimate) -> Estimate:
    return replace(estimate, notes=_typed(estimate.notes))


def _typed(notes: Iterable[str]) -> tuple[str, ...]:
    return tuple(note.typed() if isinstance(note, Note) else note for note in notes)
