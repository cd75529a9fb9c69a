"""The rows of a log as engines group them: how explanations sit in its columns, and read when they come back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, ClassVar

import numpy as np

from faithscope.agreements import Agreement
from faithscope.errors import BadInput
from faithscope.explanations.arrow import read_column
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
from faithscope.inputs.array_types import Array, Floats
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.labels import to_weights
from faithscope.sample import Sample
from faithscope.tables.engines import coded, predictions_of

CLUSTER = "cluster"  # the column of clusters, if rows are clustered
KEY = "explanation, read"  # the column of keys of explanations that were read here
WEIGHT = "weight"  # the column of weights, if rows do not count alike

KINDS = ("importances", "keys", "reasons", "codes", "rules", "words", "prototypes", "counterfactuals")


Values = Sequence[Any]  # Arrow columns of key values, one entry per explanation


@dataclass(frozen=True, eq=False)
class NumberColumns:
    """Importances: one number per feature, in a column each, in one of lists, or in one of bytes.

    Attributes
    ----------
    like : Importances
        None of the rows: what all of them share.
    dtype : numpy dtype, optional
        Of the numbers, if each row is its own bytes, so that equal rows are equal blobs and nothing is ever merged:
        floats, or small whole ones, of which none is missing.
    """

    like: Importances
    dtype: np.dtype[Any] | None = None

    what: ClassVar[str] = "importances"

    @classmethod
    def of(cls, names: tuple[str, ...], width: int | None = None) -> "NumberColumns":
        """Features of these names, or so many without names."""
        return cls(Importances.made(np.empty((0, width or len(names))), None if width else names, ""))

    @property
    def width(self) -> int:
        """How many features there are."""
        return int(self.like.values.shape[1])

    @property
    def ranked(self) -> bool:
        """Whether value j is the feature of rank j."""
        return isinstance(self.like, Rankings)

    def packed(self, values: Array) -> Any:
        """One blob per row, as an Arrow array."""
        import pyarrow as pa

        assert self.dtype is not None
        rows: Array = np.ascontiguousarray(values, self.dtype)
        if self.dtype.kind == "f":
            rows = rows + 0.0  # -0.0 is 0.0
            rows[np.isnan(rows)] = np.nan  # of which there are many
        blob = pa.binary(self.dtype.itemsize * rows.shape[1])
        return pa.FixedSizeBinaryArray.from_buffers(blob, len(rows), [None, pa.py_buffer(rows)])

    def matrix(self, values: Values) -> Floats:
        """The numbers of columns, or of one of lists, with NaN for missing."""
        import pyarrow as pa

        first = values[0]
        if not pa.types.is_nested(first.type):
            columns = [column.to_numpy(zero_copy_only=False) for column in values]
            return np.ascontiguousarray(np.stack(columns).T)
        matrix = np.full((len(first), self.width), np.nan)
        try:
            numbers = first.flatten().cast(pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid as problem:
            raise BadInput(
                f"The explanation holds integers beyond 2**53, which float64 cannot tell apart: scale them ({problem})."
            ) from None
        matrix[first.is_valid().to_numpy(zero_copy_only=False)] = numbers.reshape(-1, self.width)
        return matrix

    def read(self, values: Values) -> Explanations:
        """Explanations from their values; a missing number is NaN, as nothing else says it."""
        if self.dtype is None:
            numbers = self.matrix(values) + 0.0
        else:
            blobs = b"".join(values[0].to_pylist())
            numbers = np.frombuffer(blobs, self.dtype).reshape(-1, self.width).astype(np.float64)
        return self.like._with(values=numbers.astype(np.int64) if self.ranked else numbers)


@dataclass(frozen=True)
class KeyColumns:
    """Keys: one value per row, or several if these have `names`, that are only equal or different.

    `json` says which of the columns hold JSON text; none do if it is empty.
    """

    names: tuple[str, ...] = ()
    json: tuple[bool, ...] = ()

    what: ClassVar[str] = "keys"

    def read(self, values: Values) -> Explanations:
        """Explanations from their values; a missing one reads None."""
        columns = [read_column(*column) for column in zip_longest(values, self.json, fillvalue=False)]
        if not self.names:
            return Plain._of(values=to_objects(columns[0]))
        rows = to_objects(list(zip(*columns, strict=True)))
        return Records._of(values=rows, names=self.names)


@dataclass(frozen=True)
class PairColumns:
    """Counterfactuals: a point and the row it belongs to."""

    names: tuple[str, ...]
    named: bool = True
    metric: Any = None

    what: ClassVar[str] = "counterfactuals"
    like: ClassVar[Counterfactuals] = Counterfactuals([[0.0]], [[0.0]])  # any, which says what is usual for them

    def read(self, values: Values) -> Explanations:
        """The points alone, which are what tells counterfactuals apart; counterfactuals if their rows follow."""
        if len(values) == len(self.names):
            return KeyColumns(self.names).read(values)
        import pyarrow as pa

        points, rows = (
            pa.table(list(part), list(self.names)) for part in (values[: len(self.names)], values[len(self.names) :])
        )
        return Counterfactuals(points, rows, metric=self.metric)._with(names=self.names if self.named else None)


@dataclass(frozen=True)
class SetColumn:
    """A set of words, or of indices of prototypes, as a list."""

    words: bool

    @property
    def what(self) -> str:
        """What these are."""
        return "highlighted words" if self.words else "prototypes"

    def read(self, values: Values) -> Explanations:
        """Explanations from their values; a missing list reads like an empty one."""
        rows = [items or [] for items in values[0].to_pylist()]
        return Highlights(rows) if self.words else Prototypes(to_objects(rows))


@dataclass(frozen=True)
class CodeColumns:
    """Sets of codes: in a list, in a text in which a mark separates them, or one in each of several columns."""

    separator: str | None = None

    what: ClassVar[str] = "codes"

    def read(self, values: Values) -> Explanations:
        """Explanations from their cells; a missing cell holds no code."""
        return Codes.of_cells(zip(*(column.to_pylist() for column in values), strict=True), self.separator)


@dataclass(frozen=True)
class RuleColumn:
    """Rules as text in the rule grammar, or JSON."""

    features: tuple[str, ...] | None = None
    tree: str | None = None

    what: ClassVar[str] = "rules"

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

    what: ClassVar[str] = "reasons in words"

    def read(self, values: Values) -> Explanations:
        """Reasons from their texts as written; as compared, if the log holds these; and those that they are about."""
        import pyarrow as pa

        texts, *others = values
        folded = read_column(others.pop(0), self.json[0]) if self.written else None
        about = pa.table([column.fill_null("") for column in others], [f"a{j}" for j in range(len(others))])
        reasons = Reasons(read_column(texts, self.json[1] and folded is not None), about if others else None)
        return reasons if folded is None else reasons._with(folded=to_objects(folded), form=self.form)


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
        return Plain._of(values=to_objects(items))


Kind = NumberColumns | KeyColumns | PairColumns | SetColumn | CodeColumns | RuleColumn | ReasonColumn
SPELLED = RuleColumn | CodeColumns  # kinds of which several values of key columns may be one explanation
Coarse = Kind | Numbered  # what key columns hold once explanations were discretized


def keys_of(columns: Iterable[str]) -> list[str]:
    """Those of the columns of rows that tell explanations apart: k0 …"""
    return [name for name in columns if name[0] == "k"]


def predicted(columns: Iterable[str]) -> list[str]:
    """Those of the columns of rows that hold predictions: `label`, or those of predicted numbers, y0 …"""
    return [name for name in columns if name == "label" or name[0] == "y"]


def sample_of(answer: Any, explanations: Explanations, agreement: Agreement) -> Sample:
    """The rows of an Arrow table, with their explanations, as a sample."""
    known = answer.column_names
    clusters = coded(answer, [CLUSTER])[1] if CLUSTER in known else None
    labels = predictions_of(answer, predicted(known))
    return Sample(explanations, labels, clusters=clusters, weights=weights_of(answer), agreement=agreement)


def weights_of(answer: Any) -> Floats | None:
    """The weights of rows of an Arrow table; None if all count alike."""
    return to_weights(answer.column(WEIGHT).to_pylist(), answer.num_rows) if WEIGHT in answer.column_names else None
