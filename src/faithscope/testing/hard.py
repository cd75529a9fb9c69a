"""Systems that break intervals, by what they break, for samples of a given number of rows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from faithscope.inputs.checks import check_whole
from faithscope.testing.systems import System, equal, long_tail, mostly_pure, two_labels
from faithscope.testing.unideal_systems import (
    ClusteredRows,
    FittedLeaves,
    HubUnderDirections,
    HubUnderTopics,
    WeightedRows,
)

Draw = Callable[[int, np.random.Generator], dict[str, Any]]


@dataclass(frozen=True)
class HardSystem:
    """A system with known truth on which an interval for a measure may fail.

    Attributes
    ----------
    name : str
    breaks : str
        What an interval gets wrong here if it does.
    measure : {"consistency", "sufficiency", "within"}
    truth : float
        The measure in the population.
    n : int
        Rows of a sample for which the system was made.

    Examples
    --------
    >>> import numpy as np
    >>> import faithscope as fs
    >>> from faithscope.testing import hard_systems
    >>> hard = hard_systems(400)["rows logged twice"]
    >>> hard.breaks, round(hard.truth, 3)
    ('a row vouches for its repetition', 0.5)
    >>> rows = hard.draw(np.random.default_rng(0))
    >>> sorted(rows), len(rows["predictions"])
    (['clusters', 'explanations', 'predictions'], 400)
    >>> estimate = getattr(fs, hard.measure)(**rows)
    >>> estimate.low <= hard.truth <= estimate.high
    True
    """

    name: str
    breaks: str
    measure: str
    truth: float
    n: int
    _draw: Draw = field(repr=False)

    def draw(self, rng: np.random.Generator) -> dict[str, Any]:
        """A sample, as keyword arguments of the measure."""
        return self._draw(self.n, rng)


def hard_systems(n: int) -> dict[str, HardSystem]:
    """Systems on which intervals fail that rely on ideal rows, by name, made for samples of n rows.

    Every system has a `truth` and draws samples as keyword arguments of its measure, so that the intervals of any
    implementation can be tried.

    Parameters
    ----------
    n : int
        Rows of a sample, from 20 to a million.

    Examples
    --------
    >>> import numpy as np
    >>> import faithscope as fs
    >>> from faithscope.testing import hard_systems
    >>> hard, rng = hard_systems(200)["n/2 explanations"], np.random.default_rng(0)
    >>> intervals = [fs.consistency(**hard.draw(rng)).interval for _ in range(20)]
    >>> sum(low <= hard.truth <= high for low, high in intervals) >= 18
    True
    """
    n = check_whole(n, "n", 20, 1_000_000)
    vouch, biased = "a row vouches for its repetition", "a ratio of weights of few rows"
    coins = System(equal(5 * n), np.full((5 * n, 2), 0.5))
    rare = System(equal(n // 10), np.tile([0.9, 0.1], (n // 10, 1)))
    unseen = "an unseen row under every explanation"
    systems: dict[str, tuple[str, Any]] = {
        **independent(n),
        "rows logged twice": (vouch, ClusteredRows(coins, 2, 1.0)),
        "customers who come back": (vouch, ClusteredRows(_mostly(n // 10), 5, 0.7)),
        "rare label counts 4 times": (biased, WeightedRows(rare, (1.0, 4.0))),
        "a label counts 4 times": (biased, WeightedRows(_mostly(n // 5), (1.0, 4.0))),
        "weights by chance": (biased, WeightedRows(_mostly(n // 10), (1.0, 1.0), 1.0)),
        "leaves fitted on these rows": ("an explainer that has learned the rows' noise", FittedLeaves(n // 16)),
        "unseen word list": (unseen, HubUnderTopics(n // 10, 1 / n)),
        "unseen zero vector": (unseen, HubUnderDirections(60, 1 / n)),
    }
    return {
        name: HardSystem(
            name,
            breaks,
            {HubUnderTopics: "sufficiency", HubUnderDirections: "within"}.get(type(system), "consistency"),
            system.truth,
            n,
            system.rows if isinstance(system, System) else system.draw,
        )
        for name, (breaks, system) in systems.items()
    }


def independent(n: int) -> dict[str, tuple[str, System]]:
    """Systems of independent rows, each with what it may break."""
    silent, doubled = "silence counted in full", "the variance of rare explanations counted twice"
    missed, skewed = "disagreements that a sample missed", "the lower end, since contradictions are few"
    return {
        "n/8 explanations": (doubled, _mostly(n // 8)),
        "n/5 explanations": (doubled, _mostly(n // 5)),
        "n/2 explanations": (silent, _mostly(n // 2)),
        "n explanations": (silent, _mostly(n)),
        "3n explanations": (silent, _mostly(3 * n)),
        "n/2 pure explanations": (silent, System(equal(n // 2), two_labels(np.zeros(n // 2)))),
        "long tail of 3,000": (silent, System(long_tail(3000), mostly_pure(3000))),
        "long tail, rare noisy": (missed, System(long_tail(n), two_labels(np.linspace(0, 0.5, n)))),
        "long tail, common noisy": (missed, System(long_tail(n), two_labels(np.linspace(0.5, 0, n)))),
        "rare pure, common noisy": (silent, two_rates(10, 0.3, n, 0.0)),
        "rare noisy, common pure": (missed, two_rates(10, 0.0, n // 4, 0.5)),
        "half never repeat": (silent, two_rates(10, 0.02, 100_000, 0.5)),
        "20 explanations, 5% contradictions": (skewed, System(equal(20), two_labels(np.full(20, 0.05)))),
        **{f"{few} contradictions expected": (skewed, contradicted(n, few)) for few in (5, 10, 30)},
        **{f"{labels} equal labels": ("the commonest label", equal_labels(labels)) for labels in (2, 3, 20, 200)},
    }


def contradicted(n: int, expected: float) -> System:
    """One explanation, and so many rows of the other label expected among n."""
    return System(np.ones(1), two_labels(np.array([min(1.0, expected / n)])))


def equal_labels(labels: int) -> System:
    """One explanation, and so many equally likely labels: the share of each is the consistency."""
    return System(np.ones(1), np.full((1, labels), 1 / labels))


def _mostly(cells: int) -> System:
    return System(equal(cells), mostly_pure(cells))


def two_rates(common: int, noise: float, rare: int, rare_noise: float) -> System:
    """Half of the rows have one of a few explanations, the other half one of many."""
    p = np.concatenate([equal(common), equal(rare)]) / 2
    return System(p, two_labels(np.repeat([noise, rare_noise], [common, rare])))
