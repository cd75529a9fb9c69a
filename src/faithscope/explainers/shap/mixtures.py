"""The model's answers to mixtures of rows and background rows, of which it is asked about each once."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from faithscope.explainers.shap.keys import Keys, leaders, share_repeated
from faithscope.explainers.shared.arrays import Bools, Floats, Ints
from faithscope.explainers.shared.blocks import blocks

_DOMAIN = 2**20  # numbers in the answers to all mixtures that there can be, if they are kept
_WORTHWHILE = 1 / 5  # share of mixtures that must be equal to others: finding them costs as much as a linear model
_COMPARED = 2**13  # mixtures at a time that are compared with others
_ASKED_AGAIN = 64  # mixtures per call, at most, that are asked again to see whether their answer is the same


@dataclass(frozen=True)
class Effort:
    """About how many rows a model was asked, and how many answers were taken from equal rows instead.

    Attributes
    ----------
    asked, saved : int
    noisy : bool
        Whether the model answered equal rows differently. Then it is asked about each of them.

    Examples
    --------
    >>> Effort(asked=10, saved=5) + Effort(asked=1)
    Effort(asked=11, saved=5, noisy=False)
    """

    asked: int = 0
    saved: int = 0
    noisy: bool = False

    def __add__(self, other: "Effort") -> "Effort":
        return Effort(self.asked + other.asked, self.saved + other.saved, self.noisy or other.noisy)


class MixtureAnswers:
    """The model's answers to mixtures; equal mixtures are asked about once if many are equal.

    Some mixtures of every call whose answer is known are asked about again. If the answer is another, the model draws
    at random, or has a state: from then on it is asked about every mixture.

    Parameters
    ----------
    ask : callable
        From mixtures (n, d) to answers (n, outputs).
    differ : callable
        From answers, and other answers to the same mixtures, to which of them differ beyond rounding.
    domain : int or None
        All keys are below, and equal only if mixtures are; None if keys may be equal by chance.
    total : int
        About how many mixtures there will be. If there are more than twice as many as different keys, and all answers
        fit in memory, they are kept from call to call.
    outputs : int

    Attributes
    ----------
    effort : Effort
    """

    def __init__(
        self,
        ask: Callable[[Floats], Floats],
        differ: Callable[[Floats, Floats], Bools],
        domain: int | None,
        total: int,
        outputs: int,
    ) -> None:
        self._ask, self._differ, self._exact = ask, differ, domain is not None
        few = domain is not None and 2 * domain <= total and domain * outputs <= _DOMAIN
        self._table = np.full((domain if few and domain else 0, outputs), np.nan)  # unknown until asked
        self.effort = Effort()

    def __call__(self, mixtures: Floats, keys: Keys) -> Floats:
        """The answers (n, outputs) to mixtures (n, d) with these keys (n,)."""
        if not self.effort.noisy and (len(self._table) or share_repeated(keys) >= _WORTHWHILE):
            answers = self._from_table(mixtures, keys) if len(self._table) else self._from_leaders(mixtures, keys)
            if not self.effort.noisy:
                return answers
        self.effort += Effort(asked=len(mixtures))
        return self._ask(mixtures)

    def _from_table(self, mixtures: Floats, keys: Keys) -> Floats:
        """The answers, each kept for later calls."""
        unknown = np.flatnonzero(np.isnan(self._table[keys, 0]))
        position = np.empty(len(self._table), np.int64)
        position[keys[unknown]] = unknown
        new = unknown[position[keys[unknown]] == unknown]
        again = _some_others(new, len(keys))
        asked = self._ask(np.take(mixtures, np.concatenate([new, again]), axis=0))
        self._table[keys[new]] = asked[: len(new)]
        answers = self._table[keys]
        self._count(asked[len(new) :], answers[again], len(new), len(keys))
        return answers

    def _from_leaders(self, mixtures: Floats, keys: Keys) -> Floats:
        """The answers, with one for mixtures of this call that are equal."""
        leader = leaders(keys) if self._exact else _equal_leaders(mixtures, keys)
        new = np.flatnonzero(leader == np.arange(len(leader)))
        again = _some_others(new, len(keys))
        asked = self._ask(np.take(mixtures, np.concatenate([new, again]), axis=0))
        answers = np.empty((len(keys), asked.shape[1]))
        answers[new] = asked[: len(new)]
        answers = np.take(answers, leader, axis=0)
        self._count(asked[len(new) :], answers[again], len(new), len(keys))
        return answers

    def _count(self, repeated: Floats, known: Floats, new: int, total: int) -> None:
        """Add to the effort, given the answers that were asked for again, and those known before."""
        noisy = bool(self._differ(repeated, known).any())
        asked = new + len(repeated)
        self.effort += Effort(asked, 0 if noisy else total - asked, noisy)


def _equal_leaders(mixtures: Floats, keys: Keys) -> Ints:
    """Leaders of the same key, and of the same mixture: a mixture that differs from its leader becomes its own."""
    leader, bits = leaders(keys), mixtures.view(np.int64)
    for block in blocks(len(bits), _COMPARED):
        other = block.start + np.flatnonzero((bits[block] != bits[leader[block]]).any(axis=1))
        leader[other] = other
    return leader


def _some_others(new: Ints, total: int) -> Ints:
    """A few of the positions that are not new, evenly spread: one in 32, at most 64."""
    others = np.ones(total, bool)
    others[new] = False
    positions = np.flatnonzero(others)
    return positions[:: max(1, min(32, len(positions)), -(-len(positions) // _ASKED_AGAIN))]
