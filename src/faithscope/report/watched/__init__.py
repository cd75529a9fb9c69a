"""The page of a monitor: a line over time with its band, alarms, groups, and what changed."""

from faithscope.report.watched.building import changed_explanations
from faithscope.report.watched.page import render, write
from faithscope.report.watched.record import ChangedExplanation, MonitorRecord, WatchedLine

__all__ = [
    "ChangedExplanation",
    "MonitorRecord",
    "WatchedLine",
    "changed_explanations",
    "render",
    "write",
]
