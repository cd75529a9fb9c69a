"""The page of a monitor: a line over time with its band, alarms, groups, and what changed."""

from faithscope.monitor.watched.building import changed_explanations
from faithscope.monitor.watched.page import render, write
from faithscope.monitor.watched.record import ChangedExplanation, MonitorRecord, WatchedLine

__all__ = [
    "ChangedExplanation",
    "MonitorRecord",
    "WatchedLine",
    "changed_explanations",
    "render",
    "write",
]
