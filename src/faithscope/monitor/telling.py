"""What a monitor tells at a look: one summary, read by its text, its card, its JSON and its metrics."""

import json
from dataclasses import asdict, dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from faithscope.explanations.base import several, told_apart
from faithscope.measures.estimate import Estimate
from faithscope.measures.telling import number
from faithscope.monitor.beside import Beside
from faithscope.monitor.history import DayLine
from faithscope.monitor.limits import Limits
from faithscope.monitor.moments import to_date
from faithscope.monitor.sequential import Alarm
from faithscope.rounding import down, up
from faithscope.sinks.card import Card, Sentence, Table
from faithscope.sinks.json_values import for_json
from faithscope.visible import visible

if TYPE_CHECKING:
    from faithscope.monitor.monitor import Monitor

_RECENT = 14  # days that a card lists


@dataclass(frozen=True)
class Told:
    """Limits of all rows and of groups, the estimate of a single look, alarms and days.

    Attributes
    ----------
    last_day : date or None
        The latest day with rows.
    days : list of DayLine
        Those that were asked for: each has an estimate of its own, which takes a while if there are many groups.
    beside : dict of Beside
        All rows (None) and groups beside the reference; empty if it was not settled.
    """

    limits: Limits
    single_look: Estimate | None
    groups: dict[Any, Limits]
    alarms: dict[Any, tuple[Alarm, ...]]
    last_day: date | None
    days: list[DayLine]
    notes: tuple[str, ...]
    beside: dict[Any, Beside]

    @classmethod
    def of(
        cls, monitor: "Monitor", reference: int | None = None, days: Literal["by group", "of all rows"] | None = None
    ) -> "Told":
        """What there is to tell now."""
        with monitor._store.transaction():  # one state
            history = monitor._history
            groups = monitor._limits(history)
            limits = groups.pop(None)
            single = monitor.single_look() if limits.n else None
            last = to_date(int(history.pairs.day.max())) if limits.n else None
            lines = [] if days is None else monitor._days(history, grouped=days == "by group")
            alarms, beside = monitor.alarms(reference), monitor._besides(history)
            return cls(limits, single, groups, alarms, last, lines, monitor.notes, beside)

    @cached_property
    def names(self) -> dict[Any, str]:
        """How all rows (None) and groups read, no two alike."""
        return {None: "all rows", **dict(zip(self.groups, told_apart(self.groups, "all rows"), strict=True))}

    def lines(self) -> list[str]:
        """Limits, then the single look, groups, alarms and notes, a line each."""
        if not self.limits.n:
            return ["no rows were added yet"]
        single = [] if self.single_look is None else [f"as if this were the only look: {self._single()}"]
        groups = ["limits of groups hold for all groups together:"] * bool(self.groups)
        groups += [f"{self.names[name]}: {limits}" for name, limits in self.groups.items()]
        beside = ["beside the reference, at all looks and for all groups together:"] * bool(self.beside)
        beside += [f"{name}: {told}" for name, told in self.beside_lines()]
        return [str(self.limits), *single, *groups, *beside, *self._alarms(), *map(visible, self.notes)]

    def beside_lines(self) -> list[tuple[str, Beside]]:
        """All rows and groups beside the reference, each under its name."""
        return [(self.names[name], told) for name, told in self.beside.items()]

    def _single(self) -> str:
        look = self.single_look
        assert look is not None
        return (
            f"{number(look.verified)}, between {down(look.low)} and {up(look.high)}; {look.unverifiable:.1%} of rows "
            f"unverifiable, {several(look.distinct, 'explanation', 'explanations')}"
        )

    def _alarms(self) -> list[str]:
        return [
            f"ALARM{'' if name is None else f' in {self.names[name]}'}: {alarm}"
            for name, alarms in self.alarms.items()
            for alarm in alarms
        ]

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        names = {name: for_json(name) for name in (None, *self.groups)}
        if len(set(map(json.dumps, names.values()))) < len(names):  # a date, and the same as text
            names = {**self.names, None: None}
        told = {
            "limits": self.limits.to_dict(),
            "single_look": None if self.single_look is None else self.single_look.to_dict(),
            "groups": [{"group": names[name], **limits.to_dict()} for name, limits in self.groups.items()],
            "alarms": [
                {"group": names[name], **asdict(alarm), "day": str(alarm.day), "since": str(alarm.since)}
                for name, alarms in self.alarms.items()
                for alarm in alarms
            ],
            "beside": [{"group": names[name], **told.to_dict()} for name, told in self.beside.items()],
            "days": [_day(line, names[line.group]) for line in self.days],
            "notes": list(self.notes),
        }
        return told if self.beside else {name: part for name, part in told.items() if name != "beside"}

    def card(self) -> Card:
        """Limits and alarms in sentences, groups and the last days in tables."""
        if not self.limits.n:
            return Card(self._title, (Sentence("No rows were added yet."),), (_days_table([], self.measure),))
        sentences = [Sentence(f"{_sentence(self.limits)}"), *map(Sentence, self._alarms())]
        tables = [self._limits_table()] if self.groups else []
        tables += [self._beside_table()] if self.beside else []
        recent = [line for line in self.days if line.group is None][-_RECENT:]
        return Card(self._title, tuple(sentences), (*tables, _days_table(recent, self.measure)), self.notes)

    def _limits_table(self) -> Table:
        rows = [
            (self.names[name], f"{each.n:,}", down(each.low), up(each.high), f"{each.pairs:,}", each.verdict)
            for name, each in self.groups.items()
        ]
        columns = ("group", "rows", "low", "high", "pairs", "verdict")
        return Table(columns, tuple(rows), caption="Limits of groups, valid at all looks and for all groups together.")

    def _beside_table(self) -> Table:
        rows = [
            (name, f"{each.checked:,}", number(each.value), down(each.low), up(each.high), number(each.before))
            for name, each in self.beside_lines()
        ]
        columns = ("group", "rows checked", "since", "low", "high", "in the reference")
        caption = "Agreement with rows of the reference; limits valid at all looks and for all groups together."
        return Table(columns, tuple(rows), caption=caption)

    @property
    def measure(self) -> str:
        """What is watched, in a word."""
        return self.limits.measure

    @property
    def _title(self) -> str:
        return f"{self.measure} over time"


def _sentence(limits: Limits) -> str:
    text = str(limits)
    return text[0].upper() + text[1:] + "."


def _days_table(days: list[DayLine], measure: str) -> Table:
    rows = [(str(day.day), f"{day.n:,}", f"{day.value:.3f}", f"{day.unverifiable / day.n:.1%}") for day in days]
    caption = "Each day by its own rows." if len(days) < _RECENT else f"The last {_RECENT} days, each by its own rows."
    return Table(("day", "rows", measure, "unverifiable"), tuple(rows), caption=caption)


def _day(line: DayLine, group: Any) -> dict[str, Any]:
    told = {"day": line.day.isoformat(), "n": line.n, "value": line.value, "low": line.low, "high": line.high}
    told |= {"unverifiable": line.unverifiable / line.n, "explanations": line.explanations, "parts": line.parts}
    told |= {} if line.beside is None else {"beside": line.beside}
    return told if line.group is None else {"in": group, **told}
