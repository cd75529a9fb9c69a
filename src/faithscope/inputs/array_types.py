"""Arrays by what they hold, and names of features, as annotations have them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.integer[Any]]  # whole numbers of any size that stand for bins, places or conditions
Names = tuple[str, ...]  # of features or columns, in their order
