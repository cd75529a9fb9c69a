"""Weights: how much each row counts in the target population."""

from typing import Any

from faithscope.errors import BadInput
from faithscope.inputs.array_types import Floats
from faithscope.inputs.checks import same_length
from faithscope.inputs.labels import to_numbers

_SPAN = 1e9  # the largest weight over the smallest; beyond it their squares cancel


def to_weights(weights: Any, rows: int) -> Floats:
    """One weight per row: finite, none negative, not all zero, of comparable size."""
    mass = to_numbers(weights, "Weights")
    same_length(explanations=rows, weights=len(mass))
    if mass.min() < 0:
        row = int((mass < 0).argmax())
        raise BadInput(f"Weights must not be negative; row {row} has {mass[row]:g}: give rows that do not count 0.")
    if not mass.any():
        raise BadInput("All weights are 0, so no row is left: give the rows of the target population positive weights.")
    least, most = mass[mass > 0].min(), mass.max()
    if most / _SPAN > least or most > 1e100 or least < 1e-100:
        raise BadInput(
            f"Weights from {least:g} to {most:g} cannot be added exactly enough: divide all of them by the largest, "
            f"and keep the largest within {_SPAN:g} times the smallest that is not 0."
        )
    return mass
