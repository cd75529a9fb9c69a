"""A monitor with a planted drop in one group, for tests of its page."""

from functools import cache

import numpy as np
from numpy.random import default_rng

import faithscope as fs

HOSTILE = "</script><script>alert(1)</script> \u202e & <b>a long name of a group that goes on and on</b>"


@cache
def watched_monitor(days=90, drop=0.3):
    """All rows and three groups, of which one drops on day 60."""
    rng, monitor = default_rng(0), fs.Monitor(by="region", at_least=0.8, reference=30)
    names = np.array([f"{name} and {HOSTILE}" for name in range(20)])
    for month in range(days // 30):
        day, rows = np.repeat(np.arange(30 * month, 30 * month + 30), 600), 18_000
        leaf, group = rng.integers(0, 20, rows), rng.choice(["north", "south", HOSTILE], rows, p=[0.45, 0.45, 0.1])
        wrong = rng.random(rows) < 0.03 + drop * ((day >= 60) & (group == "south"))
        monitor.add(names[leaf], leaf % 2 ^ wrong, by=group, when=np.datetime64("2026-01-01") + day, batch=str(month))
    return monitor
