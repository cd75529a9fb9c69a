"""What a monitor tells at a look: as lines, as JSON, as tables of a card and of a page, and for Prometheus."""

import json
from typing import Any

from faithscope.explanations.base import several
from faithscope.measures.telling import number
from faithscope.monitor.look import Look
from faithscope.rounding import down, up
from faithscope.sinks.card import Card, Cell, Sentence, Table, for_json
from faithscope.visible import visible

RECENT = 14  # days that are listed


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


def told_dict(look: Look) -> dict[str, Any]:
    """All numbers, ready for JSON."""
    names = {name: for_json(name) for name in look.codes}
    if len(set(map(json.dumps, names.values()))) < len(names):  # a date, and the same as text
        names = {**look.names, None: None}
    days = []
    for line in look.days():
        group = names[line.pop("group")]
        told = {} if group is None else {"in": group}
        days.append({name: for_json(value) for name, value in (told | line).items() if value is not None})
    beside = [{"group": names[name], **told.to_dict()} for name, told in look.beside.items()]
    return {
        "limits": look.limits[None].to_dict(),
        "single_look": None if look.once is None else look.once.to_dict(),
        "groups": [{"group": names[name], **look.limits[name].to_dict()} for name in look.groups],
        "alarms": [
            {"group": names[name], **for_json(vars(alarm))} for name, told in look.alarms.items() for alarm in told
        ],
        **({"beside": beside} if beside else {}),
        "days": days,
        "notes": list(look.notes),
    }


def told_card(look: Look) -> Card:
    """Limits and alarms in sentences, groups and the last days in tables."""
    title, limits = f"{look.measure} over time", str(look.limits[None])
    if not look.limits[None].n:
        return Card(title, (Sentence("No rows were added yet."),), (days_table(look),))
    tables = (groups_table(look), beside_table(look), days_table(look))
    sentences = (f"{limits[0].upper()}{limits[1:]}.", *_alarms(look))
    return Card(title, tuple(map(Sentence, sentences)), tuple(table for table in tables if table.rows), look.notes)


def groups_table(look: Look) -> Table:
    """Limits and alarms of groups."""
    rows = []
    for name in look.groups:
        limits, alarms = look.limits[name], look.alarms.get(name, ())
        told = "; ".join(dict.fromkeys(f"{alarm.direction} since {alarm.since}" for alarm in alarms)) or "none"
        numbers = (Cell(f"{limits.n:,}", limits.n), Cell(f"{limits.pairs:,}", limits.pairs))
        rows.append((look.names[name], told, *numbers, *_ends(limits.low, limits.high), limits.verdict))
    caption = "Limits of groups, valid at all looks and for all groups together."
    return Table(("group", "alarm", "rows", "pairs", "low", "high", "verdict"), tuple(rows), 2, caption=caption)


def beside_table(look: Look) -> Table:
    """Rows since the reference beside those of the reference."""
    rows = tuple(
        (
            look.names[name],
            Cell(f"{told.checked:,} of {told.n:,}", told.checked),
            number(told.value),
            *_ends(told.low, told.high),
            number(told.before),
        )
        for name, told in look.beside.items()
    )
    columns = ("group", "rows checked", "since", "low", "high", "in the reference")
    caption = "Agreement with rows of the reference; limits valid at all looks and for all groups together."
    return Table(columns, rows, caption=caption)


def days_table(look: Look) -> Table:
    """The last days, each by its own rows."""
    rows = tuple(
        (
            str(day["day"]),
            f"{day['n']:,}",
            number(day["value"]),
            *_ends(day["low"], day["high"]),
            f"{day['unverifiable']:.1%}",
        )
        for day in look.days(grouped=False)[: -RECENT - 1 : -1]
    )
    caption = f"The last {RECENT} days, each by its own rows, and as if it were the only look."
    return Table(("day", "rows", look.measure, "low", "high", "unverifiable"), rows, caption=caption)


def _ends(low: float, high: float) -> tuple[Cell, Cell]:
    return Cell(down(low), low), Cell(up(high), high)


_HELP = {
    "low": "Lower limit of {measure}, valid at all looks together.",
    "high": "Upper limit of {measure}, valid at all looks together.",
    "rows": "Rows that count: all that were added, or one per cluster.",
    "pairs": "Pairs of an opener and a row that its explanation covers.",
    "waiting": "Rows that wait for a partner.",
    "alarms": "Alarms, false with the stated probability over all looks ever.",
    "unverifiable": "Share of rows whose explanation covers no other row.",
    "beside": "Agreement of rows since the reference with its rows.",
    "beside_low": "Lower limit of it, valid at all looks together.",
    "beside_high": "Upper limit of it, valid at all looks together.",
    "beside_reference": "Agreement of the reference's own rows with its rows.",
    "last_day": "The latest day with rows, in seconds since 1970.",
}
_LIMITS = {"low": "low", "high": "high", "rows": "n", "pairs": "pairs", "waiting": "waiting"}
_BESIDE = {"beside": "value", "beside_low": "low", "beside_high": "high", "beside_reference": "before"}


def prometheus(look: Look) -> str:
    """Limits, rows and alarms of all rows and of every group, in the text format that Prometheus reads."""
    days = look.pairs["day"]
    values: dict[str, dict[Any, Any]] = {
        name: {group: getattr(each, field) for group, each in told.items()}
        for told, fields in ((look.limits, _LIMITS), (look.beside, _BESIDE))
        for name, field in fields.items()
    }
    values |= {
        "alarms": {group: len(look.alarms.get(group, ())) for group in look.limits},
        "unverifiable": {None: None if look.once is None else look.once.unverifiable},
        "last_day": {None: int(days.max()) * 86_400 if len(days) else None},
    }
    lines: list[str] = []
    for name, each in values.items():
        if each:
            full = f"faithscope_monitor_{name}"
            lines += [f"# HELP {full} {_HELP[name].format(measure=look.measure)}", f"# TYPE {full} gauge"]
            lines += [f"{full}{_label(look, group)} {value:.17g}" for group, value in each.items() if value is not None]
    return "\n".join(lines) + "\n"


def _label(look: Look, group: Any) -> str:
    """The group as a label, whose text has quotes and backslashes escaped; names have no control characters."""
    return "" if group is None else f"{{group={json.dumps(look.names[group], ensure_ascii=False)}}}"
