"""Evaluations of numbers for tests: small random systems with ties, repeated rows and rows alone."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import faithscope as fs
from faithscope.evaluation.result import Options, assess


def exponential(a, b):
    """An agreement of one's own."""
    return np.exp(-np.abs(a - b))


AGREEMENTS = (fs.Close(1.5), fs.Tolerance(1.0), fs.Spread(), exponential)


def evaluated(explanations, predictions, X=None, agreement=None, relation=None, weights=None):
    """The evaluation of ready explanations and predictions that are numbers."""
    rows = np.arange(float(len(predictions)))[:, None] if X is None else X
    sample = fs.Sample.of(explanations, predictions, rows, weights, agreement)
    return assess(sample, None, Options(relation=relation), "explanations", ["ready"])


def between(agreement, a, b):
    """K(a, b) by its definition; ½ |a - b|² for `Spread`."""
    apart = np.abs(np.asarray(a, float) - np.asarray(b, float))
    if isinstance(agreement, fs.Spread):
        return float((apart**2).sum() / 2)
    if isinstance(agreement, fs.Close):
        return max(0.0, 1 - float(apart) / agreement.eps)
    return float(apart <= agreement.eps) if isinstance(agreement, fs.Tolerance) else float(agreement(a, b))


@dataclass(frozen=True)
class System:
    """Keys, numbers and an agreement."""

    keys: list[str]
    numbers: np.ndarray
    agreement: object

    def local(self, i, others):
        """The mean agreement of row i with others, or 1 - mean d / T."""
        mean = np.mean([between(self.agreement, self.numbers[i], self.numbers[j]) for j in others])
        if isinstance(self.agreement, fs.Spread):
            return 1 - mean / self.numbers.reshape(len(self.numbers), -1).var(axis=0, ddof=1).sum()
        return mean


@st.composite
def systems(draw, agreements=AGREEMENTS, most=14):
    n = draw(st.integers(2, most))
    keys = draw(st.lists(st.sampled_from("abcd"), min_size=n, max_size=n))
    ticks = draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n).filter(lambda ticks: len(set(ticks)) > 1))
    scale, shift = draw(st.sampled_from([0.25, 1.0, 0.1])), draw(st.sampled_from([0.0, 1e6]))
    return System(keys, np.array(ticks) * scale + shift, draw(st.sampled_from(agreements)))
