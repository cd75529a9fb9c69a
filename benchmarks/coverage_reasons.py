"""Do the intervals about reasons in words hold what they promise? Planted systems with known truth.

    python benchmarks/coverage_reasons.py             # some minutes; exits 1 if the bar is missed
    python benchmarks/coverage_reasons.py --quick     # seconds; too few samples to judge

Coverage of the 95% intervals of consistency by codebook, of raw texts, by template and by learned phrases; of the share
of reasons that name a label, of masked texts, and of texts as given minus masked; of sufficiency and necessity of the
rules that state the same facts. Phrases are learned on one half of each sample, and the truth that their interval is
held against is the consistency by these phrases. The bar: every interval covers at least .93, up to two Monte-Carlo
errors.
"""

import math
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import faithscope as fs
from faithscope.testing import ReasonedRows, ReasonSystem
from ratios import describe_machine, options

ROWS, SAMPLES, BAR = (60, 300, 1_000), 120, 0.93
KEPT = Path(__file__).parent / "results" / "coverage_reasons.txt"

SYSTEMS = {
    "policy, noise": ReasonSystem(noise=0.1, wordings=8, details=True),
    "random reasons": ReasonSystem("chance", wordings=8, details=True),
    "made to suit": ReasonSystem("decision", shortcut=0.6, wordings=8),
    "half name the label": ReasonSystem(shortcut=0.4, wordings=4, names_label=0.5),
    "few name the label": ReasonSystem(shortcut=0.6, wordings=2, names_label=0.03),
    "copied answer": ReasonSystem("answer", wordings=8),
    "wording half tells": ReasonSystem(shortcut=0.6, wordings=8, style=0.5),
}

Answer = tuple[str, float, float, float]  # of what, low, high, truth


def asked(system: ReasonSystem, n: int, seed: int) -> Iterator[Answer]:
    """All intervals of one sample, each beside its truth."""
    rows, truth = system.draw(n, seed), system.truth
    for name, discretizer in {"codebook": system.codebook, "text": None, "template": fs.Template()}.items():
        estimate = fs.consistency(rows.reasons, rows.predictions, discretizer=discretizer)
        yield name, estimate.low, estimate.high, getattr(truth, name)
    leak = fs.leakage(rows.reasons, rows.predictions)
    yield "share", leak.low, leak.high, truth.named
    yield "masked", leak.masked.low, leak.masked.high, truth.masked_text
    yield "difference", leak.difference.low, leak.difference.high, truth.text - truth.masked_text
    for measure in (fs.sufficiency, fs.necessity):
        estimate = measure(rows.rules, rows.predictions, rows.X)
        yield measure.__name__, estimate.low, estimate.high, getattr(truth, measure.__name__)
    if not system.details:
        yield _by_phrases(system, rows)


def _by_phrases(system: ReasonSystem, rows: ReasonedRows) -> Answer:
    """By phrases learned on one half; the truth is that of these phrases."""
    phrases = fs.CommonPhrases(8)
    _, learned = fs.Sample.of(rows.reasons, rows.predictions).settled(phrases)
    estimate = fs.consistency(rows.reasons, rows.predictions, discretizer=phrases)
    return "phrases", estimate.low, estimate.high, system.consistency_by(learned)


@dataclass(frozen=True)
class Covered:
    """How often the intervals of a measure covered the truth, and how wide they were."""

    name: str
    n: int
    measure: str
    truth: float
    covered: float
    width: float
    samples: int

    @property
    def holds(self) -> bool:
        """Whether the coverage reaches the bar, up to two Monte-Carlo errors."""
        return self.covered >= BAR - 2 * math.sqrt(BAR * (1 - BAR) / self.samples)

    def __str__(self) -> str:
        told = f"{self.name:20} {self.n:6,} {self.measure:12} {self.truth:7.3f} {self.covered:8.3f} {self.width:7.3f}"
        return told if self.holds else f"{told}  below {BAR}"


def cover(name: str, n: int, samples: int) -> list[Covered]:
    """Ask many samples of a system; of a truth that differs between samples, the mean is told."""
    answers = defaultdict(list)
    for seed in range(samples):
        for measure, low, high, truth in asked(SYSTEMS[name], n, seed):
            answers[measure].append((truth, low - 1e-9 <= truth <= high + 1e-9, high - low))
    means = {
        measure: (sum(column) / samples for column in zip(*told, strict=True)) for measure, told in answers.items()
    }
    return [Covered(name, n, measure, *mean, samples) for measure, mean in means.items()]


def main() -> None:
    """Print the table, and keep it."""
    chosen = options(__doc__).parse_args()
    samples = 5 if chosen.quick else SAMPLES
    head = f"{'system':20} {'rows':>6} {'interval of':12} {'truth':>7} {'coverage':>8} {'width':>7}"
    lines = [describe_machine(("numpy", "scipy")), "", head]
    print("\n".join(lines))
    results = []
    for name in SYSTEMS:
        for n in ROWS:
            cells = cover(name, n, samples)
            print("\n".join(map(str, cells)), flush=True)
            results += cells
    missed = [cell for cell in results if not cell.holds]
    end = f"{samples} samples each; {len(missed)} of {len(results)} below the bar"
    print(end)
    if not chosen.quick:
        KEPT.write_text("\n".join([*lines, *map(str, results), "", end, ""]))
        sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
