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
HISTORY = RESULTS / "history.jsonl"
SCRIPTS = ("consistency", "sufficiency", "agreements", "explainers", "audit")
SHOWN = 6  # runs on the page

Run = dict[str, Any]  # script, date, commit, machine, lines


def run(script: str, measured: Run) -> bool:
    """Run a script and keep what it prints, and its ratios; whether all its bars were met."""
    with tempfile.TemporaryDirectory() as folder, (RESULTS / f"{script}.txt").open("w") as printed:
        numbers = Path(folder) / "numbers.json"
        printed.write(f"$ python benchmarks/{script}.py\n")
        asked = [sys.executable, "-u", f"benchmarks/{script}.py", "--json", str(numbers)]
        process = subprocess.Popen(asked, cwd=HERE.parent, stdout=subprocess.PIPE, text=True)
        for line in process.stdout or ():
            print(line, end="", flush=True)
            printed.write(line)
        met = process.wait() == 0
        if numbers.exists():
            told = json.loads(numbers.read_text())
            kept = ("what", "value", "unit", "at_least", "at_most", "met", "reached")
            lines = [{name: line.get(name) for name in kept} for line in told["lines"]]
            with HISTORY.open("a") as history:
                history.write(json.dumps(measured | {"script": script} | told | {"lines": lines}) + "\n")
    return met


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
        bars = {"≥": newest["at_least"], "≤": newest["at_most"]}
        bar = " ".join(f"{sign} {bar:g}" for sign, bar in bars.items() if bar is not None)
        yield f"| {job} | {bar} | {' | '.join(_cell(table.get(job)) for table in tables)} |"


def _by_job(measured: Run) -> dict[str, dict[str, Any]]:
    """The lines of a run by what they measure; those that begin with spaces belong to the line above."""
    table, above = {}, ""
    for line in measured["lines"]:
        what = line["what"]
        above = above if what.startswith(" ") else what
        table[f"{above}: {what.strip()}" if what.startswith(" ") else what] = line
    return table


def _cell(line: dict[str, Any] | None) -> str:
    if line is None:
        return ""
    value = f"{line['value']:,.2f} {line['unit']}"
    value = f"**{value}**" if line["met"] is False else value
    return value if line["reached"] is None else f"{value} ({line['reached']:.0%})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=SCRIPTS, help="run only this script; repeatable")
    parser.add_argument("--page", action="store_true", help="run nothing, only write the page")
    chosen = parser.parse_args()
    describe = ["git", "describe", "--always", "--dirty", "--exclude=*"]  # before results change the tree
    commit = subprocess.run(describe, cwd=HERE, stdout=subprocess.PIPE, text=True).stdout.strip()
    measured = {"date": str(datetime.date.today()), "commit": commit}
    missed = [script for script in (() if chosen.page else chosen.only or SCRIPTS) if not run(script, measured)]
    runs = [json.loads(line) for line in HISTORY.read_text().splitlines()] if HISTORY.exists() else []
    (RESULTS / "history.md").write_text("\n".join(page(runs)) + "\n")
    if missed:
        sys.exit(f"Bars were missed by {', '.join(missed)}.")


if __name__ == "__main__":
    main()
