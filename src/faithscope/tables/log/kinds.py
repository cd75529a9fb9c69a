"""How explanations sit in the columns of a log, and how they read when they come back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.arrow.columns import read_column, to_objects
from faithscope.explanations.base import Explanations
from faithscope.explanations.codes import Codes
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.importances import Importances, Rankings
from faithscope.explanations.keys import Plain, Records
from faithscope.explanations.prototypes import Prototypes
from faithscope.explanations.reasons import Reasons
from faithscope.explanations.rule_text import parse_rule
from faithscope.explanations.rules import Rules

Values = Sequence[Any]  # Arrow columns of key values, one entry per explanation


@dataclass(frozen=True)
class NumberColumns:
    """Importances: one number per feature.

    Attributes
    ----------
    order : str
        "" for importances, "features" if value j is the feature of rank j.
    shape : tuple of int, optional
        Of the map that values are regions of.
    """

    names: tuple[str, ...]
    named: bool = True
    form: str = ""
    order: Literal["", "features"] = ""
    shape: tuple[int, ...] | None = None

    what: ClassVar[str] = "importances"

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.names)

    def read(self, values: Values) -> Explanations:
        """Explanations from their values; a missing number is NaN, as nothing else says it."""
        columns = [column.to_numpy(zero_copy_only=False).astype(np.float64) + 0.0 for column in values]
        return self.of(np.column_stack(columns) if len(columns[0]) else np.empty((0, self.width)))

    def of(self, matrix: NDArray[Any]) -> Importances:
        """Explanations from their values as a matrix."""
        names = self.names if self.named else None
        if not self.order:
            return Importances.made(matrix, names, self.form, shape=self.shape)
        return Rankings.made(matrix.astype(np.int64), names, self.form)


@dataclass(frozen=True)
class KeyColumns:
    """Keys: one value per row, or several named ones, that are only equal or different."""

    names: tuple[str, ...]
    json: tuple[bool, ...]
    record: bool

    what: ClassVar[str] = "keys"

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.names)

    def read(self, values: Values) -> Explanations:
        """Explanations from their values; a missing one reads None."""
        columns = [read_column(column, as_json) for column, as_json in zip(values, self.json, strict=True)]
        if not self.record:
            return Plain.__new__(Plain)._with(values=to_objects(columns[0]))
        rows = to_objects(list(zip(*columns, strict=True)))
        return Records.__new__(Records)._with(values=rows, names=self.names)


@dataclass(frozen=True)
class PairColumns:
    """Counterfactuals: a point and the row it belongs to."""

    names: tuple[str, ...]
    named: bool = True

    what: ClassVar[str] = "counterfactuals"

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.names)

    def read(self, values: Values) -> Explanations:
        """The points alone, which are what tells counterfactuals apart; counterfactuals if their rows follow."""
        if len(values) == self.width:
            return KeyColumns(self.names, (False,) * self.width, True).read(values)
        import pyarrow as pa

        points, rows = (pa.table(list(part), list(self.names)) for part in (values[: self.width], values[self.width :]))
        made = Counterfactuals(points, rows)
        return made if self.named else made._with(names=None)


@dataclass(frozen=True)
class SetColumn:
    """A set of words, of codes, or of indices of prototypes, as a list."""

    holds: Literal["words", "codes", "prototypes"]
    names: tuple[str, ...] = ("words",)

    width: ClassVar[int] = 1

    @property
    def what(self) -> str:
        """What these are."""
        return "highlighted words" if self.words else self.holds

    @property
    def words(self) -> bool:
        """Whether these are words, which apply to documents that hold them."""
        return self.holds == "words"

    def read(self, values: Values) -> Explanations:
        """Explanations from their values; a missing list reads like an empty one."""
        rows = [items or [] for items in values[0].to_pylist()]
        if self.holds == "codes":
            return Codes.made(tuple(sorted(items)) for items in rows)
        return Highlights(rows) if self.words else Prototypes(to_objects(rows))


@dataclass(frozen=True)
class RuleColumn:
    """Rules as text in the rule grammar, or JSON."""

    features: tuple[str, ...] | None = None
    tree: str | None = None
    names: tuple[str, ...] = ("rule",)

    what: ClassVar[str] = "rules"
    width: ClassVar[int] = 1

    def read(self, values: Values) -> Explanations:
        """Explanations from their texts."""
        coded = values[0].dictionary_encode()
        rules = Rules.from_conditions([parse_rule(text) for text in coded.dictionary.to_pylist()], self.features)
        if coded.indices.null_count:
            raise BadInput('A missing rule says nothing: drop such rows with nulls="drop", or write "true".')
        return rules._with(codes=rules.codes[coded.indices.to_numpy()], tree=self.tree)


@dataclass(frozen=True)
class ReasonColumn:
    """Reasons in words: a column of texts, of which a log of our own has two, as compared and as written.

    Attributes
    ----------
    written : str
        The column of the texts as written; empty if that of the explanation holds them.
    json : tuple of bool
        Which of the two columns hold JSON, as those of texts with lone surrogates do.
    form : str
        How a discretizer changed the texts before they were logged.
    """

    written: str = ""
    json: tuple[bool, ...] = (False, False)
    form: str = ""
    names: tuple[str, ...] = ("reason",)

    what: ClassVar[str] = "reasons in words"
    width: ClassVar[int] = 1

    def read(self, values: Values) -> Explanations:
        """Reasons from their texts as written; as compared, if the log holds these; and those that they are about."""
        import pyarrow as pa

        texts, *others = values
        folded = read_column(others.pop(0), self.json[0]) if self.written else None
        about = pa.table([column.fill_null("") for column in others], [f"a{j}" for j in range(len(others))])
        reasons = Reasons(read_column(texts, self.json[1] and folded is not None), about if others else None)
        return reasons if folded is None else reasons._with(folded=to_objects(folded), form=self.form)


@dataclass(frozen=True)
class PackedNumbers:
    """Importances of which each row is its own bytes, so that equal rows are equal blobs and nothing is ever merged.

    Attributes
    ----------
    numbers : NumberColumns
    dtype : numpy dtype
        Of the numbers: floats, or small whole ones; the largest that the type holds stands for missing, unless it has
        no signs, as ranks, which are never missing.
    """

    numbers: NumberColumns
    dtype: np.dtype[Any]

    what: ClassVar[str] = "importances"

    @property
    def _missing(self) -> int:
        return int(np.iinfo(self.dtype).max)

    def packed(self, values: NDArray[Any]) -> Any:
        """One blob per row, as an Arrow array."""
        import pyarrow as pa

        if self.dtype.kind != "f" and values.dtype.kind == "f":
            values = np.where(np.isnan(values), self._missing, values)
        rows: NDArray[Any] = np.ascontiguousarray(values, self.dtype)
        if self.dtype.kind == "f":
            rows = rows + 0.0  # -0.0 is 0.0
            rows[np.isnan(rows)] = np.nan  # of which there are many
        blob = pa.binary(self.dtype.itemsize * rows.shape[1])
        return pa.FixedSizeBinaryArray.from_buffers(blob, len(rows), [None, pa.py_buffer(rows)])

    def read(self, values: Values) -> Explanations:
        """Explanations from the blobs; NaN for a missing number."""
        joined = b"".join(values[0].to_pylist())
        matrix = np.frombuffer(joined, self.dtype).reshape(-1, self.numbers.width).astype(np.float64)
        if self.dtype.kind == "i":
            matrix[matrix == self._missing] = np.nan
        return self.numbers.of(matrix)


@dataclass(frozen=True, eq=False)
class Numbered:
    """Explanations that are in memory, by number."""

    explanations: Explanations
    what: str

    def read(self, values: Values) -> Explanations:
        """Explanations from their numbers; a missing one reads None."""
        if not values[0].null_count:
            return self.explanations.take(values[0].to_numpy())
        held = self.explanations.folded if isinstance(self.explanations, Reasons) else self.explanations.values  # type: ignore[attr-defined]
        items = [None if number is None else held[number] for number in values[0].to_pylist()]
        return Plain.__new__(Plain)._with(values=to_objects(items))


Kind = NumberColumns | KeyColumns | PairColumns | SetColumn | RuleColumn | ReasonColumn
Coarse = Kind | PackedNumbers | Numbered  # what key columns hold once explanations were discretized
