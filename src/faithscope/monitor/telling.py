"""What a monitor tells at a look: one summary, read by its text, its card, its JSON and its metrics."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from faithscope.explanations.base import readable, several
from faithscope.measures.estimate import Estimate
from faithscope.measures.sequential.change import Alarm
from faithscope.monitor.history import DayLine
from faithscope.monitor.limits import Limits
from faithscope.sinks.card import Card, Sentence, Table
from faithscope.visible import visible

if TYPE_CHECKING:
    from faithscope.monitor.monitor import Monitor

_RECENT = 14  # days that a card lists


@dataclass(frozen=True)
class Told:
    """Limits of all rows and of groups, the estimate of a single look, alarms and days."""

    limits: Limits
    single_look: Estimate | None
    groups: dict[Any, Limits]
    alarms: dict[Any, tuple[Alarm, ...]]
    days: list[DayLine]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, monitor: "Monitor", reference: int | None = None) -> "Told":
        """What there is to tell now."""
        with monitor._store.transaction():  # one state
            limits = monitor.limits()
            groups = {name: monitor.limits(name) for name in monitor.groups}
            single = monitor.single_look() if limits.n else None
            days = monitor._history.days(monitor.confidence)
            return cls(limits, single, groups, monitor.alarms(reference), days, monitor.notes)

    def lines(self) -> list[str]:
        """Limits, then the single look, groups, alarms and notes, a line each."""
        if not self.limits.n:
            return ["no rows were added yet"]
        single = [] if self.single_look is None else [f"as if this were the only look: {self._single()}"]
        groups = ["limits of groups hold for all groups together:"] * bool(self.groups)
        groups += [f"{visible(readable(name))}: {limits}" for name, limits in self.groups.items()]
        return [str(self.limits), *single, *groups, *self._alarms(), *map(visible, self.notes)]

    def _single(self) -> str:
        look = self.single_look
        assert look is not None
        return (
            f"{look.value:.3f}, between {look.low:.3f} and {look.high:.3f}; {look.unverifiable:.1%} of rows "
            f"unverifiable, {several(look.distinct, 'explanation', 'explanations')}"
        )

    def _alarms(self) -> list[str]:
        return [
            f"ALARM{'' if name is None else f' in {visible(readable(name))}'}: {alarm}"
            for name, alarms in self.alarms.items()
            for alarm in alarms
        ]

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        return {
            "limits": self.limits.to_dict(),
            "single_look": None if self.single_look is None else self.single_look.to_dict(),
            "groups": [{"group": _plain(name), **limits.to_dict()} for name, limits in self.groups.items()],
            "alarms": [
                {"group": _plain(name), **asdict(alarm), "day": str(alarm.day), "since": str(alarm.since)}
                for name, alarms in self.alarms.items()
                for alarm in alarms
            ],
            "days": [_day(line) for line in self.days],
            "notes": list(self.notes),
        }

    def card(self) -> Card:
        """Limits and alarms in sentences, groups and the last days in tables."""
        if not self.limits.n:
            return Card(self._title, (Sentence("No rows were added yet."),), (_days_table([], self.measure),))
        sentences = [Sentence(f"{_sentence(self.limits)}"), *map(Sentence, self._alarms())]
        tables = [_limits_table(self.groups)] if self.groups else []
        recent = [line for line in self.days if line.group is None][-_RECENT:]
        return Card(self._title, tuple(sentences), (*tables, _days_table(recent, self.measure)), self.notes)

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


def _limits_table(groups: dict[Any, Limits]) -> Table:
    rows = [
        (visible(readable(name)), f"{each.n:,}", f"{each.low:.3f}", f"{each.high:.3f}", f"{each.pairs:,}", each.verdict)
        for name, each in groups.items()
    ]
    columns = ("group", "rows", "low", "high", "pairs", "verdict")
    return Table(columns, tuple(rows), caption="Limits of groups, valid at all looks and for all groups together.")


def _days_table(days: list[DayLine], measure: str) -> Table:
    rows = [(str(day.day), f"{day.n:,}", f"{day.value:.3f}", f"{day.unverifiable / day.n:.1%}") for day in days]
    caption = "Each day by its own rows." if len(days) < _RECENT else f"The last {_RECENT} days, each by its own rows."
    return Table(("day", "rows", measure, "unverifiable"), tuple(rows), caption=caption)


def _day(line: DayLine) -> dict[str, Any]:
    told = {"day": line.day.isoformat(), "n": line.n, "value": line.value, "low": line.low, "high": line.high}
    told |= {"unverifiable": line.unverifiable / line.n, "explanations": line.explanations, "parts": line.parts}
    return told if line.group is None else {"in": _plain(line.group), **told}


def _plain(name: Any) -> Any:
    return list(name) if isinstance(name, tuple) else name
