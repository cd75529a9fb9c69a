"""A monitor's record with a planted drop in one group, for tests of its page."""

from types import SimpleNamespace

import numpy as np

from faithscope.monitor.limits import all_alarms
from faithscope.monitor.periods import ChangedExplanation
from faithscope.monitor.sequential import DailyDraws
from faithscope.monitor.watching import WatchedLine

HOSTILE = "</script><script>alert(1)</script> \u202e & <b>a long name of a group that goes on and on</b>"


def watched_record(days=90, drop=0.12):
    """All rows and three groups, of which one drops on day 60."""
    rng, dates = np.random.default_rng(0), np.datetime64("2026-01-01") + np.arange(days)

    def line(fallen, pairs):
        agreeing = rng.binomial(pairs, np.where(np.arange(days) < 60, 0.95, 0.95 - fallen))
        waiting = rng.binomial(pairs, 0.01, days)
        return DailyDraws.of_pairs(dates, np.full(days, pairs), pairs - waiting, np.maximum(agreeing - waiting, 0))

    groups = {"north": line(0, 120), "south": line(drop, 120), HOSTILE: line(0, 20)}
    parts = [[getattr(draws, name) for draws in groups.values()] for name in ("draws", "least", "most")]
    lines = {None: DailyDraws(dates, *(np.sum(part, axis=0) for part in parts)), **groups}
    alarms = all_alarms(lines, dict.fromkeys(groups, 1 / 3), None, 30, 0.05)
    return SimpleNamespace(
        title="Decisions, watched",
        headline="Consistency dropped in south.",
        measure="consistency",
        confidence=0.95,
        beside=[],
        lines=tuple(
            WatchedLine.of(name or "all rows", draws, 0.05, alarms.get(name, ())) for name, draws in lines.items()
        ),
        rows=days * 1000,
        at_least=0.9,
        reference_end=str(dates[min(29, days - 1)]) if days else None,
        changed=("Agreement fell by 0.041 within explanations.",),
        explanations=(ChangedExplanation(HOSTILE, (2040, 1980), (0.981, 0.712), -0.021, 1e-9, "deny: 20 → 340"),),
        features=(("age", -0.031), (HOSTILE, 0.001)),
        drift=("The explanations themselves do not drift.",),
        notes=("Rows that arrive late count to their day.",),
        facts={"store": "state.duckdb"},
    )
