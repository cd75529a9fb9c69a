"""Run the tests of hostile input and of faults, and print what was tried and how it ended as two tables.

``python fuzz/tally.py`` prints them; with ``--write`` they are also kept in benchmarks/results. A third table is of
engines, types and extremes; ``python fuzz/tally.py engines`` makes that one alone. Three times as many examples are
tried as in ``make test-all``, unless FAITHSCOPE_FUZZ_EXAMPLES says otherwise.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def grid(names: Sequence[str], rows: Iterable[Sequence[object]], *, right: bool = True) -> str:
    """A Markdown table; numbers on the right."""
    head = [f"| {' | '.join(names)} |", "|---|" + ("---:|" if right else "---|") * (len(names) - 1)]
    told = [f"{cell:,}" if isinstance(cell, int) else str(cell) for row in rows for cell in row]
    lines = [f"| {' | '.join(told[start : start + len(names)])} |" for start in range(0, len(told), len(names))]
    return "\n".join([*head, *lines]) + "\n"


def inputs(tried: Counter[tuple[str, str, str]]) -> str:
    """Bad inputs tried, family by family."""
    rows = []
    for family in [*dict.fromkeys(family for family, _, _ in tried), "all"]:
        chosen = {key: times for key, times in tried.items() if family in (key[0], "all")}
        ended = [sum(n for (_, _, how), n in chosen.items() if how == ending) for ending in _ENDS]
        rows.append((family, len({(key[0], key[1]) for key in chosen}), sum(ended), *ended))
    return grid(("what was called", "functions", "inputs tried", "answered", "refused in one sentence", _ENDS[2]), rows)


_ENDS = ("answered", "refused", "anything else")


def faults(injected: Counter[tuple[str, str]], failed: int) -> str:
    """Faults injected, kind by kind."""
    rows = [(fault, times, times) for (fault, _), times in injected.items()]
    total = sum(times for _, times, _ in rows)
    return grid(("fault", "injected", "nothing lost"), [*rows, ("all", total + failed, total)])


def engines(tried: Mapping[tuple[str, str, str], Mapping[str, bool]]) -> str:
    """What each engine answered about columns of each type and extreme, and in which parts it refused them."""
    names = list(dict.fromkeys(engine for _, _, engine in tried))
    rows = [
        (kind, extreme, *(_parts(tried.get((kind, extreme, engine))) for engine in names))
        for kind, extreme in dict.fromkeys((kind, extreme) for kind, extreme, _ in tried)
    ]
    return grid(("type", "extreme", *names), rows, right=False)


def _parts(answered: Mapping[str, bool] | None) -> str:
    if answered is None:
        return ""
    refused = [part for part, good in answered.items() if not good]
    return "answered" if not refused else f"refused as {', '.join(refused)}"


class Failures:
    """A plugin of pytest's that counts what failed and what could not be tried."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.skipped: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One test has ended."""
        if report.failed:
            self.failed.append(report.nodeid)
        if report.skipped:
            self.skipped.append(f"{report.nodeid}: {report.longrepr[2] if report.longrepr else ''}")  # type: ignore[index]


def main() -> int:
    """Run everything, or the engines alone, and tell how it ended."""
    watch, alone = Failures(), "engines" in sys.argv
    tests = ["fuzz/test_engine_types.py"] if alone else ["fuzz", "faults"]
    os.environ.setdefault("FAITHSCOPE_FUZZ_EXAMPLES", "3")
    where = [str(ROOT / "tests" / name) for name in tests]
    status = pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT), *where], plugins=[watch])
    outcomes = sys.modules["fuzz.outcomes"]
    lost = sum("faults" in name for name in watch.failed)
    tables = {"engine_types.txt": engines(outcomes.ENGINES)}
    if not alone:
        tables["robustness.txt"] = f"{inputs(outcomes.TRIED)}\n{faults(outcomes.INJECTED, lost)}"
    for name, table in tables.items():
        told = table + "".join(f"Not tried here: {each}\n" for each in watch.skipped)
        print(told)
        if "--write" in sys.argv and status == 0:
            (RESULTS / name).write_text(told, encoding="utf-8")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
