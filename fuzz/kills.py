"""Kill ``faithscope monitor add`` and ``faithscope audit`` at random moments: nothing is lost, nothing counts twice.

``python fuzz/kills.py`` begins each of them 50 times, which takes some minutes; another number may stand behind it. A
run is killed after a random part of 1.2 times what it takes by itself. A day is added again and again until its command
has ended by itself; after every run the state holds whole days, each once, and in the end it says what all rows
together say. After every audit the log is as it was, and the report is a whole one.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from numpy.random import default_rng

import faithscope as fs

ROWS = 20_000
COLUMNS = "--prediction label --explanation leaf --kind keys"


def day(number: int) -> pd.DataFrame:
    """The rows of one day."""
    rng = default_rng(number)
    leaf = rng.zipf(1.5, ROWS) % 500
    return pd.DataFrame({"leaf": leaf, "label": leaf % 2 ^ (rng.random(ROWS) < 0.2)})


def killed(words: str, after: float | None = None) -> bool:
    """Whether a command was still at work after so many seconds, and was killed."""
    try:
        subprocess.run(
            [sys.executable, "-m", "faithscope", *words.split()], capture_output=True, check=True, timeout=after
        )
    except subprocess.TimeoutExpired:
        return True
    return False


def moments(runs: int, words: str) -> list[float]:
    """Random moments of a command, which is run once to see how long it takes."""
    begun = time.monotonic()
    killed(words)
    return default_rng(runs).uniform(0, 1.2 * (time.monotonic() - begun), runs).tolist()


def additions(folder: Path, runs: int) -> str:
    """Days that are added one after the other."""
    state, log, number, cut = folder / "state.duckdb", folder / "log.parquet", 0, 0

    def words(state: Path) -> str:
        day(number).to_parquet(log)
        when = pd.Timestamp("2026-01-01") + pd.Timedelta(days=number)
        return f"monitor add {log} --state {state} {COLUMNS} --by-time {when.date()} --batch {number}"

    for moment in moments(runs, words(folder / "once.duckdb")):
        again = killed(words(state), moment)
        held = fs.Monitor(state).table()["n"].tolist() if state.exists() else []
        if held not in ([ROWS] * number, [ROWS] * (number + 1)):
            raise AssertionError(f"{number} days were added, and the state holds {held}")
        cut, number = cut + again, number + (not again)
    killed(words(state))
    look, rows = fs.Monitor(state).single_look(), pd.concat(map(day, range(number + 1)))
    whole = fs.consistency(rows["leaf"].to_numpy(), rows["label"].to_numpy())
    if look.n != whole.n or abs(look.value - whole.value) > 1e-12:
        raise AssertionError(f"the state says {look}, and all rows say {whole}")
    return f"monitor add: {cut} of {runs} runs killed at work; all {look.n:,} rows are counted once"


def audits(folder: Path, runs: int) -> str:
    """Audits of one log."""
    log, report, cut = folder / "log.parquet", folder / "report.html", 0
    pd.concat(map(day, range(8))).to_parquet(log)
    words, before = f"audit {log} {COLUMNS} --report {report}", log.read_bytes()
    for moment in moments(runs, words):
        cut += killed(words, moment)
        if log.read_bytes() != before or not report.read_bytes().rstrip().endswith(b"</html>"):
            raise AssertionError("the log was changed, or half of a report was written")
    return f"audit: {cut} of {runs} runs killed at work; the log is as it was, and every report was whole"


if __name__ == "__main__":
    for part in (additions, audits):
        with tempfile.TemporaryDirectory() as name:
            print(part(Path(name), int(sys.argv[1]) if sys.argv[1:] else 50), flush=True)
