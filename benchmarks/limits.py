"""How large an input may be: seconds and memory as rows, features, labels, rules or words grow.

    nice -n 19 python benchmarks/limits.py                      # an hour; every case grows until a minute or the budget
    nice -n 19 python benchmarks/limits.py --seconds 30 --gib 14
    python benchmarks/limits.py --only within --only labels     # the cases whose name holds one of these
    python benchmarks/limits.py --refused                       # what is said where something cannot fit

`seconds` are of processor time, of all threads together, so that another job on the machine does not count; where both
cores are used, the clock shows as little as half. Every size runs in a process of its own, whose memory is looked at
while it runs: one that outgrows the budget is ended. `peak` is the most that the process held, less what it held after
its imports; the input itself is included, since whoever measures has to hold it too. `bytes` is that for each of what
grows. A case grows fourfold, then twofold, until the next size is expected to take more than the time or the budget.
The last two sizes give an exponent each for time and for memory, taken as 1 at least (2 where a table of all pairs is
made), from which the largest size in a minute and the largest in 24 GiB follow; `same` stands where memory does not
grow.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from limits_cases import CASES, REFUSED
from ratios import describe_machine, peak_bytes

GIB = 2**30
MACHINE = 24 * GIB  # what sizes are extrapolated to
PATIENCE = 6  # times the limit that a process may take, making its input included


@dataclass(frozen=True)
class Run:
    """What one size took."""

    size: int
    seconds: float
    peak: int  # bytes beyond imports
    note: str = ""


def main() -> None:
    chosen = parse()
    if chosen.case is not None:
        print(json.dumps(measure(chosen.case, chosen.size)))
        return
    print(describe_machine(("faithscope", "numpy", "scipy", "sklearn", "duckdb")))
    if chosen.refused:
        refusals()
        return
    budget = int(GIB * chosen.gib) if chosen.gib else int(0.75 * available())
    print(f"at most {chosen.seconds:g} s and {budget / GIB:.0f} GiB a size; sizes beyond are extrapolated\n")
    print(HEAD)
    names = [name for name in CASES if not chosen.only or any(part in name for part in chosen.only)]
    for name in names:
        print(line(name, list(grow(name, chosen.seconds, budget))), flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="that one size may take")
    parser.add_argument("--gib", type=float, help="of memory that one size may take; by default 75%% of what is left")
    parser.add_argument("--only", action="append", help="cases whose name holds this; repeatable")
    parser.add_argument("--refused", action="store_true", help="show what is said where something cannot fit")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def measure(name: str, size: int) -> dict[str, object]:
    """Seconds and memory of one size, in this process."""
    held = peak_bytes()
    work = CASES[name].prepare(size)
    begun = time.process_time()
    note = work()
    seconds = time.process_time() - begun
    return {"seconds": seconds, "peak": peak_bytes() - held, "note": note if isinstance(note, str) else ""}


def grow(name: str, seconds: float, budget: int) -> Iterator[Run]:
    """Larger and larger sizes, as long as the next one is expected to fit."""
    size, before, steps = CASES[name].start, None, [4.0, 2.0]
    while steps and size <= CASES[name].most:
        run = in_process(name, size, seconds, budget)
        if run is None:
            return
        yield run
        grown = (1.0, 1.0) if before is None else exponents(before, run)
        fits = [step for step in steps if expected(run, grown, step, seconds, budget)]
        if not fits:
            return
        before, steps = run, [step for step in steps if step <= fits[0]]
        size = int(size * fits[0])


def expected(run: Run, grown: tuple[float, float], step: float, seconds: float, budget: int) -> bool:
    """Whether a size so many times larger is expected to fit; at least as much growth as the size's own is."""
    slow, large = (step ** max(1.0, power) for power in grown)
    return run.seconds * slow <= seconds and run.peak * large <= budget


def in_process(name: str, size: int, seconds: float, budget: int) -> Run | None:
    """One size in a process of its own; None where it failed, or was ended for what it took."""
    command = [sys.executable, __file__, "--case", name, "--size", str(size)]
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as child:
        limit = time.monotonic() + PATIENCE * seconds
        while child.poll() is None:
            time.sleep(0.05)
            if resident(child.pid) > budget or time.monotonic() > limit:
                child.kill()
                child.wait()
                return None
        output, problem = child.communicate()
    if child.returncode:
        print(f"{name}, {size:,}: {problem.strip().splitlines()[-1] if problem.strip() else child.returncode}")
        return None
    answer = json.loads(output.splitlines()[-1])
    return Run(size, answer["seconds"], answer["peak"], answer["note"])


def resident(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:  # it has just ended
        return 0
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def available() -> int:
    from faithscope.runtime.memory import available

    return int(available())


def exponents(before: Run, after: Run) -> tuple[float, float]:
    """How time and memory grow with the size: 1 where they double when it doubles."""
    larger = math.log(after.size / before.size)
    slower = math.log(max(after.seconds, 1e-3) / max(before.seconds, 1e-3)) / larger
    return slower, math.log(max(after.peak, 1) / max(before.peak, 1)) / larger


HEAD = (
    f"{'case':<26}{'what grows':<38}{'largest tried':>14}{'seconds':>9}{'peak GiB':>10}{'bytes each':>12}"
    f"{'in a minute':>14}{'in 24 GiB':>14}"
)


def line(name: str, runs: list[Run]) -> str:
    """The line of the table; runs are of growing size."""
    case = CASES[name]
    if not runs:
        return f"{name:<26}{case.grows:<38}{'none fits':>14}"
    last = runs[-1]
    slower, larger = exponents(runs[-2], last) if len(runs) > 1 else (1.0, 1.0)
    minute = rounded(last.size * (60 / last.seconds) ** (1 / max(slower, 1.0)))
    memory = "same" if larger < 0.1 else rounded(last.size * (MACHINE / last.peak) ** (1 / max(larger, case.power)))
    numbers = f"{last.size:>14,}{last.seconds:>9.1f}{last.peak / GIB:>10.2f}{last.peak / last.size:>12,.0f}"
    return f"{name:<26}{case.grows:<38}{numbers}{minute:>14}{memory:>14}  {last.note}".rstrip()


def rounded(size: float) -> str:
    """Two digits, rounded down: it is a guess."""
    place = 10 ** max(0, math.floor(math.log10(size)) - 1)
    return f"{int(size // place * place):,}"


def refusals() -> None:
    """What is said where something cannot fit in 2 GiB of addresses beyond the imports, each in its own process."""
    for name, code in REFUSED.items():
        setting = f"from limits_cases import within_addresses; within_addresses({2 * GIB})\n"
        command = [sys.executable, "-c", setting + code]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent)
        last = ended.stderr.strip().splitlines()[-1:] or ["(nothing)"]
        print(f"\n{name}, exit status {ended.returncode}\n  {last[0]}")


if __name__ == "__main__":
    main()
