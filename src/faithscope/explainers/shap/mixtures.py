"""The model's answers to mixtures of rows and background rows, of which it is asked about each once."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from faithscope.explainers.shap.keys import KeyMemory, Keys, distinct_keys, share_repeated
from faithscope.explainers.shared.arrays import Bools, Floats, Ints
from faithscope.explainers.shared.blocks import blocks

_WORTHWHILE = 1 / 8  # share of mixtures that must be equal to others: to find these costs as much as a linear model
_COMPARED = 2**13  # mixtures at a time that are compared with the first that has their key
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

    Answers are remembered from call to call if keys are exact. Otherwise equal keys are compared by the mixtures
    themselves, and nothing is remembered. Some mixtures of every call are asked about again. If an answer differs, the
    model draws at random, or has a state: from then on it is asked about every mixture.

    Parameters
    ----------
    ask : callable
        From mixtures (n, d) to answers (n, outputs).
    exact : bool
        Whether mixtures with equal keys are equal.
    differ : callable
        From answers and answers to the same mixtures to which of them differ, beyond rounding.
    outputs : int

    Attributes
    ----------
    effort : Effort
    """

    def __init__(
        self, ask: Callable[[Floats], Floats], exact: bool, differ: Callable[[Floats, Floats], Bools], outputs: int
    ) -> None:
        self._ask, self._differ = ask, differ
        self._memory = KeyMemory(outputs) if exact else None
        self.effort = Effort()

    def __call__(self, mixtures: Floats, keys: Keys) -> Floats:
        """The answers (n, outputs) to mixtures (n, d) with these keys (n,)."""
        if not self.effort.noisy and share_repeated(keys) >= _WORTHWHILE:
            answers = self._shared(mixtures, keys)
            if answers is not None:
                return answers
        self.effort += Effort(asked=len(mixtures))
        return self._ask(mixtures)

    def _shared(self, mixtures: Floats, keys: Keys) -> Floats | None:
        """The answers, with one for all equal mixtures; None if the model answers equal mixtures differently."""
        first, place = distinct_keys(keys)
        if self._memory is None:
            first, place = _told_apart(mixtures, first, place)
        remembered = np.full(len(first), -1) if self._memory is None else self._memory.find(keys[first])
        new = first[remembered < 0]
        again = _some_others(new, len(keys))
        asked = self._ask(mixtures[np.concatenate([new, again])])
        answers = np.empty((len(first), asked.shape[1]))
        answers[remembered < 0] = asked[: len(new)]
        if self._memory is not None:
            answers[remembered >= 0] = self._memory.answers(remembered[remembered >= 0])
            self._memory.add(keys[new], asked[: len(new)])
        noisy = bool(self._differ(asked[len(new) :], answers[place[again]]).any())
        self.effort += Effort(len(asked), 0 if noisy else len(keys) - len(asked), noisy)
        return None if noisy else answers[place]


def _told_apart(mixtures: Floats, first: Ints, place: Ints) -> tuple[Ints, Ints]:
    """The answer of `distinct_keys`, but mixtures that differ from the first one with their key stand alone."""
    bits = mixtures.view(np.int64)
    others = [
        block.start + np.flatnonzero((bits[block] != bits[first[place[block]]]).any(axis=1))
        for block in blocks(len(bits), _COMPARED)
    ]
    alone = np.concatenate(others)
    place[alone] = len(first) + np.arange(len(alone))
    return np.concatenate([first, alone]), place


def _some_others(new: Ints, total: int) -> Ints:
    """A few of the positions that are not new, evenly spread."""
    others = np.ones(total, bool)
    others[new] = False
    positions = np.flatnonzero(others)
    return positions[:: max(1, min(32, len(positions)), -(-len(positions) // _ASKED_AGAIN))]
