"""Reasons in words with planted truth: what the measures say of each system, and what they cannot tell.

    python benchmarks/planted_reasons.py             # half a minute; exits 1 if a measure ranks systems wrongly
    python benchmarks/planted_reasons.py --quick     # 200 rows per system instead of 1,000

Intervals of 95% on one sample per system, each with the truth beside it: consistency by codebook, of the texts as given
and with labels masked, and by template; sufficiency and necessity of the rules that state the same facts; the share of
reasons that name a label; and the bound that `certify` gives for the texts.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import faithscope as fs
from faithscope.measures.telling.verdict import WORDS, level
from faithscope.testing import REASON_SYSTEMS, ReasonTruth
from ratios import describe_machine, options, tell

ROWS, SEED = 1_000, 0


@dataclass(frozen=True, eq=False)
class Told:
    """What the measures say of one system."""

    name: str
    truth: ReasonTruth
    codebook: fs.Estimate
    text: fs.Estimate
    template: fs.Estimate
    sufficiency: fs.Estimate
    necessity: fs.Estimate
    leak: fs.Leakage
    certified: float
    encodes: bool
    groups_differ: bool

    @classmethod
    def of(cls, name: str, n: int) -> "Told":
        """Measure one sample."""
        system = REASON_SYSTEMS[name]
        rows = system.draw(n, SEED)
        reasons = rows.reasons, rows.predictions
        evaluation = fs.evaluate(rows.predictions, rows.reasons, rows.X, discretizer=system.codebook)
        return cls(
            name=name,
            truth=system.truth,
            codebook=evaluation.consistency,
            text=fs.consistency(*reasons),
            template=fs.consistency(*reasons, discretizer=fs.Template()),
            sufficiency=fs.sufficiency(rows.rules, rows.predictions, rows.X),
            necessity=fs.necessity(rows.rules, rows.predictions, rows.X),
            leak=fs.leakage(*reasons),
            certified=fs.certify(*reasons, [None, system.codebook], interval="tight").low,
            encodes=bool(fs.encoding(rows.rules, rows.predictions, rows.X).encodes),
            groups_differ=bool(evaluation.by(rows.groups).differences()["differ"].any()),
        )

    def cells(self) -> list[str]:
        """Every interval with the truth beside it."""
        truth, leak = self.truth, self.leak
        pairs: list[tuple[Any, float]] = [
            (self.codebook, truth.codebook),
            (self.text, truth.text),
            (leak.masked, truth.masked_text),
            (self.template, truth.template),
            (self.sufficiency, truth.sufficiency),
            (self.necessity, truth.necessity),
            (leak, truth.named),
        ]
        told = []
        for measured, true in pairs:
            missed = "" if measured.low - 1e-9 <= true <= measured.high + 1e-9 else "!"
            told.append(f"[{measured.low:.2f}, {measured.high:.2f}] {true:.3f}{missed}")
        return [*told, f"{self.certified:.2f} <= {truth.text:.3f}"]

    @property
    def verdict(self) -> str:
        """What the measures say together, in words."""
        told = [f"by codebook {WORDS[level(self.codebook)].lower()}", f"rules {WORDS[level(self.sufficiency)].lower()}"]
        told += ["reasons name the answer"] if self.leak.low > 0.5 else []
        told += [f"{self.text.unverifiable:.0%} of texts unverifiable"] if self.text.unverifiable > 0.5 else []
        told += ["the choice of facts tells the decision"] if self.encodes else []
        told += ["groups differ"] if self.groups_differ else []
        return "; ".join(told)


COLUMNS = ("codebook", "text", "text, masked", "template", "sufficiency", "necessity", "names a label", "certified")


def wrong(told: dict[str, Told]) -> Iterator[str]:
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
        "a copied answer is consistent": min(copied.text.low, copied.leak.low) > 0.98,
        "until labels are masked": not copied.leak.masked.above_chance and copied.leak.difference.low > 0.4,
        "paraphrases cannot be verified as texts": clear.text.unverifiable > 0.95,
        "and are faithful by codebook": clear.codebook.value == plain.codebook.value == 1,
        "which is certified": clear.certified > 0.98,
        "facts that suit the decision fool consistency": suited.codebook.low > 0.98,
        "but not sufficiency": suited.sufficiency.high < 0.75 < clear.sufficiency.low,
        "nor encoding": suited.encodes and not clear.encodes,
        "the answer in other words fools masks": hinted.leak.masked.low > 0.98 and hinted.leak.share == 0,
        "but not the codebook": not hinted.codebook.above_chance,
        "a wording that tells the decision fools texts": styled.text.low > 0.98 and styled.codebook.high < 0.65,
    }
    yield from (f"not so: {claim}" for claim, holds in claims.items() if not holds)


def table(told: dict[str, Told], n: int, missed: list[str]) -> Iterator[str]:
    """Two lines per system: its numbers, and the verdict."""
    yield describe_machine(("numpy", "scipy"))
    yield f"\n{n:,} rows per system; intervals of 95%, then the truth (! if it is outside)\n"
    yield f"{'system':28}" + "".join(f"{column:>20}" for column in COLUMNS)
    for line in told.values():
        yield f"{line.name:28}" + "".join(f"{cell:>20}" for cell in line.cells())
        yield f"    {line.verdict}"
    yield "\nWrong: " + ("; ".join(missed) or "nothing")


if __name__ == "__main__":
    quick = options(__doc__, quick=False).quick
    rows = 200 if quick else ROWS
    every = {name: Told.of(name, rows) for name in REASON_SYSTEMS}
    found = list(wrong(every))
    tell(table(every, rows, found), None if quick else "planted_reasons.txt")
    sys.exit(1 if found and not quick else 0)
