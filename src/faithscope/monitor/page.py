"""The page of a monitor as a document: a line over time with its band, alarms, groups, and what changed."""

import os
from datetime import datetime
from importlib.metadata import version
from typing import Any

from faithscope.charts.watch_specs import over_time
from faithscope.measures.telling import number
from faithscope.monitor.sequential import DropBeside
from faithscope.monitor.watching import MonitorRecord, WatchedLine
from faithscope.report.document import (
    Block,
    Chart,
    Document,
    Facts,
    Finding,
    Findings,
    Group,
    Key,
    Section,
    aside,
    missing,
)
from faithscope.report.offline_page import page_of
from faithscope.rounding import down, up
from faithscope.runtime.files import write_atomically
from faithscope.sinks.card import Cell, Sentence, Table
from faithscope.visible import visible

_LAST = 31  # days that are listed
_BESIDE = (
    "Does a row get the prediction that rows of the reference with its explanation got? Rows since the reference, and "
    "rows of the reference itself that are no closers, against the same closers."
)
_CHANGED = (
    "Explanations whose rows agree otherwise than in the reference period; proven for a single look, corrected for all "
    "explanations"
)
_BY_FEATURE = (
    "What explanations that name a feature add to the change; explanations that name several features count for each."
)
_MEANING = {
    "consistency": "The probability that two rows with the same explanation get the same prediction. Rows are paired "
    "at random with rows of the same explanation, whatever their predictions.",
    "sufficiency": "The probability that a row to which another row's rule applies gets that row's prediction; rules "
    "were fixed beforehand. Rows are paired at random with rows to which their rules apply, whatever their "
    "predictions.",
}


def write(record: MonitorRecord, path: str | os.PathLike[str]) -> None:
    """Write the page."""
    write_atomically(path, render(record).encode(errors="replace"), private=True)


def render(record: MonitorRecord) -> str:
    """The page, which needs nothing else."""
    points = record.lines[0].points if record.lines else []
    days = f" from {points[0]['day']} to {points[-1]['day']}" if points else ""
    told: dict[tuple[str, str], list[Block]] = {
        ("time", "Over time"): _time(record),
        ("alarms", "Alarms"): _alarms(record),
        ("groups", "Groups"): _groups(record),
        ("beside", "Beside the reference"): _beside(record),
        ("changed", "What changed"): _changed(record),
        ("drift", "The explanations themselves"): [*map(Sentence, record.drift)],
        ("reading", "How to read this"): _reading(record),
    }
    leads = {"beside": _BESIDE}
    return page_of(
        Document(
            "faithscope monitor",
            record.title,
            record.headline,
            f"{record.rows:,} rows{days}.",
            datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
            [Section(key, name, name, blocks, leads.get(key, "")) for (key, name), blocks in told.items() if blocks],
            foot=[f"faithscope {version('faithscope')}"],
            alarmed=any(line.alarms for line in record.lines),
        )
    )


def _time(record: MonitorRecord) -> list[Block]:
    line = record.lines[0] if record.lines else None
    if line is None or not line.points:
        return [missing("No rows were added yet.")]
    marks = [
        ("dotted", "pairs of one day that agree"),
        ("banded", "limits of all rows so far, valid on all days together"),
        ("dashed", "interval for a single look"),
    ]
    if record.at_least is not None:
        marks += [("promised", f"promised: at least {record.at_least:g}")]
    if record.reference_end:
        marks += [("reference", "reference period")]
    if any(line.alarms for line in record.lines):
        marks += [("alarming", "alarm"), ("since", "limits since the change")]
    rows = tuple(
        (point["day"], number(point["value"]), _limits(point), _between(point["once_low"], point["once_high"]))
        for point in line.points[-_LAST:][::-1]
    )
    title = "Agreement of pairs of the day, and limits as of that day"
    table = Table(("day", "that day", "all looks", "single look"), rows, 1, title)
    spoken = _spoken(record.measure, line)
    return [
        Key(marks),
        Chart(_spec(record, line, 300), spoken, spoken),
        Group([table], fold="The last days as a table"),
    ]


def _alarms(record: MonitorRecord) -> list[Block]:
    found = []
    for name, alarm in ((line.name, alarm) for line in record.lines for alarm in line.alarms):
        drop, rises, (least, most) = alarm.direction == "drop", alarm.direction == "rise", alarm.reference
        since, was = (f"between {down(low)} and {up(high)}" for low, high in ((alarm.low, alarm.high), (least, most)))
        if not drop and not rises:
            text = f"Rows since then agree with those of the reference {since}, rows of the reference itself {was}."
        elif most >= 1 or least <= 0 or least == most:
            text = f"Since then {since}; at {'least' if drop else 'most'} {least if drop else most:.3f} was expected."
        else:
            text = f"Since then {since}; the reference was {was}."
        badge = f"{'↑' if rises else '↓'} {alarm.direction} since about {alarm.since}"
        found.append(Finding("partly" if rises else "unfaithful", name, badge, f"Known on {alarm.day}. {text}"))
    unchanged = f" Nothing shows that {record.measure} has changed since {record.reference_end}."
    return [Findings(found) if found else Sentence(f"No alarm.{unchanged if record.reference_end else ''}")]


def _groups(record: MonitorRecord) -> list[Block]:
    if len(record.lines) < 2:
        return []
    rows = tuple(
        (
            line.name,
            "; ".join(dict.fromkeys(f"{each.direction} since {each.since}" for each in line.alarms)) or "none",
            Cell(f"{line.openers:,}", line.openers),
            _limits(line.points[-1]) if line.points else Cell(""),
        )
        for line in record.lines
    )
    table = Table(("group", "alarm", "pairs begun", "limits, all looks"), rows, 2, "As of the last day")
    charts = [
        Group([Chart(_spec(record, line, 190), _spoken(record.measure, line))], title=line.name)
        for line in record.lines[1:]
    ]
    return [table, Group(charts, "pair")]


def _beside(record: MonitorRecord) -> list[Block]:
    rows = tuple(
        (
            name,
            Cell(f"{told.checked:,} of {told.n:,}", told.checked),
            number(told.value),
            _between(told.low, told.high),
            number(told.before),
        )
        for name, told in record.beside
    )
    columns = ("rows of", "rows checked", "since the reference", "limits, all looks", "in the reference")
    title = "Agreement with rows of the reference; limits hold at all looks and for all groups together"
    return [Table(columns, rows, 1, title)] if rows else []


def _changed(record: MonitorRecord) -> list[Block]:
    blocks: list[Block] = [*map(Sentence, record.changed)]
    if record.explanations:
        rows = tuple(
            (
                f"{each.text} {each.labels}".strip(),
                "yes" if each.probability < 1 - record.confidence else "cannot tell",
                Cell(f"{each.rows[0]:,} → {each.rows[1]:,}", each.rows[1]),
                *map(number, each.agreement),
                Cell(f"{each.part:+.4f}", each.part),
            )
            for each in record.explanations
        )
        columns = ("explanation", "proven", "rows", "agreed", "agree now", "adds")
        blocks += [Table(columns, rows, 2, _CHANGED)]
    if record.features:
        parts = Facts([(name, f"{part:+.4f}") for name, part in record.features])
        blocks += [Group([Sentence(_BY_FEATURE), parts], title="By feature")]
    return blocks


def _reading(record: MonitorRecord) -> list[Block]:
    measure, level = record.measure, f"{100 * record.confidence:g}%"
    words = {
        measure: _MEANING[measure],
        "limits, all looks": f"As long as nothing changes, {measure} lies within the band on all days together with "
        f"probability {level}. Look as often as you like. Rows that wait for a partner widen it.",
        "interval, single look": "Narrower, and right only for a day that was chosen beforehand: looked at every day, "
        "it misses the truth sooner or later.",
        "alarm": "A mean left the range of its reference. While nothing changes, the probability that there is ever an "
        f"alarm, on any day, for any group, is at most {round(100 * (1 - record.confidence), 6):g}%.",
    }
    facts = [Facts(tuple(record.facts.items()))] if record.facts else []
    return [Facts(tuple(words.items()), "glossary"), *map(aside, record.notes), *facts]


def _spec(record: MonitorRecord, line: WatchedLine, height: int) -> dict[str, Any]:
    alarms = [
        {"day": str(each.day), "text": each.direction, "since": str(each.since), "low": each.low, "high": each.high}
        for each in line.alarms
        if not isinstance(each, DropBeside)  # of another measure
    ]
    return over_time(line.points, alarms, record.at_least, record.reference_end, height, record.measure)


def _between(low: float, high: float) -> Cell:
    return Cell(f"{down(low)} to {up(high)}", low)


def _limits(point: dict[str, Any]) -> Cell:
    return _between(point["low"], point["high"])


def _spoken(measure: str, line: WatchedLine) -> str:
    """The chart in words."""
    if not line.points:
        return f"{visible(line.name)}: no days yet."
    first, last = line.points[0], line.points[-1]
    told = "; ".join(dict.fromkeys(f"{alarm.direction} known on {alarm.day}" for alarm in line.alarms)) or "no alarm"
    return (
        f"{visible(line.name)} from {first['day']} to {last['day']}: {measure} between {down(last['low'])} and "
        f"{up(last['high'])} as of the last day; {told}."
    )
