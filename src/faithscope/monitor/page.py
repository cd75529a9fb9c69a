"""The page of a monitor as a document: a line over time with its band, alarms, groups, and what changed."""

import os
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from faithscope.charts.watch_specs import over_time
from faithscope.measures.telling import number
from faithscope.monitor.look import Look
from faithscope.monitor.moments import to_date
from faithscope.monitor.periods import Changes, changes_since
from faithscope.monitor.sequential import mean_share
from faithscope.monitor.telling import beside_table, days_table, groups_table
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

_BESIDE = (
    "Does a row get the prediction that rows of the reference with its explanation got? Rows since the reference, and "
    "rows of the reference itself that are no closers, against the same closers."
)
_CHANGED = (
    "Explanations whose rows agree otherwise than in the reference period: a single look, to be read after an alarm"
)
_MEANING = {
    "consistency": "The probability that two rows with the same explanation get the same prediction. Rows are paired "
    "at random with rows of the same explanation, whatever their predictions.",
    "sufficiency": "The probability that a row to which another row's rule applies gets that row's prediction; rules "
    "were fixed beforehand. Rows are paired at random with rows to which their rules apply, whatever their "
    "predictions.",
}
_NO_REFERENCE = (
    "What changed, and whether explanations drift, is told against a reference period that was fixed beforehand: begin "
    "a state with reference=30 for the first 30 days, on the command line monitor add --reference 30."
)
_POINT = ("day", "value", "low", "high", "once_low", "once_high")


def write(look: Look, path: str | os.PathLike[str]) -> None:
    """Write the page."""
    write_atomically(path, render(look).encode(errors="replace"), private=True)


def render(look: Look) -> str:
    """The page, which needs nothing else."""
    changed, days = changes_since(look), look.draws[None].days
    told: dict[tuple[str, str], list[Block]] = {
        ("time", "Over time"): _time(look),
        ("alarms", "Alarms"): _alarms(look),
        ("groups", "Groups"): _groups(look),
        ("beside", "Beside the reference"): [table for table in [beside_table(look)] if table.rows],
        ("changed", "What changed"): _changed(changed),
        ("drift", "The explanations themselves"): [*map(Sentence, changed.drift)],
        ("reading", "How to read this"): _reading(look),
    }
    leads = {"beside": _BESIDE}
    span = f" from {to_date(days[0])} to {to_date(days[-1])}" if len(days) else ""
    return page_of(
        Document(
            "faithscope monitor",
            f"{look.measure.capitalize()}, watched",
            headline(look),
            f"{look.limits[None].n:,} rows{span}.",
            datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
            [Section(key, name, name, blocks, leads.get(key, "")) for (key, name), blocks in told.items() if blocks],
            foot=[f"faithscope {version('faithscope')}"],
            alarmed=bool(look.alarms),
        )
    )


def headline(look: Look) -> str:
    """The sentence to quote."""
    limits, alarms = look.limits[None], [(name, alarm) for name, told in look.alarms.items() for alarm in told]
    if not limits.n:
        return "No rows were added yet."
    if not alarms:
        return f"No alarm. {limits}."
    name, alarm = alarms[0]
    others = len({group for group, _ in alarms if group is not None and group != name})
    more = f"; alarms in {others} group{'s' * (others != 1)} too" if others else ""
    return f"Alarm for {look.names[name]}: {alarm}{more}."


def reference_end(look: Look) -> str | None:
    """The last day of the reference; None without one."""
    return None if look.reference is None or look.origin is None else str(to_date(look.origin + look.reference - 1))


def _time(look: Look) -> list[Block]:
    if not look.limits[None].n:
        return [missing("No rows were added yet.")]
    marks = [
        ("dotted", "pairs of one day that agree"),
        ("banded", "limits of all rows so far, valid on all days together"),
        ("dashed", "interval for a single look"),
    ]
    if look.at_least is not None:
        marks += [("promised", f"promised: at least {look.at_least:g}")]
    if look.reference is not None:
        marks += [("reference", "reference period")]
    if look.alarms:
        marks += [("alarming", "alarm"), ("since", "limits since the change")]
    return [Key(marks), _chart(look, None, 300), Group([days_table(look)], fold="The last days as a table")]


def _alarms(look: Look) -> list[Block]:
    found = []
    for name, alarm in ((name, alarm) for name, told in look.alarms.items() for alarm in told):
        rises = alarm.direction == "rise"
        badge = f"{'↑' if rises else '↓'} {alarm.direction} since about {alarm.since}"
        found.append(Finding("partly" if rises else "unfaithful", look.names[name], badge, f"{alarm}."))
    end = reference_end(look)
    unchanged = f" Nothing shows that {look.measure} has changed since {end}." if end else ""
    return [Findings(found) if found else Sentence(f"No alarm.{unchanged}")]


def _groups(look: Look) -> list[Block]:
    if not look.groups:
        return []
    charts = [Group([_chart(look, name, 190)], title=look.names[name]) for name in look.groups]
    return [groups_table(look), Group(charts, "pair")]


def _changed(changed: Changes) -> list[Block]:
    rows = tuple(
        (
            each.text,
            each.labels,
            Cell(f"{each.rows[0]:,.0f} → {each.rows[1]:,.0f}", each.rows[1]),
            *map(number, each.agreement),
            Cell(f"{each.part:+.4f}", each.part),
        )
        for each in changed.explanations
    )
    columns = ("explanation", "predictions", "rows", "agreed", "agree now", "adds")
    return [
        *([Sentence(changed.sentence)] * bool(changed.sentence)),
        *([Table(columns, rows, 2, _CHANGED)] * bool(rows)),
    ]


def _reading(look: Look) -> list[Block]:
    measure, level = look.measure, f"{100 * look.confidence:g}%"
    words = {
        measure: _MEANING[measure],
        "limits, all looks": f"As long as nothing changes, {measure} lies within the band on all days together with "
        f"probability {level}. Look as often as you like. Rows that wait for a partner widen it.",
        "interval, single look": "Narrower, and right only for a day that was chosen beforehand: looked at every day, "
        "it misses the truth sooner or later.",
        "alarm": "A mean left the range of its reference. While nothing changes, the probability that there is ever an "
        f"alarm, on any day, for any group, is at most {round(100 * (1 - look.confidence), 6):g}%.",
    }
    facts = {"state": Path(look.where).name, "groups by": ", ".join(look.by)}
    if look.once is not None:
        facts |= {"explanations": f"{look.once.distinct:,}", "unverifiable rows": f"{look.once.unverifiable:.1%}"}
    notes = [*([] if look.reference else [_NO_REFERENCE]), *look.notes]
    told = Facts([(name, fact) for name, fact in facts.items() if fact])
    return [Facts(tuple(words.items()), "glossary"), *map(aside, notes), told]


def _chart(look: Look, name: Any, height: int) -> Chart:
    """All rows, or a group, over time: the agreement of each day's pairs, and what is known as of that day."""
    draws, told, error = look.draws[name], look.alarms.get(name, ()), (1 - look.confidence) * look.shares[name]
    days = [str(to_date(day)) for day in draws.days]
    value = [mean_share(np.minimum(*each)) for each in zip(draws.least, draws.most, strict=True)]  # of pairs alone
    ends = [column.tolist() for column in (*draws.limits(error), *draws.single_look(error))]
    points = [dict(zip(_POINT, point, strict=True)) for point in zip(days, value, *ends, strict=True)]
    alarms = [
        {"day": str(each.day), "text": each.direction, "since": str(each.since), "low": each.low, "high": each.high}
        for each in told
        if "beside" not in each.direction  # of another measure
    ]
    spec = over_time(points, alarms, look.at_least, reference_end(look), height, look.measure)
    known = "; ".join(dict.fromkeys(f"{alarm.direction} known on {alarm.day}" for alarm in told)) or "no alarm"
    spoken = f"{visible(look.names[name])}: no days yet."
    if points:
        spoken = (
            f"{visible(look.names[name])} from {days[0]} to {days[-1]}: {look.measure} between "
            f"{down(ends[0][-1])} and {up(ends[1][-1])} as of the last day; {known}."
        )
    return Chart(spec, spoken, spoken if name is None else "")
