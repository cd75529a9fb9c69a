"""Measure all speeds in one run, keep the numbers, and write one page with their history.

    python benchmarks/history.py                      # half an hour on free cores: runs the scripts below
    python benchmarks/history.py --only consistency   # one of them; repeatable
    python benchmarks/history.py --page               # runs nothing, only writes the page

Every script prints into ``benchmarks/results/<script>.txt``; its ratios are added to ``history.jsonl`` there, one line
per run, and ``history.md`` shows the latest runs side by side. Exits 1 if a bar was missed.
"""

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
SCRIPTS = ("consistency", "sufficiency", "agreements", "explainers", "audit")
SHOWN = 6  # runs on the page

Run = dict[str, Any]  # script, date, commit, machine, lines


def run(script: str, kept: Path, measured: Run) -> bool:
    """Run a script and keep what it prints and measures; whether all its bars were met."""
    numbers, command = kept / f"{script}.json", [sys.executable, "-u", f"benchmarks/{script}.py"]
    with (RESULTS / f"{script}.txt").open("w") as printed:
        printed.write(f"$ python benchmarks/{script}.py\n")
        asked = [*command, "--json", str(numbers)]
        process = subprocess.Popen(asked, cwd=HERE.parent, stdout=subprocess.PIPE, text=True)
        for line in process.stdout or ():
            print(line, end="", flush=True)
            printed.write(line)
    met = process.wait() == 0
    if numbers.exists():
        remember(measured | {"script": script} | json.loads(numbers.read_text()))
    return met


def commit() -> str:
    """The commit that was measured."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(command, cwd=HERE, stdout=subprocess.PIPE, text=True).stdout.strip()


def remember(measured: Run) -> None:
    """Add a run to the history."""
    kept = ("what", "value", "unit", "at_least", "at_most", "met", "reached")
    lines = [{name: line.get(name) for name in kept} for line in measured["lines"]]
    with (RESULTS / "history.jsonl").open("a") as history:
        history.write(json.dumps(measured | {"lines": lines}) + "\n")


def remembered() -> list[Run]:
    """All runs, oldest first."""
    kept = RESULTS / "history.jsonl"
    return [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []


def page(runs: list[Run]) -> Iterator[str]:
    """The lines of the page."""
    yield "# Speed, run by run"
    yield ""
    yield "Ratios measured by `make bench`, each within one run on one machine, newest run first. The share is how much"
    yield "of the machine's limit is reached: the time to read the bytes once, to multiply as a plain matrix product"
    yield "does, or to ask the model, over ours. Numbers in bold missed their bar. Compare runs of one machine only."
    for script in dict.fromkeys(each["script"] for each in runs):
        yield from _section(script, [each for each in reversed(runs) if each["script"] == script][:SHOWN])


def _section(script: str, runs: list[Run]) -> Iterator[str]:
    yield ""
    yield f"## {script}"
    yield ""
    for each in runs:
        yield f"- {each['date']}, {each['commit']}: {each['machine']}"
    yield ""
    yield f"| job | bar | {' | '.join(each['commit'] for each in runs)} |"
    yield f"|---|---|{'---|' * len(runs)}"
    tables = [_by_job(each) for each in runs]
    for job in dict.fromkeys(job for table in tables for job in table):
        newest = next(table[job] for table in tables if job in table)
        cells = [_cell(table.get(job)) for table in tables]
        yield f"| {job} | {_bar(newest)} | {' | '.join(cells)} |"


def _by_job(measured: Run) -> dict[str, dict[str, Any]]:
    """The lines of a run by what they measure; those that begin with spaces belong to the line above."""
    table, above = {}, ""
    for line in measured["lines"]:
        what = line["what"]
        above = above if what.startswith(" ") else what
        table[f"{above}: {what.strip()}" if what.startswith(" ") else what] = line
    return table


def _bar(line: dict[str, Any]) -> str:
    bars = [
        f"{words} {line[name]:g}" for name, words in (("at_least", "≥"), ("at_most", "≤")) if line[name] is not None
    ]
    return " ".join(bars)


def _cell(line: dict[str, Any] | None) -> str:
    if line is None:
        return ""
    value = f"{line['value']:,.2f} {line['unit']}"
    value = f"**{value}**" if line["met"] is False else value
    return value if line["reached"] is None else f"{value} ({line['reached']:.0%})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=SCRIPTS, help="run only this script; repeatable")
    parser.add_argument("--page", action="store_true", help="run nothing, only write the page")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as kept:
        scripts = () if chosen.page else chosen.only or SCRIPTS
        measured = {"date": str(datetime.date.today()), "commit": commit()}  # before results change the tree
        missed = [script for script in scripts if not run(script, Path(kept), measured)]
    (RESULTS / "history.md").write_text("\n".join(page(remembered())) + "\n")
    if missed:
        sys.exit(f"Bars were missed by {', '.join(missed)}.")


if __name__ == "__main__":
    main()
