"""Simulatability: decoders that have learned from 300 rows, whose accuracy on new rows is known."""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from harness import Answers
from systems import Chance, Floats, Ints

import faithscope as fs

LEARNED = 300
EPS = 1.5
AGREEMENTS = {"labels": None, "close": fs.Close(EPS), "tolerance": fs.Tolerance(EPS), "spread": fs.Spread()}
DECODERS = {"optimal": fs.OptimalDecoder, "Gibbs": fs.GibbsDecoder}
Truth = tuple[float, float]  # the accuracy, and that without explanations


@dataclass(frozen=True, eq=False)
class Decoded:
    """Explanations and predictions 0, 1, …: the probability of each pair, as a table."""

    joint: Floats

    def draw(self, n: int, rng: Chance) -> tuple[Ints, Ints]:
        """Rows."""
        return np.divmod(rng.choice(self.joint.size, n, p=self.joint.ravel()), self.joint.shape[1])

    def tilted(self, tilt: Any) -> "Decoded":
        """The population in which predictions are rarer, or commoner, in proportion to the tilt."""
        return Decoded(self.joint * tilt / np.sum(self.joint * tilt))

    @cached_property
    def learned(self) -> tuple[Ints, Ints]:
        """The rows that decoders learn from: always the same, since the decoder is what it is."""
        return self.draw(LEARNED, np.random.default_rng(1))

    def truth(self, decoder: str, agreement: str) -> Truth:
        """What a decoder reaches in this population, from the table of what it learned, and from its sums alone."""
        table = np.zeros(self.joint.shape)
        np.add.at(table, self.learned, 1.0)
        everybody = table.sum(axis=0)
        reached = self._explained if agreement == "spread" else self._agreeing
        tables = (table, np.broadcast_to(everybody, table.shape))
        return tuple(reached(each, everybody, decoder, agreement) for each in tables)

    def _agreeing(self, table: Floats, everybody: Floats, decoder: str, agreement: str) -> float:
        numbers, rows = np.arange(table.shape[1]), table.sum(axis=1, keepdims=True)
        shares = table / np.maximum(rows, 1)
        if decoder == "Gibbs":
            agreeing = shares @ kernel(agreement, numbers[:, None], numbers)
        elif agreement == "labels":
            agreeing = (table.argmax(axis=1)[:, None] == numbers) * 1.0
        else:
            agreeing = kernel(agreement, (shares @ numbers)[:, None], numbers)
        return float(np.sum(self.joint * np.where(rows > 0, agreeing, 0.0)))

    def _explained(self, table: Floats, everybody: Floats, decoder: str, agreement: str) -> float:
        numbers = np.arange(table.shape[1])
        filled = np.where(table.sum(axis=1, keepdims=True) > 0, table, everybody)
        shares = filled / filled.sum(axis=1, keepdims=True)
        errors = (numbers - (shares @ numbers)[:, None]) ** 2
        if decoder == "Gibbs":
            errors = shares @ (numbers[:, None] - numbers) ** 2
        mean = everybody @ numbers / everybody.sum()
        return float(1 - np.sum(self.joint * errors) / np.sum(self.joint * (numbers - mean) ** 2))


def kernel(agreement: str, a: Any, b: Any) -> Floats:
    """How much two predictions agree."""
    apart = np.abs(a - b)
    if agreement == "labels":
        return (apart == 0) * 1.0
    return (apart <= EPS) * 1.0 if agreement == "tolerance" else np.maximum(0.0, 1 - apart / EPS)


def decoded(explanations: int, labels: int, purity: float, skew: float, seed: int) -> Decoded:
    """Explanations with probabilities like ``1 / rank**skew``, most of whose rows have one label each."""
    shares = 1 / np.arange(1, explanations + 1) ** skew
    within = np.full((explanations, labels), (1 - purity) / max(1, labels - 1))
    within[np.arange(explanations), np.random.default_rng(seed).integers(0, labels, explanations)] = purity
    return Decoded(shares[:, None] / shares.sum() * within)


DECODED = {
    "pure, few": decoded(8, 2, 0.99, 0.0, 0),
    "pure, many unseen": decoded(600, 2, 0.99, 0.7, 1),
    "mixed, few": decoded(8, 3, 0.7, 0.5, 2),
    "mixed, many": decoded(100, 5, 0.8, 1.0, 3),
    "no use": decoded(20, 2, 0.5, 0.0, 4),
    "rare label": decoded(20, 2, 0.97, 0.5, 5).tilted([1.0, 0.05]),
}


@cache
def fitted(system: Decoded, name: str, agreement: str) -> tuple[Any, Truth]:
    """A decoder that has learned, and what it reaches in the population."""
    decoder = DECODERS[name]().fit(*system.learned, agreement=AGREEMENTS[agreement])
    return decoder, system.truth(name, agreement)


def simulatability(system: Decoded, n: int, rng: Chance, agreement: str, drawn: str) -> Answers:
    """The intervals of both decoders on the same new rows: independent, weighted, or in clusters of equal ones."""
    how, source, rows = {}, system, np.arange(n)
    if drawn == "weighted":
        tilt = 1.0 + np.arange(system.joint.shape[1])
        source = system.tilted(tilt)
    elif drawn == "clustered":
        rows = np.sort(rng.integers(0, n // 4, n))
        how["clusters"] = rows
    explanations, predictions = (column[rows] for column in source.draw(n // 4 if how else n, rng))
    if drawn == "weighted":
        how["weights"] = 1 / tilt[predictions]
    answers = {}
    for name in DECODERS:
        decoder, (value, chance) = fitted(system, name, agreement)
        told = decoder.accuracy(explanations, predictions, **how)
        answers[f"{name}, {agreement}, {drawn}"] = told.low, told.high, value
        answers[f"{name}, {agreement}, {drawn}: gain"] = told.gain_low, told.gain_high, value - chance
    return answers
