"""What changed since a reference period, in sentences: agreement, or the explanations themselves."""

from collections.abc import Sequence

import numpy as np

from faithscope.measures.sequential.change import Alarm
from faithscope.measures.sequential.distance import Distance
from faithscope.measures.sequential.periods import TwoPeriods
from faithscope.measures.telling.rounding import down, up


def change_sentences(periods: TwoPeriods) -> tuple[str, ...]:
    """By how much agreement changed, within explanations and since others are more frequent.

    Examples
    --------
    >>> periods = TwoPeriods.of([0, 0, 1, 1], [0, 1, 0, 1], before=[900, 0, 10, 90], after=[600, 300, 10, 90])
    >>> change_sentences(periods)[0].partition(": ")[2]
    '0.400 less within explanations, 0.000 more since explanations have other shares.'
    """
    rows = periods.given.sum(axis=1)
    if not rows.all():
        return ("One of the two periods has no rows, so nothing can be compared.",)
    checked = periods.given[1][periods.compared].sum() / rows[1]
    if not checked:
        return ("No explanation has two rows in both periods, so agreement cannot be compared.",)
    total, within, mix = periods.within + periods.mix, _signed(periods.within), _signed(periods.mix)
    return (
        f"{checked:.1%} of the later rows have explanations that both periods can check. Among these rows two with the "
        f"same explanation agree {_signed(total)} often than before: {within} within explanations, {mix} since "
        "explanations have other shares.",
    )


def drift_sentences(
    measured: Sequence[Alarm],
    explanations: Sequence[Alarm],
    apart: Distance,
    fresh: float,
    measure: str = "consistency",
) -> tuple[str, ...]:
    """Whether the explanations themselves drift, told apart from a change of the measure.

    Parameters
    ----------
    measured, explanations
        Alarms of the measure, and of the share of rows whose explanations the reference did not have.
    apart
        The distance between the explanations of the reference and of the days since.
    fresh
        The share of rows since whose explanations the reference did not have.

    Examples
    --------
    >>> drift_sentences([], [], Distance(0.03, 0.0, 0.06), 0.012)[0]
    'Neither consistency nor the explanations are shown to have changed.'
    """
    drifts = bool(explanations) or apart.low > 0
    verdict = {
        (False, False): f"Neither {measure} nor the explanations are shown to have changed.",
        (False, True): f"The explanations drift; {measure} is not shown to have changed.",
        (True, False): f"{measure.capitalize()} changed; the explanations are not shown to drift.",
        (True, True): f"{measure.capitalize()} changed, and the explanations drift.",
    }[bool(measured), drifts]
    known = [f"New explanations are more frequent: {alarm}." for alarm in explanations if alarm.direction == "rise"]
    return (
        verdict,
        f"{fresh:.1%} of the later rows have explanations that the reference did not have. The distance between the "
        f"explanations of both periods (total variation) is between {down(apart.low)} and {up(apart.high)}.",
        *known,
    )


def label_changes(periods: TwoPeriods, explanation: int, names: Sequence[str], most: int = 3) -> str:
    """The labels of an explanation whose rows changed most, as shares of its rows before and after."""
    cells = np.flatnonzero(periods.explanations == explanation)
    shares = periods.rows[:, cells] / np.maximum(periods.given[:, [explanation]], 1)
    order = np.argsort(-np.abs(shares[1] - shares[0]), kind="stable")[:most]
    return ", ".join(f"{names[periods.labels[cells[j]]]}: {shares[0, j]:.0%} → {shares[1, j]:.0%}" for j in order)


def _signed(amount: float) -> str:
    return f"{abs(amount):.3f} {'less' if round(amount, 3) < 0 else 'more'}"
