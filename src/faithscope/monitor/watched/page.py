"""The page of a monitor as a document: a line over time with its band, alarms, groups, and what changed."""

import os
from datetime import datetime
from importlib.metadata import version
from typing import Any

from faithscope.charts.watch_specs import over_time
from faithscope.measures.telling import number
from faithscope.monitor.sequential import DropBeside
from faithscope.monitor.watched.record import MonitorRecord, WatchedLine
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
    return page_of(document(record))


def document(record: MonitorRecord) -> Document:
    """What the page of a monitor shows."""
    days = record.lines[0].days if record.lines else ()
    sections = (_time, _alarms, _groups, _beside, _changed, _drift, _reading)
    return Document(
        "faithscope monitor",
        record.title,
        record.headline,
        f"{record.rows:,} rows{f' from {days[0]} to {days[-1]}' if days else ''}.",
        datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
        [section for make in sections if (section := make(record)) is not None],
        foot=[f"faithscope {version('faithscope')}"],
        alarmed=any(line.alarms for line in record.lines),
    )


def _time(record: MonitorRecord) -> Section:
    line = record.lines[0] if record.lines else None
    if line is None or not line.days:
        return Section("time", "Over time", "Over time", [missing("No rows were added yet.")])
    alarmed = any(line.alarms for line in record.lines)
    promise, reference = record.at_least is not None, bool(record.reference_end)
    marks = [
        ("dotted", "pairs of one day that agree"),
        ("banded", "limits of all rows so far, valid on all days together"),
        ("dashed", "interval for a single look"),
        *([("promised", f"promised: at least {record.at_least:g}")] if promise else []),
        *([("reference", "reference period")] if reference else []),
        *([("alarming", "alarm"), ("since", "limits since the change")] if alarmed else []),
    ]
    rows = tuple(
        (
            point["day"],
            number(point["value"]),
            _between(point["low"], point["high"]),
            _between(point["once_low"], point["once_high"]),
        )
        for point in line.points()[-_LAST:][::-1]
    )
    title = "Agreement of pairs of the day, and limits as of that day"
    table = Table(("day", "that day", "all looks", "single look"), rows, 1, title)
    chart = Chart(_spec(record, line, 300), _spoken(record.measure, line), _spoken(record.measure, line))
    return Section(
        "time", "Over time", "Over time", [Key(marks), chart, Group([table], fold="The last days as a table")]
    )


def _alarms(record: MonitorRecord) -> Section:
    found = [_found(line.name, alarm) for line in record.lines for alarm in line.alarms]
    unchanged = f" Nothing shows that {record.measure} has changed since {record.reference_end}."
    told = Findings(found) if found else Sentence(f"No alarm.{unchanged if record.reference_end else ''}")
    return Section("alarms", "Alarms", "Alarms", [told])


def _found(name: str, alarm: Any) -> Finding:
    drop, (least, most) = alarm.direction == "drop", alarm.reference
    since, was = (f"between {down(low)} and {up(high)}" for low, high in ((alarm.low, alarm.high), (least, most)))
    if alarm.direction not in ("drop", "rise"):
        text = f"Rows since then agree with those of the reference {since}, rows of the reference itself {was}."
    elif most >= 1 or least <= 0 or least == most:
        text = f"Since then {since}; at {'least' if drop else 'most'} {least if drop else most:.3f} was expected."
    else:
        text = f"Since then {since}; the reference was {was}."
    rises = alarm.direction == "rise"
    badge = f"{'↑' if rises else '↓'} {alarm.direction} since about {alarm.since}"
    return Finding("partly" if rises else "unfaithful", name, badge, f"Known on {alarm.day}. {text}")


def _groups(record: MonitorRecord) -> Section | None:
    if len(record.lines) < 2:
        return None
    rows = tuple(
        (
            line.name,
            "; ".join(dict.fromkeys(f"{each.direction} since {each.since}" for each in line.alarms)) or "none",
            Cell(f"{line.openers:,}", line.openers),
            _between(line.low[-1], line.high[-1]) if line.days else Cell(""),
        )
        for line in record.lines
    )
    table = Table(("group", "alarm", "pairs begun", "limits, all looks"), rows, 2, "As of the last day")
    charts = [
        Group([Chart(_spec(record, line, 190), _spoken(record.measure, line))], title=line.name)
        for line in record.lines[1:]
    ]
    return Section("groups", "Groups", "Groups", [table, Group(charts, "pair")])


def _beside(record: MonitorRecord) -> Section | None:
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
    name = "Beside the reference"
    return Section("beside", name, name, [Table(columns, rows, 1, title)], _BESIDE) if rows else None


def _changed(record: MonitorRecord) -> Section | None:
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
    return Section("changed", "What changed", "What changed", blocks) if blocks else None


def _drift(record: MonitorRecord) -> Section | None:
    name = "The explanations themselves"
    return Section("drift", name, name, [*map(Sentence, record.drift)]) if record.drift else None


def _reading(record: MonitorRecord) -> Section:
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
    blocks = [Facts(tuple(words.items()), "glossary"), *map(aside, record.notes), *facts]
    return Section("reading", "How to read this", "How to read this", blocks)


def _spec(record: MonitorRecord, line: WatchedLine, height: int) -> dict[str, Any]:
    alarms = [
        {
            "day": str(alarm.day),
            "text": alarm.direction,
            "since": str(alarm.since),
            "low": alarm.low,
            "high": alarm.high,
        }
        for alarm in line.alarms
        if not isinstance(alarm, DropBeside)  # of another measure
    ]
    return over_time(line.points(), alarms, record.at_least, record.reference_end, height, record.measure)


def _between(low: float, high: float) -> Cell:
    return Cell(f"{down(low)} to {up(high)}", low)


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
