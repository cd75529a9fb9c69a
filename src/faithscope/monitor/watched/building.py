"""A monitor's record from what it has counted: cells of two periods."""

from collections.abc import Sequence

import numpy as np

from faithscope.monitor.periods import TwoPeriods
from faithscope.monitor.watched.record import ChangedExplanation

MOST = 20  # explanations that are listed


def changed_explanations(
    periods: TwoPeriods, names: Sequence[str], labels: Sequence[str], seed: int = 0
) -> tuple[ChangedExplanation, ...]:
    """The explanations that add most to the change of agreement, losses first; told with their labels.

    Parameters
    ----------
    names, labels
        How explanations, and labels, read: by their numbers.
    """
    probabilities = periods.probabilities(seed)
    changed = np.flatnonzero(periods.parts != 0)
    largest = changed[np.argsort(-np.abs(periods.parts[changed]), kind="stable")][:MOST]
    return tuple(
        ChangedExplanation(
            names[place],
            (int(periods.given[0, place]), int(periods.given[1, place])),
            (float(periods.agreement[0, place]), float(periods.agreement[1, place])),
            float(periods.parts[place]),
            float(probabilities[place]),
            periods.label_changes(int(place), labels),
        )
        for place in sorted(largest, key=lambda place: periods.parts[place])
    )
