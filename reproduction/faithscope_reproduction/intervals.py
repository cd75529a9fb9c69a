"""The interval of the numbers of this reproduction: the jackknife about all silence, as its page was computed with.

faithscope's default is narrower; what the page says of "in range" and of claims was decided by this one.
"""

import warnings
from typing import Any

JACKKNIFE: Any = "jackknife"
warnings.filterwarnings("ignore", message="interval='jackknife' is an old word", category=FutureWarning)
