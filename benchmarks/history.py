"""Measure all speeds in one run, keep the numbers, and write one page with their history.

    python benchmarks/history.py                      # half an hour on free cores: runs the scripts below
    python benchmarks/history.py --only consistency   # one of them; repeatable
    python benchmarks/history.py --page               # runs nothing, only writes the page

Every script prints into ``benchmarks/results/<script>.txt``; its ratios are added to ``history.jsonl`` there, one line
per run, and ``history.md`` shows the latest runs side by side. Exits 1 if a bar was missed.
"""

import json
import subprocess
import sys

from ratios import HERE, HISTORY, RESULTS, options

SCRIPTS = ("consistency", "sufficiency", "explainers", "audit")
SHOWN = 6  # runs on the page


def page(runs):
    """The lines of the page."""
    yield "# Speed, run by run\n"
    yield "Ratios measured by `make bench`, each within one run on one machine, newest run first. The share is how much"
    yield "of the machine's limit is reached: the time to read the bytes once, to multiply as a plain matrix product"
    yield "does, or to ask the model, over ours. Numbers in bold missed their bar. Compare runs of one machine only."
    for script in dict.fromkeys(each["script"] for each in runs):
        yield from _section(script, [each for each in reversed(runs) if each["script"] == script][:SHOWN])


def _section(script, runs):
    yield f"\n## {script}\n"
    for each in runs:
        yield f"- {each['date']}, {each['commit']}: {each['machine']}"
    yield f"\n| job | bar | {' | '.join(each['commit'] for each in runs)} |"
    yield f"|---|---|{'---|' * len(runs)}"
    tables = [_by_job(each) for each in runs]
    for job in dict.fromkeys(job for table in tables for job in table):
        newest = next(table[job] for table in tables if job in table)
        bars = {"≥": newest["at_least"], "≤": newest["at_most"]}
        bar = " ".join(f"{sign} {bar:g}" for sign, bar in bars.items() if bar is not None)
        yield f"| {job} | {bar} | {' | '.join(_cell(table[job]) if job in table else '' for table in tables)} |"


def _by_job(measured):
    """The lines of a run by what they measure; those that begin with spaces belong to the line above."""
    table, above = {}, ""
    for line in measured["lines"]:
        what = line["what"]
        above = above if what.startswith(" ") else what
        table[f"{above}: {what.strip()}" if what.startswith(" ") else what] = line
    return table


def _cell(line):
    value = f"{line['value']:,.2f} {line['unit']}"
    value = f"**{value}**" if line["met"] is False else value
    return value if line["reached"] is None else f"{value} ({line['reached']:.0%})"


if __name__ == "__main__":
    chosen = options(__doc__, only=[], page=False)
    describe = ["git", "describe", "--always", "--dirty", "--exclude=*"]  # before results change the tree
    commit = subprocess.check_output(describe, cwd=HERE, text=True).strip()
    missed = []
    for script in () if chosen.page else chosen.only or SCRIPTS:
        asked = [sys.executable, f"benchmarks/{script}.py", "--keep", commit]
        missed += [script] if subprocess.run(asked, cwd=HERE.parent).returncode else []
    runs = [json.loads(line) for line in HISTORY.read_text().splitlines()]
    (RESULTS / "history.md").write_text("\n".join(page(runs)) + "\n")
    if missed:
        sys.exit(f"Bars were missed by {', '.join(missed)}.")
