"""Patterns: rows of the same rule that lie in the same scopes, whatever their labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.inputs.grouping import group
from faithscope.monitor.canonical import Digests

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RowPatterns:
    """Different patterns: the scope that rows were given, and whether they lie in each scope.

    Attributes
    ----------
    own : (p,) array
    inside : (p, n_scopes) array of bool

    Examples
    --------
    >>> patterns = RowPatterns(np.array([1]), np.array([[True, False, True]]))
    >>> patterns.texts, RowPatterns.read([1], patterns.texts, 3).inside.tolist()
    (['a0'], [[True, False, True]])
    """

    own: Ints
    inside: NDArray[np.bool_]

    @classmethod
    def of(cls, own: Ints, inside: NDArray[np.bool_]) -> tuple["RowPatterns", Ints, Ints]:
        """The patterns of rows, the number of each row's pattern, and a row of each pattern."""
        codes, first = group([own[:, None], np.packbits(inside, axis=1)])
        return cls(own[first], inside[first]), codes, first

    @classmethod
    def read(cls, own: Any, texts: list[str], scopes: int) -> "RowPatterns":
        """From what a store holds."""
        width = -(-scopes // 8)
        packed = np.frombuffer(bytes.fromhex("".join(texts)), np.uint8).reshape(len(texts), width)
        return cls(np.asarray(own, np.int64), np.unpackbits(packed, axis=1, count=scopes).astype(bool))

    @property
    def texts(self) -> list[str]:
        """The scopes in which each lies, as bits."""
        return [row.tobytes().hex() for row in np.packbits(self.inside, axis=1)]

    def digests(self) -> Digests:
        """What tells them apart in every process that has the same scopes."""
        told = zip(self.own.tolist(), self.texts, strict=True)
        return Digests.of_bytes((f"{own}:{text}".encode() for own, text in told), len(self.own))
