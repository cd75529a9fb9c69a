"""Run an implementation of these measures on samples whose answers are known."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from faithscope.testing.cases import CASES, SCOPED_CASES, Case

_NEAR = 1e-6  # a small constant in a denominator is forgiven


@dataclass(frozen=True)
class Verdict:
    """The answer of an implementation to one case.

    Attributes
    ----------
    case, catches : str
        The case's name, and the mistake that it catches.
    expected : float
    answered : float or None
        None if the implementation raised.
    said : str
        The exception that it raised.

    Examples
    --------
    >>> from faithscope.testing import Verdict
    >>> print(Verdict("signs", "taking absolute values", expected=1.0, answered=0.5))
    FAIL  signs: expected 1, answered 0.5 (catches: taking absolute values)
    """

    case: str
    catches: str
    expected: float
    answered: float | None
    said: str = ""

    @property
    def passed(self) -> bool:
        """Whether the answer is right."""
        return self.answered is not None and abs(self.answered - self.expected) <= _NEAR

    def __str__(self) -> str:
        if self.passed:
            return f"pass  {self.case}"
        answer = f"answered {self.answered:.6g}" if self.answered is not None else f"raised {self.said}"
        return f"FAIL  {self.case}: expected {self.expected:.6g}, {answer} (catches: {self.catches})"


@dataclass(frozen=True)
class Conformance:
    """The answers of an implementation to all cases: ``verdicts``, one `Verdict` per case.

    Examples
    --------
    >>> from faithscope.testing import CASES, check_consistency
    >>> print(check_consistency(lambda explanations, predictions: 0.5, CASES[:2]))
    pass  two pairs, one of them split
    FAIL  groups of three and two: expected 0.6, answered 0.5 (catches: weighting explanations alike instead of rows)
    1 of 2 cases passed
    """

    verdicts: tuple[Verdict, ...]

    @property
    def passed(self) -> int:
        """Number of right answers."""
        return sum(verdict.passed for verdict in self.verdicts)

    @property
    def conforms(self) -> bool:
        """Whether all answers are right."""
        return self.passed == len(self.verdicts)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.verdicts), f"{self.passed} of {len(self.verdicts)} cases passed"])


def check_consistency(measure: Callable[..., float], cases: Iterable[Case] = CASES) -> Conformance:
    """Run ``measure(explanations, predictions) -> float`` on samples whose consistency is known.

    Parameters
    ----------
    measure : callable
        Explanations are (n, d) arrays of numbers or one key per row; predictions are one label per row. Cases of
        numbers, `NUMBER_CASES`, also hand over their agreement, a word: ``close:0.5``, ``tolerance:0.5`` or ``spread``.

    Examples
    --------
    >>> import faithscope as fs
    >>> from faithscope.testing import NUMBER_CASES, check_consistency
    >>> check_consistency(lambda e, y: fs.consistency(e, y).value).conforms
    True
    >>> check_consistency(lambda e, y, word: fs.consistency(e, y, agreement=word).value, NUMBER_CASES).conforms
    True
    """
    return Conformance(tuple(_asked(case, measure) for case in cases))


def check_sufficiency(measure: Callable[..., float], cases: Iterable[Case] = SCOPED_CASES) -> Conformance:
    """Run ``measure(rules, X, predictions) -> float`` on rules whose sufficiency is known.

    Parameters
    ----------
    measure : callable
        Rules are lists of conditions on the feature ``x``, as `Rules.from_conditions` takes them; X is (n, 1). Cases of
        numbers, `SCOPED_NUMBER_CASES`, also hand over their agreement.

    Examples
    --------
    >>> import faithscope as fs
    >>> from faithscope.testing import SCOPED_NUMBER_CASES, check_sufficiency
    >>> def ours(rules, X, predictions, word=None):
    ...     rules = fs.Rules.from_conditions(rules, features=["x"])
    ...     return fs.sufficiency(rules, predictions, X, agreement=word).value
    >>> check_sufficiency(ours).conforms, check_sufficiency(ours, SCOPED_NUMBER_CASES).conforms
    (True, True)
    """
    return Conformance(tuple(_asked(case, measure) for case in cases))


def _asked(case: Case, measure: Callable[..., float]) -> Verdict:
    try:
        answer = measure(*case.make(), *filter(None, [case.agreement]))
        if np.ma.is_masked(answer):  # float() would make it NaN, and warn
            raise ValueError("the answer is masked")
        return Verdict(case.name, case.catches, case.value, float(answer))
    except Exception as error:  # whatever an implementation raises is its answer
        words = " ".join(f"{type(error).__name__}: {error}".split())
        return Verdict(case.name, case.catches, case.value, None, words[:200])
