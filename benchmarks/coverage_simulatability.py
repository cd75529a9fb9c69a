"""Do the intervals of simulatability hold what they promise? Simulations with known truth.

    python benchmarks/coverage_simulatability.py             # two minutes; exits 1 where the bar is missed
    python benchmarks/coverage_simulatability.py --quick     # seconds; too few trials to judge

A decoder learns from 300 rows, and is asked about n new rows, for which its true accuracy is known: the coverage and
width of the 95% intervals of the accuracy and of its gain. The bar: from 200 rows on every interval covers at least
.93, up to two Monte-Carlo errors.
"""

from dataclasses import dataclass
from functools import cache, cached_property, partial, update_wrapper
from typing import Any

import numpy as np

import faithscope as fs
from coverage_study import Cell, below_bar, conclude, study_all, summary
from coverage_trials import Answer, Study, Trial
from ratios import describe_machine, options

ROWS = (50, 200, 1_000)
LEARNED = 300
BAR = 0.93
EPS = 1.5
AGREEMENTS = {"labels": None, "close": fs.Close(EPS), "tolerance": fs.Tolerance(EPS), "spread": fs.Spread()}
DECODERS = {"optimal": fs.OptimalDecoder, "Gibbs": fs.GibbsDecoder}
Truth = tuple[float, float]  # the accuracy, and that without explanations


@dataclass(frozen=True, eq=False)
class Population:
    """Explanations and predictions 0, 1, …: the probability of each pair, as a table."""

    joint: np.ndarray

    def draw(self, n: int, rng: np.random.Generator, tilt: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Rows, or rows that were drawn with a probability in proportion to the tilt of their prediction."""
        joint = self.joint if tilt is None else self.tilted(tilt).joint
        return np.divmod(rng.choice(joint.size, n, p=joint.ravel()), joint.shape[1])

    def tilted(self, tilt: Any) -> "Population":
        """The population in which predictions are rarer, or commoner, in proportion to the tilt."""
        return Population(self.joint * tilt / np.sum(self.joint * tilt))

    @cached_property
    def learned(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows that decoders learn from: always the same, since the decoder is what it is."""
        return self.draw(LEARNED, np.random.default_rng(1))

    def truth(self, decoder: str, agreement: str) -> Truth:
        """What a decoder reaches in this population, from the table of what it learned."""
        table = np.zeros(self.joint.shape)
        np.add.at(table, self.learned, 1.0)
        everything = np.broadcast_to(table.sum(axis=0), table.shape)
        if agreement == "spread":
            return self._explained(table, decoder), self._explained(everything, decoder)
        return self._agreeing(table, decoder, agreement), self._agreeing(everything, decoder, agreement)

    def _agreeing(self, table: np.ndarray, decoder: str, agreement: str) -> float:
        numbers, rows = np.arange(table.shape[1]), table.sum(axis=1, keepdims=True)
        seen = np.maximum(rows, 1)
        answers = table / seen @ numbers
        if decoder == "Gibbs":
            agreeing = table / seen @ kernel(agreement, numbers[:, None], numbers)
        elif agreement == "labels":
            agreeing = (table.argmax(axis=1)[:, None] == numbers) * 1.0
        else:
            agreeing = kernel(agreement, answers[:, None], numbers)
        return float(np.sum(self.joint * np.where(rows > 0, agreeing, 0.0)))

    def _explained(self, table: np.ndarray, decoder: str) -> float:
        numbers, everybody = np.arange(table.shape[1]), table.sum(axis=0) if table.sum() == LEARNED else table[0]
        filled = np.where(table.sum(axis=1, keepdims=True) > 0, table, everybody)
        shares = filled / filled.sum(axis=1, keepdims=True)
        answers = shares @ numbers
        errors = (numbers - answers[:, None]) ** 2
        if decoder == "Gibbs":
            errors = shares @ (numbers[:, None] - numbers) ** 2
        mean = everybody @ numbers / everybody.sum()
        return float(1 - np.sum(self.joint * errors) / np.sum(self.joint * (numbers - mean) ** 2))


def kernel(agreement: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How much two predictions agree."""
    apart = np.abs(a - b)
    if agreement == "labels":
        return (apart == 0) * 1.0
    return (apart <= EPS) * 1.0 if agreement == "tolerance" else np.maximum(0.0, 1 - apart / EPS)


def population(explanations: int, labels: int, purity: float, skew: float, seed: int) -> Population:
    """Explanations with probabilities like ``1 / rank**skew``, most of whose rows have one label each."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, explanations + 1) ** skew
    within = np.full((explanations, labels), (1 - purity) / max(1, labels - 1))
    within[np.arange(explanations), rng.integers(0, labels, explanations)] = purity
    return Population(shares[:, None] / shares.sum() * within)


POPULATIONS = {
    "pure, few": population(8, 2, 0.99, 0.0, 0),
    "pure, many unseen": population(600, 2, 0.99, 0.7, 1),
    "mixed, few": population(8, 3, 0.7, 0.5, 2),
    "mixed, many": population(100, 5, 0.8, 1.0, 3),
    "no use": population(20, 2, 0.5, 0.0, 4),
    "rare label": population(20, 2, 0.97, 0.5, 5).tilted([1.0, 0.05]),
}


@cache
def fitted(system: Population, name: str, agreement: str) -> tuple[fs.OptimalDecoder | fs.GibbsDecoder, Truth]:
    """A decoder that has learned, and what it reaches in the population."""
    decoder = DECODERS[name]().fit(*system.learned, agreement=AGREEMENTS[agreement])
    return decoder, system.truth(name, agreement)


def asked(
    system: Population, n: int, rng: np.random.Generator, agreement: str, drawn: str = "independent"
) -> dict[str, Answer]:
    """The intervals of both decoders on the same new rows."""
    explanations, predictions, how = new_rows(system, n, rng, drawn)
    answers = {}
    for name in DECODERS:
        decoder, (value, chance) = fitted(system, name, agreement)
        told = decoder.accuracy(explanations, predictions, **how)
        answers[f"{name}, {agreement}, {drawn}"] = told.low, told.high, value
        answers[f"{name}, {agreement}, {drawn}: gain"] = told.gain_low, told.gain_high, value - chance
    return answers


def new_rows(
    system: Population, n: int, rng: np.random.Generator, drawn: str
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Independent rows, rows that count in proportion to weights, or clusters of rows that are nearly alike."""
    if drawn == "weighted":
        tilt = 1.0 + np.arange(system.joint.shape[1])
        explanations, predictions = system.draw(n, rng, tilt)
        return explanations, predictions, {"weights": 1 / tilt[predictions]}
    if drawn == "clustered":
        clusters = np.sort(rng.integers(0, n // 4, n))
        explanations, predictions = (column[clusters] for column in system.draw(n // 4, rng))
        return explanations, predictions, {"clusters": clusters}
    return *system.draw(n, rng), {}


def trial(agreement: str, drawn: str = "independent") -> Trial:
    """A trial under a name of its own, which its seeds are made from."""
    made = partial(asked, agreement=agreement, drawn=drawn)
    made.__name__ = f"simulatability: {agreement}, {drawn}"
    return update_wrapper(made, made, assigned=())


STUDIES = (
    *(Study(trial(agreement), POPULATIONS, 300) for agreement in AGREEMENTS),
    *(Study(trial(agreement, "weighted"), POPULATIONS, 200) for agreement in ("labels", "spread")),
    *(Study(trial(agreement, "clustered"), POPULATIONS, 200) for agreement in ("labels", "spread")),
)


def short(cells: list[Cell]) -> list[str]:
    """The cells that miss the bar by more than two Monte-Carlo errors."""
    return below_bar(cells, BAR)


def main() -> None:
    chosen = options(__doc__).parse_args()
    machine = describe_machine(("faithscope", "numpy", "scipy"))
    print(machine)
    cells = study_all(STUDIES, ROWS[:2], 3) if chosen.quick else study_all(STUDIES, ROWS, None)
    print("\nCoverage, nominal .95, of simulatability on new rows. Short: two Monte-Carlo errors below .95.\n")
    print("\n".join(summary(cells)))
    conclude(chosen, machine, cells, short(cells), BAR)


if __name__ == "__main__":
    main()
