"""Intervals drawn with letters, beside their numbers in a terminal that is wide enough."""

from faithscope.measures.estimate import Estimate

_CELLS = 21  # an odd number has a cell in the middle
SCALE = f"0{'1'.rjust(_CELLS - 1)}"


def bar(estimate: Estimate) -> str:
    """The interval from 0 to 1, with a dot for the agreement where it can be checked, and a stroke for chance.

    Examples
    --------
    >>> from faithscope import consistency
    >>> bar(consistency(["old"] * 50 + ["young"] * 50, [1] * 50 + [0] * 50))
    '··········│········━●'
    """
    cells = ["·"] * _CELLS
    for cell in range(_cell(estimate.low), _cell(estimate.high) + 1):
        cells[cell] = "━"
    if estimate.chance is not None:
        cells[_cell(estimate.chance)] = "│"
    if estimate.verified is not None:
        cells[_cell(estimate.verified)] = "●"
    return "".join(cells)


def _cell(share: float) -> int:
    return round(min(1.0, max(0.0, share)) * (_CELLS - 1))
