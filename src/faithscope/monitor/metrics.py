"""Metrics of a monitor in the text format that Prometheus reads."""

import json
from collections.abc import Iterator
from typing import Any

from faithscope.monitor.limits import Limits
from faithscope.monitor.telling import Told

_HELP = {
    "low": "Lower limit of {measure}, valid at all looks together.",
    "high": "Upper limit of {measure}, valid at all looks together.",
    "rows": "Rows that count: all that were added, or one per cluster.",
    "pairs": "Pairs of {pairs}.",
    "waiting": "Rows that wait for a partner.",
    "alarms": "Alarms, false with the stated probability over all looks ever.",
    "unverifiable": "Share of rows whose explanation {silent}.",
    "beside": "Agreement of rows since the reference with its rows.",
    "beside_low": "Lower limit of it, valid at all looks together.",
    "beside_high": "Upper limit of it, valid at all looks together.",
    "beside_reference": "Agreement of the reference's own rows with its rows.",
    "last_day": "The latest day with rows, in seconds since 1970.",
}


_WORDS = {
    "consistency": {"pairs": "rows with the same explanation", "silent": "no other row has"},
    "sufficiency": {"pairs": "a row and another one in its scope", "silent": "covers no other row"},
}


def prometheus(told: Told) -> str:
    """One line per number, with the group as a label; all rows have none.

    Examples
    --------
    >>> import faithscope as fs
    >>> monitor = fs.Monitor()
    >>> added = monitor.add(["a", "a"], [1, 1], when="2026-03-01")
    >>> print(prometheus(Told.of(monitor)).splitlines()[-1])
    faithscope_monitor_last_day 1772323200
    """
    lines: list[str] = []
    for name, text in _HELP.items():
        if name in _BESIDE and not told.beside:
            continue
        full = f"faithscope_monitor_{name}"
        shown = text.format(measure=told.measure, **_WORDS[told.measure])
        lines += [f"# HELP {full} {shown}", f"# TYPE {full} gauge"]
        lines += [f"{full}{_label(told, group)} {value:.17g}" for group, value in _values(told, name)]
    return "\n".join(lines) + "\n"


def _values(told: Told, name: str) -> Iterator[tuple[Any, float]]:
    lines: dict[Any, Limits] = {None: told.limits, **told.groups}
    if name == "alarms":
        yield from ((group, len(told.alarms.get(group, ()))) for group in lines)
    elif name == "unverifiable":
        if told.single_look is not None:
            yield None, told.single_look.unverifiable
    elif name in _BESIDE:
        values = ((group, getattr(each, _BESIDE[name])) for group, each in told.beside.items())
        yield from ((group, value) for group, value in values if value is not None)
    elif name == "last_day":
        if told.last_day is not None:
            yield None, (told.last_day.toordinal() - 719_163) * 86_400
    else:
        yield from ((group, float(getattr(limits, _FIELDS.get(name, name)))) for group, limits in lines.items())


_FIELDS = {"rows": "n"}
_BESIDE = {"beside": "value", "beside_low": "low", "beside_high": "high", "beside_reference": "before"}


def _label(told: Told, group: Any) -> str:
    """The group as a label, whose text has quotes and backslashes escaped; names have no control characters."""
    return "" if group is None else f"{{group={json.dumps(told.names[group], ensure_ascii=False)}}}"
