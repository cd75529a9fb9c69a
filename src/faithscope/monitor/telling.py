"""What a monitor tells at a look: as lines, as JSON, as a card, as a page, and for Prometheus."""

import json
from datetime import datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from faithscope.card import Card, Cell, Sentence, Table, for_json
from faithscope.charts.watch_specs import over_time
from faithscope.measures.telling import number
from faithscope.monitor.look import Look
from faithscope.monitor.moments import to_date
from faithscope.monitor.sequential import between, mean_share
from faithscope.report.document import Block, Chart, Document, Facts, Group, Key, Section, aside
from faithscope.report.offline_page import page_of
from faithscope.rounding import down, up
from faithscope.visible import visible
from faithscope.words import several

RECENT = 14  # days that are listed
_MARKS = (
    ("dotted", "pairs of one day that agree"),
    ("banded", "limits of all rows so far, valid on all days together"),
    ("promised", "what was promised, if anything was"),
    ("reference", "reference period, if there is one"),
    ("alarming", "alarm"),
    ("since", "limits since the change"),
)
_POINT = ("day", "value", "low", "high")
_READING = {
    "consistency": "The probability that two rows with the same explanation get the same prediction. Rows are paired "
    "at random with rows of the same explanation, whatever their predictions.",
    "limits, all looks": "As long as nothing changes, consistency lies within the band on all days together with the "
    "stated probability. Look as often as you like. Rows that wait for a partner widen it.",
    "alarm": "A mean left the range of its reference, or is below what was promised. While nothing changes, the "
    "probability that there is ever an alarm, on any day, for any group, is at most one minus the confidence.",
    "beside the reference": "Does a row get the prediction that rows of the reference with its explanation got? Rows "
    "since the reference, and rows of the reference itself that are no closers, against the same closers.",
    "what changed": "The state holds no explanations. An audit of later rows against earlier ones tells where they "
    "agree less: faithscope audit later.parquet --against earlier.parquet.",
}


def told_lines(look: Look) -> list[str]:
    """Limits, then the single look, groups, alarms and notes, a line each."""
    return [*_sentences(look), *map(visible, look.notes)]


def _sentences(look: Look) -> list[str]:
    limits, once = look.limits, look.once
    if once is None:
        return ["no rows were added yet"]
    single = (
        f"as if this were the only look: {number(once.verified)}, {between(once.low, once.high)}; "
        f"{once.unverifiable:.1%} of rows unverifiable, {several(once.distinct, 'explanation', 'explanations')}"
    )
    groups = ["limits of groups hold for all groups together:"] * bool(look.groups)
    groups += [f"{look.names[name]}: {limits[name]}" for name in look.groups]
    beside = ["beside the reference, at all looks and for all groups together:"] * bool(look.beside)
    beside += [f"{look.names[name]}: {told}" for name, told in look.beside.items()]
    return [str(limits[None]), single, *groups, *beside, *_alarms(look)]


def _alarms(look: Look) -> list[str]:
    return [
        f"ALARM{'' if name is None else f' in {look.names[name]}'}: {alarm}"
        for name, alarms in look.alarms.items()
        for alarm in alarms
    ]


def told_dict(look: Look) -> dict[str, Any]:
    """All numbers, ready for JSON."""
    beside = [{"group": for_json(name), **told.to_dict()} for name, told in look.beside.items()]
    return {
        "limits": look.limits[None].to_dict(),
        "single_look": None if look.once is None else look.once.to_dict(),
        "groups": [{"group": for_json(name), **look.limits[name].to_dict()} for name in look.groups],
        "alarms": [for_json({"group": name, **vars(alarm)}) for name, told in look.alarms.items() for alarm in told],
        **({"beside": beside} if beside else {}),
        "days": [
            {"in" if name == "group" else name: for_json(value) for name, value in line.items() if value is not None}
            for line in look.days()
        ],
        "notes": list(look.notes),
    }


def told_card(look: Look) -> Card:
    """Limits and alarms in sentences, and the last days, each by its own rows, in a table."""
    rows = tuple(
        (
            str(day["day"]),
            f"{day['n']:,}",
            number(day["value"]),
            Cell(down(day["low"]), day["low"]),
            Cell(up(day["high"]), day["high"]),
            f"{day['unverifiable']:.1%}",
        )
        for day in look.days(grouped=False)[: -RECENT - 1 : -1]
    )
    caption = f"The last {RECENT} days, each by its own rows, and as if it were the only look."
    table = Table(("day", "rows", "consistency", "low", "high", "unverifiable"), rows, caption=caption)
    return Card("consistency over time", tuple(map(Sentence, _sentences(look))), (table,), look.notes)


def page(look: Look) -> str:
    """A page that needs nothing else: a line over time with its band, alarms, and groups."""
    days, alarms, card = look.draws[None].days, _alarms(look), told_card(look)
    charts = [Group([_chart(look, name, 190)], title=look.names[name]) for name in look.groups]
    told: dict[str, list[Block]] = {
        "Over time": [Key(_MARKS), _chart(look, None, 300), Group(card.tables, fold="The last days as a table")],
        "Limits": [*card.sentences, Group(charts, "pair")],
        "How to read this": [Facts(tuple(_READING.items()), "glossary"), *map(aside, look.notes)],
    }
    span = f" from {to_date(days[0])} to {to_date(days[-1])}" if len(days) else ""
    return page_of(
        Document(
            "faithscope monitor",
            "Consistency, watched",
            " ".join(f"{alarm}." for alarm in alarms[:3]) or "No alarm.",
            f"{look.limits[None].n:,} rows{span}.",
            datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
            [Section(name.split()[0].lower(), name, name, blocks) for name, blocks in told.items()],
            foot=[f"faithscope {version('faithscope')}"],
            alarmed=bool(look.alarms),
        )
    )


def reference_end(look: Look) -> str | None:
    """The last day of the reference; None without one."""
    return None if look.reference is None or look.origin is None else str(to_date(look.origin + look.reference - 1))


def _chart(look: Look, name: Any, height: int) -> Chart:
    """All rows, or a group, over time: the agreement of each day's pairs, and what is known as of that day."""
    draws, told = look.draws[name], look.alarms.get(name, ())
    days = [str(to_date(day)) for day in draws.days]
    value = [mean_share(np.minimum(*each)) for each in zip(draws.least, draws.most, strict=True)]  # of pairs alone
    low, high = (end.tolist() for end in draws.limits((1 - look.confidence) * look.shares[name]))
    points = [dict(zip(_POINT, point, strict=True)) for point in zip(days, value, low, high, strict=True)]
    alarms = [
        {"day": str(each.day), "text": each.direction, "since": str(each.since), "low": each.low, "high": each.high}
        for each in told
        if "beside" not in each.direction  # of another measure
    ]
    spec = over_time(points, alarms, look.at_least, reference_end(look), height)
    known = "; ".join(dict.fromkeys(f"{alarm.direction} known on {alarm.day}" for alarm in told)) or "no alarm"
    about = ": no days yet."
    if points:
        about = f" from {days[0]} to {days[-1]}: consistency {between(low[-1], high[-1])} as of the last day; {known}."
    spoken = visible(look.names[name]) + about
    return Chart(spec, spoken, spoken if name is None else "")


_LIMITS = ("low", "high", "n", "pairs", "waiting")


def prometheus(look: Look) -> str:
    """Limits, rows and alarms of all rows and of every group, in the text format that Prometheus reads."""
    days = look.pairs["day"]
    values: dict[str, dict[Any, Any]] = {
        name: {group: getattr(each, name) for group, each in look.limits.items()} for name in _LIMITS
    }
    values |= {
        "rows": values.pop("n"),
        "alarms": {group: len(look.alarms.get(group, ())) for group in look.limits},
        "unverifiable": {None: None if look.once is None else look.once.unverifiable},
        "last_day": {None: int(days.max()) * 86_400 if len(days) else None},
    }
    lines: list[str] = []
    # Quotes and backslashes are escaped; names have no control characters.
    labels = {group: f"{{group={json.dumps(name, ensure_ascii=False)}}}" for group, name in look.names.items()}
    labels[None] = ""
    for name, each in values.items():
        full = f"faithscope_monitor_{name}"
        lines += [f"# TYPE {full} gauge"]
        lines += [f"{full}{labels[group]} {value:.17g}" for group, value in each.items() if value is not None]
    return "\n".join(lines) + "\n"
