"""What a monitor tells at a look: as lines, as JSON, and as a card."""

import json
from dataclasses import asdict
from typing import Any

from faithscope.explanations.base import several
from faithscope.measures.telling import number
from faithscope.monitor.look import DayLine, Look
from faithscope.rounding import down, up
from faithscope.sinks.card import Card, Sentence, Table
from faithscope.sinks.json_values import for_json
from faithscope.visible import visible

_RECENT = 14  # days that a card lists


def told_lines(look: Look) -> list[str]:
    """Limits, then the single look, groups, alarms and notes, a line each."""
    limits, once = look.limits, look.once
    if once is None:
        return ["no rows were added yet"]
    single = (
        f"as if this were the only look: {number(once.verified)}, between {down(once.low)} and {up(once.high)}; "
        f"{once.unverifiable:.1%} of rows unverifiable, {several(once.distinct, 'explanation', 'explanations')}"
    )
    groups = ["limits of groups hold for all groups together:"] * bool(look.groups)
    groups += [f"{look.names[name]}: {limits[name]}" for name in look.groups]
    beside = ["beside the reference, at all looks and for all groups together:"] * bool(look.beside)
    beside += [f"{look.names[name]}: {told}" for name, told in look.beside.items()]
    return [str(limits[None]), single, *groups, *beside, *_alarms(look), *map(visible, look.notes)]


def _alarms(look: Look) -> list[str]:
    return [
        f"ALARM{'' if name is None else f' in {look.names[name]}'}: {alarm}"
        for name, alarms in look.alarms.items()
        for alarm in alarms
    ]


def told_dict(look: Look, days: list[DayLine]) -> dict[str, Any]:
    """All numbers, ready for JSON, with these days."""
    names = {name: for_json(name) for name in look.codes}
    if len(set(map(json.dumps, names.values()))) < len(names):  # a date, and the same as text
        names = {**look.names, None: None}
    once = look.once
    beside = [{"group": names[name], **told.to_dict()} for name, told in look.beside.items()]
    return {
        "limits": look.limits[None].to_dict(),
        "single_look": None if once is None else once.to_dict(),
        "groups": [{"group": names[name], **look.limits[name].to_dict()} for name in look.groups],
        "alarms": [
            {"group": names[name], **asdict(alarm), "day": str(alarm.day), "since": str(alarm.since)}
            for name, alarms in look.alarms.items()
            for alarm in alarms
        ],
        **({"beside": beside} if beside else {}),
        "days": [_day(line, names[line.group]) for line in days],
        "notes": list(look.notes),
    }


def _day(line: DayLine, group: Any) -> dict[str, Any]:
    told = {"day": line.day.isoformat(), "n": line.n, "value": line.value, "low": line.low, "high": line.high}
    told |= {"unverifiable": line.unverifiable / line.n, "explanations": line.explanations, "parts": line.parts}
    told |= {} if line.beside is None else {"beside": line.beside}
    return told if line.group is None else {"in": group, **told}


def told_card(look: Look) -> Card:
    """Limits and alarms in sentences, groups and the last days in tables."""
    limits, days = look.limits[None], look.days(grouped=False)[-_RECENT:]
    caption = "Each day by its own rows." if len(days) < _RECENT else f"The last {_RECENT} days, each by its own rows."
    lines = [(str(day.day), f"{day.n:,}", f"{day.value:.3f}", f"{day.unverifiable / day.n:.1%}") for day in days]
    tables = [Table(("day", "rows", look.measure, "unverifiable"), tuple(lines), caption=caption)]
    title, text = f"{look.measure} over time", str(limits)
    if not limits.n:
        return Card(title, (Sentence("No rows were added yet."),), tuple(tables))
    if look.beside:
        checked = [
            (name, f"{each.checked:,}", number(each.value), down(each.low), up(each.high), number(each.before))
            for name, each in ((look.names[name], each) for name, each in look.beside.items())
        ]
        columns = ("group", "rows checked", "since", "low", "high", "in the reference")
        caption = "Agreement with rows of the reference; limits valid at all looks and for all groups together."
        tables.insert(0, Table(columns, tuple(checked), caption=caption))
    if look.groups:
        each_limits = [(look.names[name], look.limits[name]) for name in look.groups]
        rows = [
            (name, f"{each.n:,}", down(each.low), up(each.high), f"{each.pairs:,}", each.verdict)
            for name, each in each_limits
        ]
        caption = "Limits of groups, valid at all looks and for all groups together."
        tables.insert(0, Table(("group", "rows", "low", "high", "pairs", "verdict"), tuple(rows), caption=caption))
    sentences = (f"{text[0].upper()}{text[1:]}.", *_alarms(look))
    return Card(title, tuple(map(Sentence, sentences)), tuple(tables), look.notes)
