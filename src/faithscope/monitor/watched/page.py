"""The page of a monitor as one HTML file: no network, opens from disk."""

import os
from datetime import datetime
from functools import partial
from importlib.metadata import version
from typing import Any

from faithscope.charts.theme import LIGHT, theme
from faithscope.charts.watch_specs import over_time
from faithscope.monitor.sequential import DropBeside
from faithscope.monitor.watched.record import MonitorRecord, WatchedLine
from faithscope.report.offline_page import fill_page
from faithscope.rounding import down, up
from faithscope.runtime.files import write_atomically
from faithscope.visible import visible


def write(record: MonitorRecord, path: str | os.PathLike[str]) -> None:
    """Write the page."""
    write_atomically(path, render(record).encode(errors="replace"), private=True)


def render(record: MonitorRecord) -> str:
    """The page, which needs nothing else."""
    return fill_page(
        "faithscope.monitor.watched",
        _charts(record),
        record=record,
        alarms=[(line.name, alarm) for line in record.lines for alarm in line.alarms],
        since=_since,
        sections=_sections(record),
        spoken=partial(_spoken, record.measure),
        created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
        version=version("faithscope"),
        visible=visible,
        down=down,
        up=up,
    )


def _charts(record: MonitorRecord) -> dict[str, Any]:
    colors = {name: f"var(--{name})" for name in LIGHT}
    drawn = {
        f"chart-{place}": over_time(
            line.points(),
            [_alarm_row(alarm) for alarm in line.alarms if not isinstance(alarm, DropBeside)],  # of another measure
            record.at_least,
            record.reference_end,
            300 if not place else 190,
            record.measure,
        )
        for place, line in enumerate(record.lines)
    }
    config = theme(colors) | {"aria": False, "mark": {"aria": False}, "background": "transparent"}
    return {"specs": drawn, "config": config}


def _since(alarms: Any) -> str:
    """What alarms tell, each once: one may be of a promised level and of the reference."""
    return "; ".join(dict.fromkeys(f"{alarm.direction} since {alarm.since}" for alarm in alarms))


def _alarm_row(alarm: Any) -> dict[str, Any]:
    return {
        "day": str(alarm.day),
        "text": alarm.direction,
        "since": str(alarm.since),
        "low": alarm.low,
        "high": alarm.high,
    }


def _sections(record: MonitorRecord) -> list[tuple[str, str]]:
    parts = [("time", "Over time"), ("alarms", "Alarms")]
    parts += [("groups", "Groups")] if len(record.lines) > 1 else []
    parts += [("beside", "Beside the reference")] if record.beside else []
    parts += [("changed", "What changed")] if record.changed or record.explanations else []
    parts += [("drift", "The explanations themselves")] if record.drift else []
    return [*parts, ("reading", "How to read this")]


def _spoken(measure: str, line: WatchedLine) -> str:
    """The chart in words."""
    if not line.days:
        return f"{visible(line.name)}: no days yet."
    known = dict.fromkeys(f"{alarm.direction} known on {alarm.day}" for alarm in line.alarms)
    told = "; ".join(known) or "no alarm"
    return (
        f"{visible(line.name)} from {line.days[0]} to {line.days[-1]}: {measure} between {down(line.low[-1])} and "
        f"{up(line.high[-1])} as of the last day; {told}."
    )
