"""Advice in notes, with options of the command line in place of Python's arguments."""

from dataclasses import replace
from typing import Any

from faithscope.measures.estimate import Estimate
from faithscope.notes import Note
from faithscope.report.explainer import Explainer, Summary
from faithscope.report.result import Breakdown
from faithscope.tables.windows import Windows

_HELD: dict[type, tuple[str, ...]] = {  # where notes are
    Summary: ("explainers",),
    Explainer: ("measures", "populations", "notes"),
    Breakdown: ("estimates",),
    Windows: ("estimates",),
    Estimate: ("notes",),
}


def with_options(told: Any) -> Any:
    """The same summary, or windows, with advice that can be typed."""
    if isinstance(told, Note):
        return told.typed()
    if isinstance(told, tuple):
        return tuple(map(with_options, told))
    if isinstance(told, dict):
        return {name: with_options(each) for name, each in told.items()}
    held = _HELD.get(type(told), ())
    return replace(told, **{name: with_options(getattr(told, name)) for name in held}) if held else told
