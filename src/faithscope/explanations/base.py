"""Explanations, one per row, and what makes two of them equal."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from faithscope.errors import Incompatible
from faithscope.inputs.alignment import index_of, joined, taken
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.chunks import rows_at
from faithscope.inputs.grouping import Column, group, locate
from faithscope.runtime.memory import FEWER_ROWS, need
from faithscope.visible import visible


class Explanations(ABC):
    """One explanation per row.

    A kind says how one explanation reads (`describe`), and what it is made of; the rest follows. `_per_row` names the
    attributes that hold one entry per row, `_compared` those of them by which explanations are equal, if these are not
    the first alone, `_settings` those that all rows share and that a table keeps, and `_alike` in words what must not
    differ between explanations that are compared, if both know it.

    Attributes
    ----------
    index : pandas.Index or None
        The row labels of the table they were made from; None if it had none.
    remarks : tuple of str
        How they were read from another library's object, for a reader of the result.
    claimed : (n,) structured array or None
        What the explainer itself says of each explanation, such as its "precision" and "coverage".
    claim : str
        The note on what is claimed, in which ``{precision}`` stands for its mean; empty if there is none.

    Examples
    --------
    >>> from faithscope import Highlights
    >>> explanations = Highlights([{"great"}, {"dull", "plot"}, {"great"}])
    >>> len(explanations), explanations.take([0, 2])
    (3, <2 explanations: highlighted words>)
    """

    index: Any = None
    remarks: tuple[str, ...] = ()
    claimed: Array | None = None
    claim: str = ""

    _per_row: ClassVar[tuple[str, ...]]
    _compared: ClassVar[tuple[str, ...]] = ()
    _settings: ClassVar[tuple[str, ...]] = ()
    _alike: ClassVar[tuple[tuple[str, str], ...]] = ()

    @property
    def key(self) -> tuple[Column, ...]:
        """The columns by which explanations are compared: two rows are equal if they are equal in all of them.

        Each column is an array ``(n, w)`` of numbers, or ``(n,)`` of hashable objects.
        """
        return tuple(_to_column(getattr(self, name)) for name in self._compared or self._per_row[:1])

    @property
    @abstractmethod
    def kind(self) -> str:
        """The kind in words; explanations of different kinds are never compared."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know about these explanations, whatever is measured on them."""
        if self.claimed is None or not self.claim or not len(self.claimed):
            return self.remarks
        note = self.claim
        for name in self.claimed.dtype.names or ():
            note = note.replace(f"{{{name}}}", f"{self.claimed[name].mean():.2f}")
        return (*self.remarks, note)

    @abstractmethod
    def describe(self, row: int) -> str:
        """The text of one row's explanation; what comes from data is `visible`."""

    def item(self, row: int) -> Any:
        """The explanation of one row as a plain value, for a caller's own relation."""
        return getattr(self, self._per_row[0])[row]

    @property
    def scope_key(self) -> tuple[Column, ...]:
        """The columns by which scopes are compared; different from `key` for counterfactuals."""
        return self.key

    def __len__(self) -> int:
        return len(getattr(self, self._per_row[0]))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Explanations do not change: make others in place of setting {name}.")

    def __repr__(self) -> str:
        return f"<{len(self):,} explanations: {visible(self.kind)}>"

    def take(self, rows: Array | Sequence[int] | slice) -> Self:
        """The explanations of some rows, by position or by a mask."""
        chosen = rows if isinstance(rows, slice) else np.asarray(rows, None if len(rows) else np.int64)
        if not isinstance(chosen, slice):
            self._need_rows(int(np.count_nonzero(chosen)) if chosen.dtype == bool else len(chosen))
        columns = {name: rows_at(getattr(self, name), chosen) for name in self._per_row}
        claimed = None if self.claimed is None else self.claimed[chosen]
        return self._with(**columns, index=taken(self.index, chosen), claimed=claimed)

    def join(self, other: Self) -> Self:
        """These explanations, then the other ones."""
        first, second = self._aligned(other)
        first._need_rows(len(first) + len(second))
        columns = {name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in self._per_row}
        claims = [each.claimed for each in (first, second) if each.claimed is not None]
        alike = len(claims) == 2 and claims[0].dtype == claims[1].dtype
        return first._with(
            **columns,
            index=joined(self.index, other.index),
            remarks=tuple(dict.fromkeys([*self.remarks, *other.remarks])),
            claimed=np.concatenate(claims) if alike else None,
            claim=self.claim if self.claim == other.claim else "",
        )

    def group(self) -> tuple[Ints, Ints]:
        """Number the rows by explanation, exactly: the number of each row, and the first row with each number."""
        return group(self.key)

    def locate(self, wanted: "Explanations") -> Ints:
        """The position of each wanted explanation among these distinct ones; -1 if it is not among them."""
        first, second = self._aligned(wanted)
        return locate(first.key, second.key)

    def _aligned(self, other: Any) -> tuple[Self, Any]:
        """Both in one representation, in which equal ones have equal keys; raises if none can ever be equal."""
        self.check_comparable(other)
        return self, other

    def check_comparable(self, other: "Explanations") -> None:
        """Raise if the other explanations can never equal these: of another kind, or of other settings."""
        if self._form() != other._form():
            raise Incompatible(
                f"These explanations are {self.kind}, the others are {other.kind}, so no two can be equal. "
                "Use one explainer and one discretizer for both."
            )
        for name, words in self._alike:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine is not None and theirs is not None and mine != theirs:
                pairs = zip(mine, theirs, strict=False) if isinstance(mine, tuple) else ()
                told = next((f", {a!r} in one and {b!r} in the other" for a, b in pairs if a != b), "")
                raise Incompatible(f"These explanations have different {words}{told}: pass the same for both.")

    def _form(self) -> Any:
        """What must be equal if explanations are to be compared."""
        return self.kind

    def _need_rows(self, rows: int) -> None:
        """Raise if a copy of so many rows of these explanations does not fit in memory."""
        size = rows * sum(getattr(self, name)[:1].nbytes for name in self._per_row)
        need(size, f"{rows:,} explanations", FEWER_ROWS)

    def _labelled(self, table: Any) -> Self:
        """These explanations with the row labels of a table, if it has any."""
        index = index_of(table)
        return self if index is None else self._with(index=index)

    @classmethod
    def _of(cls, **attributes: Any) -> Self:
        """Explanations of what they are made of, checked before."""
        return cls.__new__(cls)._with(**attributes)

    def _with(self, **changes: Any) -> Self:
        """A copy with some attributes replaced, not checked again."""
        clone = copy.copy(self)
        clone._fill(**changes)
        return clone

    def _fill(self, **attributes: Any) -> None:
        """Set what a kind is made of; only where it is made."""
        for name, value in attributes.items():
            object.__setattr__(self, name, value)


def _to_column(values: Array) -> Column:
    """What a kind holds as a column that `group` takes: rows of objects as tuples, single numbers as rows of one."""
    if values.ndim == 1:
        return values if values.dtype == object else values[:, None]
    return values if values.dtype != object else to_objects(list(map(tuple, values.tolist())))


def join_all(parts: Sequence[Explanations]) -> Explanations:
    """All explanations, one part after the other; halves are joined first, so that none is copied for every part."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return join_all(parts[:half]).join(join_all(parts[half:]))


def claims(columns: Mapping[str, Sequence[float] | Floats]) -> Array:
    """Numbers that an explainer says of its own explanations, by name: one structured row per explanation."""
    arrays = [np.asarray(column, np.float64) for column in columns.values()]
    return np.asarray(np.rec.fromarrays(arrays, dtype=[(name, np.float64) for name in columns]))


def members(item: Any) -> list[Any] | None:
    """What a list, a set or an array holds; None of anything else, such as a text."""
    single = isinstance(item, str | bytes | Mapping) or getattr(item, "shape", None) == ()
    return None if single or not hasattr(item, "__iter__") else list(item)
