"""Coverage by distance, as centers, rows and radii."""

from dataclasses import dataclass
from typing import Any

from faithscope.inputs.array_types import Floats


@dataclass(frozen=True, eq=False)
class Near:
    """Centers that cover the rows within their radius: coverage by distance, on whatever device it is counted.

    Parameters
    ----------
    centers, rows : (m, d) and (n, d) arrays
    radii : (m,) array
    metric : str or callable
        By its name in SciPy, if it has one.
    open : bool
        Whether a row at the radius itself is not covered.
    """

    centers: Floats
    rows: Floats
    radii: Floats
    metric: Any
    open: bool = False
