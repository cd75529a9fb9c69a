"""Numbers as labels: the distinct ones in order, and the position of each row's number among them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.chunks import rows_at, sort_in_place

_MAGNITUDE = np.int64(2**63 - 1)


class NumberLabels(Sequence[Any]):
    """The distinct predictions, if they are numbers: a tuple of floats that is kept as an array.

    Examples
    --------
    >>> labels = NumberLabels(np.array([0.5, 2.0]))
    >>> labels[1], labels == (0.5, 2.0), labels
    (2.0, True, (0.5, 2.0))
    """

    def __init__(self, values: Floats) -> None:
        self._values = values.copy()
        self._values.flags.writeable = False

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, place: Any) -> Any:
        chosen = self._values[place].tolist()
        return tuple(chosen) if isinstance(place, slice) else chosen

    def __iter__(self) -> Iterator[float]:
        return iter(self._values.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self._values, dtype, copy=True) if copy else np.asarray(self._values, dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def number_floats(numbers: Array) -> tuple[Floats, Ints]:
    """The distinct numbers, ascending, and the position of each row's number among them; -0.0 is 0.0.

    Examples
    --------
    >>> number_floats(np.array([2.5, -1.0, 2.5]))
    (array([-1. ,  2.5]), array([1, 0, 1]))
    """
    numbers = numbers + numbers.dtype.type(0)
    order = _ascending(numbers)
    ordered = rows_at(numbers, order)
    fresh = np.empty(len(numbers), bool)
    fresh[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    place = np.empty(len(numbers), np.int64)
    place[order] = np.cumsum(fresh) - 1
    return ordered[fresh], place


def _ascending(numbers: Array) -> Ints:
    """The order in which numbers ascend.

    Integers are sorted faster than positions are: the leading bits of each number, which ascend with it, and then its
    row. What the bits that were cut off would change is put right after, among numbers that are nearly in order.
    """
    if numbers.dtype.itemsize > 8:
        return np.argsort(numbers)
    bits = numbers.astype(np.float64, copy=False).view(np.int64)
    keys = bits ^ ((bits >> np.int64(63)) & _MAGNITUDE)  # of negative numbers, the larger magnitude is less
    rows = len(numbers)
    mask = np.int64(2 ** rows.bit_length() - 1)
    keys &= ~mask
    keys |= np.arange(rows)
    sort_in_place(keys)
    keys &= mask
    ordered = rows_at(numbers, keys)
    if (ordered[1:] < ordered[:-1]).any():
        return keys[np.argsort(ordered, kind="stable")]
    return keys
