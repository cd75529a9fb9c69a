"""Metrics of a monitor in the text format that Prometheus reads."""

import json
from typing import Any

from faithscope.monitor.look import Look

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


def prometheus(look: Look) -> str:
    """One line per number, with the group as a label; all rows have none.

    Examples
    --------
    >>> import faithscope as fs
    >>> monitor = fs.Monitor()
    >>> added = monitor.add(["a", "a"], [1, 1], when="2026-03-01")
    >>> with monitor._look() as look:
    ...     print(prometheus(look).splitlines()[-1])
    faithscope_monitor_last_day 1772323200
    """
    once, days = look.once, look.pairs.day
    values: dict[str, dict[Any, Any]] = {
        **{name: {group: getattr(each, field) for group, each in look.limits.items()} for name, field in _LIMITS},
        "alarms": {group: len(look.alarms.get(group, ())) for group in look.codes},
        "unverifiable": {None: None if once is None else once.unverifiable},
        **{name: {group: getattr(each, field) for group, each in look.beside.items()} for name, field in _BESIDE},
        "last_day": {None: int(days.max()) * 86_400 if len(days) else None},
    }
    lines: list[str] = []
    for name, each in values.items():
        if each:
            full, text = f"faithscope_monitor_{name}", _HELP[name].format(measure=look.measure, **_WORDS[look.measure])
            lines += [f"# HELP {full} {text}", f"# TYPE {full} gauge"]
            lines += [f"{full}{_label(look, group)} {value:.17g}" for group, value in each.items() if value is not None]
    return "\n".join(lines) + "\n"


_LIMITS = (("low", "low"), ("high", "high"), ("rows", "n"), ("pairs", "pairs"), ("waiting", "waiting"))
_BESIDE = (("beside", "value"), ("beside_low", "low"), ("beside_high", "high"), ("beside_reference", "before"))


def _label(look: Look, group: Any) -> str:
    """The group as a label, whose text has quotes and backslashes escaped; names have no control characters."""
    return "" if group is None else f"{{group={json.dumps(look.names[group], ensure_ascii=False)}}}"
