"""What tests cost: ``pytest -p costs --costs FILE`` writes seconds of processor and of clock per test file.

Time of the processor hardly depends on what else the machine does, and includes children that were waited for.
"""

import json
import resource
import time
from collections import defaultdict
from pathlib import Path

import pytest


def pytest_addoption(parser):
    parser.addoption("--costs", type=Path, help="the file in which to write what each test file costs")


def spent():
    """Seconds of the processor so far, of this process and of its children, and seconds of the clock."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime, time.perf_counter()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    before = spent()
    answer = yield
    seconds = [now - then for now, then in zip(spent(), before, strict=True)]
    path = item.config.getoption("costs")
    worker = getattr(item.config, "workerinput", {}).get("workerid", "main")
    if path:
        with path.with_suffix(f".{worker}").open("a") as file:
            file.write(json.dumps([item.nodeid, *seconds]) + "\n")
    return answer


def pytest_unconfigure(config):
    """Add up what the workers wrote, the dearest file first, with its dearest test."""
    path = config.getoption("costs")
    if not path or hasattr(config, "workerinput"):
        return
    files = defaultdict(list)
    for part in path.parent.glob(f"{path.stem}.[gm]*"):  # of workers, or of the main process
        for test, cpu, clock in map(json.loads, part.read_text().splitlines()):
            files[test.partition("::")[0]].append((cpu, clock, test.partition("::")[2]))
        part.unlink()
    lines = ["processor     clock  tests  file, and its dearest test"]
    for file, tests in sorted(files.items(), key=lambda each: -sum(cpu for cpu, *_ in each[1])):
        cpu, clock = (sum(each[place] for each in tests) for place in (0, 1))
        most, _, dearest = max(tests)
        lines.append(f"{cpu:9.1f} {clock:9.1f} {len(tests):6} {file} ({most:.1f} s: {dearest[:80]})")
    path.write_text("\n".join(lines) + "\n")
