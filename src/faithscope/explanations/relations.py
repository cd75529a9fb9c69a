"""Relations: which rows an explanation covers."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Same:
    """An explanation covers the rows that were given the same explanation: consistency.

    It partitions the rows, which is what the paper's mean-squared-error bound needs.
    """

    partitions: ClassVar[bool] = True
