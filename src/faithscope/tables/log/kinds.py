"""How explanations sit in the columns of a log, and how they read when they come back."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.arrow.columns import read_column, to_objects
from faithscope.explanations.base import Explanations
from faithscope.explanations.codes import Codes
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
    span : (int, int), optional
        All values are whole numbers between these, so that several fit in one.
    decimals, bound : int and float, optional
        All values were cut off after so many decimals; none is larger in size.
    holes : bool
        Whether a value may be missing.
    order : str
        "" for importances, "features" if value j is the feature of rank j.
    shape : tuple of int, optional
        Of the map that values are regions of.
    """

    names: tuple[str, ...]
    named: bool = True
    form: str = ""
    span: tuple[int, int] | None = None
    order: Literal["", "features"] = ""
    decimals: int | None = None
    bound: float | None = None
    holes: bool = True
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
    """Counterfactuals: a point and the row it belongs to.

    `numeric` says which features are numbers, and `holes` which of them are missing somewhere.
    """

    names: tuple[str, ...]
    numeric: tuple[bool, ...]
    named: bool = True
    holes: tuple[bool, ...] = ()

    what: ClassVar[str] = "counterfactuals"

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.names)

    def read(self, values: Values) -> Explanations:
        """The points alone, which are what tells counterfactuals apart."""
        return KeyColumns(self.names, (False,) * self.width, True).read(values)


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
        """Explanations from their texts."""
        return KeyColumns(self.names, (self.json[0],), False).read(values)


@dataclass(frozen=True)
class ReasonKeys:
    """Reasons after they were discretized, as bytes: folded texts, or JSON lists of names.

    Attributes
    ----------
    form : str
        How a discretizer changed them.
    sets : bool
        Whether they are sets of names.
    as_written : function
        From folded texts to one text as written for each, to be read.
    """

    form: str
    sets: bool
    as_written: Callable[[Sequence[bytes]], Sequence[str]]
    names: tuple[str, ...] = ("reason",)

    what: ClassVar[str] = "reasons in words"
    width: ClassVar[int] = 1

    def read(self, values: Values) -> Explanations:
        """Explanations from their bytes; a missing one reads None."""
        keys = values[0].to_pylist()
        known = [key for key in keys if key is not None]
        texts = [key.decode(errors="surrogatepass") for key in known]
        if not self.sets and len(known) == len(keys):
            written = to_objects(list(self.as_written(known)))
            return Reasons.made(written, to_objects(texts), np.full(len(texts), None, object), self.form)
        items = iter([frozenset(json.loads(text)) for text in texts] if self.sets else texts)
        return Plain.__new__(Plain)._with(values=to_objects([None if key is None else next(items) for key in keys]))


Kind = NumberColumns | KeyColumns | PairColumns | SetColumn | RuleColumn | ReasonColumn | ReasonKeys
