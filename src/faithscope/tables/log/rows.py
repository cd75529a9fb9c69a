"""The rows of a log as engines group them: how explanations sit in its columns, and read when they come back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from faithscope.agreements import Agreement
from faithscope.discretizers import Discretizer
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
from faithscope.measures.intervals.margins import check_confidence
from faithscope.tables.engine.answers import Nulls, is_missing, nan_as_null
from faithscope.tables.engine.engines import Expression, Table
from faithscope.tables.sources.source import LogSource

CLUSTER = "cluster"  # the column of clusters, if rows are clustered
KEY = "explanation, read"  # the column of keys of explanations that were read here
WEIGHT = "weight"  # the column of weights, if rows do not count alike
_NONE: Mapping[Any, Any] = MappingProxyType({})

KINDS = ("importances", "keys", "reasons", "codes", "rules", "words", "prototypes", "counterfactuals")


@dataclass(frozen=True)
class AuditOptions:
    """How a log is read and measured; `faithscope.Log` and `faithscope.audit` say what each of these is.

    `said` is the `Log`, which says what its columns mean. `features` are those of the log that this one is compared
    with, in its order; empty for the log's own. `raw` reads rows as they are, with all their inputs, to be discretized
    in memory.
    """

    said: Any
    discretizer: Discretizer
    confidence: float
    interval: str | None
    agreement: Agreement
    nulls: Nulls = "error"
    features: tuple[str, ...] = ()
    unseen: bool = False
    raw: bool = False

    def __post_init__(self) -> None:
        check_confidence(self.confidence)


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
    left: str = ""
    order: Literal["", "features"] = ""
    shape: tuple[int, ...] | None = None

    what: ClassVar[str] = "importances"

    def read(self, values: Values) -> Explanations:
        """Explanations from their values; a missing number is NaN, as nothing else says it."""
        columns = [column.to_numpy(zero_copy_only=False).astype(np.float64) + 0.0 for column in values]
        return self.of(np.column_stack(columns) if len(columns[0]) else np.empty((0, len(self.names))))

    def of(self, matrix: Array) -> Importances:
        """Explanations from their values as a matrix."""
        names = self.names if self.named else None
        if not self.order:
            return Importances.made(matrix, names, self.form, left=self.left, shape=self.shape)
        return Rankings.made(matrix.astype(np.int64), names, self.form)


@dataclass(frozen=True)
class KeyColumns:
    """Keys: one value per row, or several named ones, that are only equal or different."""

    names: tuple[str, ...]
    json: tuple[bool, ...]
    record: bool

    what: ClassVar[str] = "keys"

    def read(self, values: Values) -> Explanations:
        """Explanations from their values; a missing one reads None."""
        columns = [read_column(column, as_json) for column, as_json in zip(values, self.json, strict=True)]
        if not self.record:
            return Plain._of(values=to_objects(columns[0]))
        rows = to_objects(list(zip(*columns, strict=True)))
        return Records._of(values=rows, names=self.names)


@dataclass(frozen=True)
class PairColumns:
    """Counterfactuals: a point and the row it belongs to."""

    names: tuple[str, ...]
    named: bool = True

    what: ClassVar[str] = "counterfactuals"

    def read(self, values: Values) -> Explanations:
        """The points alone, which are what tells counterfactuals apart; counterfactuals if their rows follow."""
        if len(values) == len(self.names):
            return KeyColumns(self.names, (False,) * len(self.names), True).read(values)
        import pyarrow as pa

        points, rows = (
            pa.table(list(part), list(self.names)) for part in (values[: len(self.names)], values[len(self.names) :])
        )
        made = Counterfactuals(points, rows)
        return made if self.named else made._with(names=None)


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


@dataclass(frozen=True)
class PackedNumbers:
    """Importances of which each row is its own bytes, so that equal rows are equal blobs and nothing is ever merged.

    Attributes
    ----------
    numbers : NumberColumns
    dtype : numpy dtype
        Of the numbers: floats, or small whole ones, of which none is missing.
    """

    numbers: NumberColumns
    dtype: np.dtype[Any]

    what: ClassVar[str] = "importances"

    def packed(self, values: Array) -> Any:
        """One blob per row, as an Arrow array."""
        import pyarrow as pa

        rows: Array = np.ascontiguousarray(values, self.dtype)
        if self.dtype.kind == "f":
            rows = rows + 0.0  # -0.0 is 0.0
            rows[np.isnan(rows)] = np.nan  # of which there are many
        blob = pa.binary(self.dtype.itemsize * rows.shape[1])
        return pa.FixedSizeBinaryArray.from_buffers(blob, len(rows), [None, pa.py_buffer(rows)])

    def read(self, values: Values) -> Explanations:
        """Explanations from the blobs; NaN for a missing number."""
        joined = b"".join(values[0].to_pylist())
        matrix = np.frombuffer(joined, self.dtype).reshape(-1, len(self.numbers.names)).astype(np.float64)
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
        return Plain._of(values=to_objects(items))


Kind = NumberColumns | KeyColumns | PairColumns | SetColumn | CodeColumns | RuleColumn | ReasonColumn
SPELLED = RuleColumn | CodeColumns  # kinds of which several values of key columns may be one explanation
Coarse = Kind | PackedNumbers | Numbered  # what key columns hold once explanations were discretized


@dataclass(frozen=True, eq=False)
class Keyed:
    """Explanations that were read and discretized here, so that a column of keys stands for them.

    Attributes
    ----------
    kind : Coarse
        What the keys are.
    before : AuditedLog
        The log as it was.
    sample : Sample, optional
        The rows as they were, if all were read at once.
    settled : Discretizer, optional
        What discretized these, once it had learned from rows that are not measured.
    looked : int
        How many rows served to learn.
    notes : tuple of str
        Of the rows that are measured.
    """

    kind: Coarse
    before: "AuditedLog"
    sample: Any = None
    settled: Any = None
    looked: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class AuditedLog:
    """What of a log is audited, and how.

    Attributes
    ----------
    predictions : tuple of str
        The column of predicted labels; the columns of predicted numbers, several for `Spread` of several outputs.
    columns : tuple of str
        The columns of the explanation, as many as the kind is wide.
    originals : tuple of str
        For counterfactuals the columns of the rows they belong to.
    ids : tuple of str
        Columns that identify rows, and are never measured.
    clusters : tuple of str
        The column that says which rows belong together; empty if rows are independent.
    weights : tuple of str
        The column that says how much each row counts; empty if all count alike.
    notes : tuple of str
        How the explanation was read, if that is not plain.
    sparse : bool
        Whether a feature that an explanation does not name counts 0.
    keyed : Keyed, optional
        What stands for the explanations, if they were read here and not by the engine.
    inputs : tuple of str
        The columns of the texts that reasons are about, if they are read.
    total : int
        How many rows the log has, those with missing values included.
    weightless : int
        How many rows have weight 0.
    """

    source: LogSource
    options: AuditOptions
    predictions: tuple[str, ...]
    columns: tuple[str, ...]
    kind: Kind
    originals: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sparse: bool = False
    keyed: Keyed | None = None
    inputs: tuple[str, ...] = ()
    total: int = 0
    weightless: int = 0

    @property
    def explained(self) -> tuple[str, ...]:
        """The columns that explanations are made of, or that stand for them."""
        written = getattr(self.kind, "written", "")
        return (*self.columns, *self.originals, *([written] if written else []), KEY)

    @property
    def used(self) -> tuple[str, ...]:
        """Every column that the measure reads, and in which a value may be missing: a missing code is none."""
        read: tuple[str, ...] = ()
        if self.keyed is None:
            columns = () if isinstance(self.kind, CodeColumns) else self.columns
            read = (*columns, *self.originals, *self.inputs)
        return (*self.predictions, *read, *self.clusters, *self.weights)

    @property
    def others(self) -> tuple[str, ...]:
        """Every column that may be shown beside prediction and explanation, those that identify rows first."""
        measured = (*self.predictions, *self.explained)
        return tuple(name for name in dict.fromkeys((*self.ids, *self.source.columns)) if name not in measured)

    def rows(
        self, used: Mapping[str, str] = _NONE, shown: Mapping[str, str] = _NONE, *, whole: bool = False
    ) -> "KeyedRows":
        """The rows to be counted, with other columns of the log under new names; columns only shown may be missing.

        With all that explanations are made of, if these are read `whole`, before they are discretized.

        Rows of weight 0 count nowhere; if rows with missing values are dropped, those in which a used value is missing
        are left out.
        """
        table = self._known(self.source.table, (*self.used, *used.values()))
        if self.weights and not self.options.raw:
            weight = table[self.weights[0]]
            table = table.filter((weight != 0) | weight.isnull())
        numbers = self.options.agreement.of_numbers
        named = (
            {f"y{j}": name for j, name in enumerate(self.predictions)} if numbers else {"label": self.predictions[0]}
        )
        beside = {short: self._value(table, name, numeric=numbers) for short, name in named.items()}
        if self.clusters:
            beside[CLUSTER] = self._value(table, self.clusters[0])
        if self.weights:
            beside[WEIGHT] = self._value(table, self.weights[0], numeric=True)
        beside |= {short: self._value(table, name) for short, name in used.items()}
        beside |= {short: table[name] for short, name in shown.items()}
        if self.keyed is not None:
            return KeyedRows(table.select(**beside, k0=table[KEY]), self.keyed.kind, ("k0",), tuple(named))
        keys = self._keys(table, whole=whole or self.options.raw)
        return KeyedRows(table.select(**beside, **keys), self.kind, tuple(keys), tuple(named))

    def _known(self, table: Table, columns: Sequence[str]) -> Table:
        """The rows without those in which one of these columns is missing, if such are dropped."""
        if self.options.nulls != "drop":
            return table
        return table.filter([~is_missing(table[name]) for name in dict.fromkeys(columns)])

    def _keys(self, source: Table, *, whole: bool) -> dict[str, Expression]:
        """The columns k0 … by which explanations are told apart; or the `whole` of what they are made of."""
        if isinstance(self.kind, SetColumn):
            return {"k0": source[self.columns[0]].unique().sort()}
        numeric = isinstance(self.kind, NumberColumns | PairColumns)
        written = [self.kind.written] if isinstance(self.kind, ReasonColumn) and self.kind.written else []
        names = (*written, *self.columns, *((*self.originals, *self.inputs) if whole else ()))
        return {f"k{j}": self._value(source, name, numeric=numeric) for j, name in enumerate(names)}

    def _value(self, source: Table, name: str, *, numeric: bool = False) -> Expression:
        value = nan_as_null(source[name]) if self.options.nulls == "key" else source[name]
        is_number = value.type().is_numeric() or value.type().is_boolean()
        return value.cast("float64") if numeric and is_number else value


@dataclass(frozen=True)
class KeyedRows:
    """A table of rows with predictions, explanations, `cluster` or `weight` if there are any, and others asked for.

    Attributes
    ----------
    keys : tuple of str
        The columns that tell explanations apart: k0 …
    predicted : tuple of str
        The column `label`, or those of predicted numbers: y0 …
    """

    table: Table
    kind: Coarse
    keys: tuple[str, ...]
    predicted: tuple[str, ...]

    @property
    def clustered(self) -> bool:
        """Whether rows belong to clusters."""
        return CLUSTER in self.table.columns

    def weights(self, answer: Any) -> Floats | None:
        """The weights of an Arrow table of rows; None if all count alike."""
        if WEIGHT not in self.table.columns:
            return None
        return to_weights(answer.column(WEIGHT).to_pylist(), answer.num_rows)

    def read(self, answer: Any) -> Explanations:
        """The explanations of an Arrow table that has the key columns."""
        return self.kind.read([answer.column(key).combine_chunks() for key in self.keys])
