"""A monitor with a planted drop in one group, for tests of its page."""

import datetime
from functools import cache

import numpy as np

import faithscope as fs

HOSTILE = "</script><script>alert(1)</script> \u202e & <b>a long name of a group that goes on and on</b>"


@cache
def watched_monitor(days=90, drop=0.3):
    """All rows and three groups, of which one drops on day 60."""
    rng, monitor = np.random.default_rng(0), fs.Monitor(by="region", at_least=0.8, reference=30)
    names = np.array([f"{name} and {HOSTILE}" for name in range(20)])
    for day in range(days):
        leaf, group = rng.integers(0, 20, 600), rng.choice(["north", "south", HOSTILE], 600, p=[0.45, 0.45, 0.1])
        wrong = rng.random(600) < 0.03 + drop * ((day >= 60) & (group == "south"))
        when = datetime.date(2026, 1, 1) + datetime.timedelta(days=day)
        monitor.add(names[leaf], leaf % 2 ^ wrong, by=group, when=when, batch=str(day))
    return monitor
