"""Reasons in words with planted truth: what the measures say of each system, and what they cannot tell.

    python benchmarks/planted_reasons.py             # half a minute; exits 1 if a measure ranks systems wrongly
    python benchmarks/planted_reasons.py --quick     # 200 rows per system instead of 1,000

Intervals of 95% on one sample per system, each with the truth beside it: consistency by codebook, and of the texts as
given and with labels masked; sufficiency and necessity of the rules that state the same facts; the share of reasons
that name a label; and the bound that `certify` gives for the texts.
"""

import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))  # where planted systems are that tests use too

import faithscope as fs
from ratios import describe_machine, options, tell
from reason_systems import REASON_SYSTEMS

ROWS, SEED = 1_000, 0


def intervals(system, rows):
    """Every interval about reasons in words, and the truth."""
    truth, told, ruled = system.truth, (rows.reasons, rows.predictions), (rows.rules, rows.predictions, rows.X)
    leak = fs.leakage(*told)
    return {
        "codebook": (fs.consistency(*told, discretizer=system.codebook), truth.codebook),
        "text": (fs.consistency(*told), truth.text),
        "masked": (leak.masked, truth.masked_text),
        "sufficiency": (fs.sufficiency(*ruled), truth.sufficiency),
        "necessity": (fs.necessity(*ruled), truth.necessity),
        "share": (leak, truth.named),
        "difference": (leak.difference, truth.text - truth.masked_text),
    }


def certified(system, rows):
    """A lower bound on the consistency of texts, from the codebook."""
    return fs.certify(rows.reasons, rows.predictions, [None, system.codebook], interval=None).low


def measured(name, n):
    """What the measures say of one sample of a system."""
    system = REASON_SYSTEMS[name]
    rows = system.draw(n, SEED)
    evaluation = fs.evaluate(rows.predictions, rows.reasons, rows.X, discretizer=system.codebook)
    told = intervals(system, rows)
    return SimpleNamespace(
        name=name,
        truth=system.truth,
        intervals=told,
        **{measure: estimate for measure, (estimate, _) in told.items()},
        certified=certified(system, rows),
        encodes=fs.encoding(rows.rules, rows.predictions, rows.X).encodes,
        groups_differ=evaluation.by(rows.groups).differences()["differ"].any(),
    )


def line(told):
    """Every interval with the truth beside it."""
    cells = []
    for measure in COLUMNS:
        estimate, true = told.intervals[measure]
        missed = "" if estimate.low - 1e-9 <= true <= estimate.high + 1e-9 else "!"
        cells.append(f"[{estimate.low:.2f}, {estimate.high:.2f}] {true:.3f}{missed}")
    cells.append(f"{told.certified:.2f} <= {told.truth.text:.3f}")
    return f"{told.name:28}" + "".join(f"{cell:>20}" for cell in cells)


COLUMNS = ("codebook", "text", "masked", "sufficiency", "necessity", "share")


def wrong(told):
    """What is not as it should be: intervals of systems that should be apart overlap, or a bound is above the truth."""
    ranked = ("paraphrased", "weak shortcut", "strong shortcut", "shortcut alone")
    for better, worse in pairwise(ranked):
        if told[better].codebook.low <= told[worse].codebook.high:
            yield f"{better} is not above {worse}"
    yield from (f"{each.name}: certified above the truth" for each in told.values() if each.certified > each.truth.text)
    random, copied, plain, clear = (told[name] for name in ("random reasons", "copied answer", "faithful", ranked[0]))
    hinted, styled = told["answer in other words"], told["wording tells the decision"]
    suited, strong, alone = told["made to suit"], told["strong shortcut"], told["shortcut alone"]
    claims = {
        "the group with the shortcut stands out": told["shortcut for one group"].groups_differ
        and not told["weak shortcut"].groups_differ,
        "a shortcut that is strong leaves reasons above chance": strong.codebook.above_chance,
        "a shortcut alone does not": not alone.codebook.above_chance,
        "random reasons are at chance": not random.codebook.above_chance
        and random.codebook.low <= random.truth.chance <= random.codebook.high,
        "a copied answer is consistent": min(copied.text.low, copied.share.low) > 0.98,
        "until labels are masked": not copied.masked.above_chance and copied.difference.low > 0.4,
        "paraphrases cannot be verified as texts": clear.text.unverifiable > 0.95,
        "and are faithful by codebook": clear.codebook.value == plain.codebook.value == 1,
        "which is certified": clear.certified > 0.98,
        "facts that suit the decision fool consistency": suited.codebook.low > 0.98,
        "but not sufficiency": suited.sufficiency.high < 0.75 < clear.sufficiency.low,
        "nor encoding": suited.encodes and not clear.encodes,
        "the answer in other words fools masks": hinted.masked.low > 0.98 and hinted.share.share == 0,
        "but not the codebook": not hinted.codebook.above_chance,
        "a wording that tells the decision fools texts": styled.text.low > 0.98 and styled.codebook.high < 0.65,
    }
    yield from (f"not so: {claim}" for claim, holds in claims.items() if not holds)


def table(told, n, missed):
    """A line per system, and the verdict."""
    yield describe_machine(("numpy", "scipy"))
    yield f"\n{n:,} rows per system; intervals of 95%, then the truth (! if it is outside)\n"
    yield f"{'system':28}" + "".join(f"{column:>20}" for column in (*COLUMNS, "certified"))
    yield from map(line, told.values())
    yield "\nWrong: " + ("; ".join(missed) or "nothing")


if __name__ == "__main__":
    quick = options(__doc__, quick=False).quick
    rows = 200 if quick else ROWS
    every = {name: measured(name, rows) for name in REASON_SYSTEMS}
    found = list(wrong(every))
    tell(table(every, rows, found), None if quick else "planted_reasons.txt")
    sys.exit(1 if found and not quick else 0)
