"""Types of the arrays that explainers compute with."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.integer[Any]]  # whole numbers of any size that stand for bins, places or conditions
