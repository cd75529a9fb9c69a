"""Reasons: explanations that are free texts, such as the rationales of a language model or of people."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from faithscope.errors import WrongType
from faithscope.explanations.base import Explanations
from faithscope.inputs.alignment import labels_of, same_rows
from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import frame_columns, is_frame, to_objects
from faithscope.inputs.checks import same_length
from faithscope.inputs.documents import fold
from faithscope.inputs.grouping import group
from faithscope.inputs.labels import to_labels
from faithscope.visible import visible
from faithscope.words import several

if TYPE_CHECKING:
    from faithscope.explanations.rules import Rules

_LONGEST = 160  # characters of a text that are shown


class Reasons(Explanations):
    """One free text per row, in which somebody says why the row got its prediction.

    Two rows have the same explanation if their texts are equal once case, punctuation and white space are folded.
    Reasons in words do not say to which rows they apply, so sufficiency needs a judge who does (`Judged`). Few texts
    are ever equal: make them coarser with `Codebook`, `CommonPhrases`, `Template` or `Clusters`; or embed them with a
    model of your own and compare what is near, ``fs.within(fs.Importances(embeddings), predictions, tau)``.

    Parameters
    ----------
    texts : list of str, or a column of pandas, polars or Arrow
        The reason of each row, none missing.
    inputs : list of str, a column, or a table of columns of texts, optional
        The text that each reason is about, which `Template` blanks.

    Attributes
    ----------
    texts, folded : (n,) arrays of str
        The texts as written, and as they are compared.

    Examples
    --------
    >>> reasons = Reasons(["He is old.", "he is  OLD", "She is young."])
    >>> reasons.group()[0].tolist(), reasons.describe(1)
    ([0, 0, 1], 'he is  OLD')
    """

    texts: Array
    folded: Array
    about: Array  # the input of each row; None if there is none
    form: str = ""  # how a discretizer changed them

    _settings = ("form",)
    _per_row = ("folded", "texts", "about")

    def __init__(self, texts: Any, inputs: Any = None) -> None:
        column = to_texts(texts, "Reasons")
        about = np.full(len(column), None, object)
        if inputs is not None:
            columns = frame_columns(inputs)[1] if is_frame(inputs) else [inputs]
            read = [to_texts(column, "Inputs") for column in columns]
            about = to_objects(["\n".join(row) for row in zip(*read, strict=True)])
            same_length(reasons=len(column), inputs=len(about))
            same_rows(inputs=inputs, reasons=texts)
        self._fill(texts=column, folded=per_text(column, fold), about=about, index=labels_of(inputs, texts))

    @property
    def inputs(self) -> Array | None:
        """The text that each reason is about; None if none were given."""
        return None if all(item is None for item in self.about) else self.about

    @property
    def kind(self) -> str:
        return "reasons in words" + (f" by {self.form}" if self.form else "")

    @property
    def notes(self) -> tuple[str, ...]:
        empty = int(sum(not text for text in self.folded))
        told = (f"{several(empty, 'reason is', 'reasons are')} empty, which is one explanation",) if empty else ()
        return self.remarks + told

    def to_rules(self, features: Any = None, *, unreadable: str = "error") -> "Rules":
        """The conditions that reasons hold as JSON, as rules, of which sufficiency can be measured.

        A reason holds ``{"feature": "age", "op": "<=", "value": 37}``, a list of such objects, or an object with one
        such list, such as ``{"answer": "no", "reasons": [...]}``; alone, in a fence, or with words around it. All
        conditions of a reason must hold. Operators may be written as ``≥``, ``gte``, ``at least``, ``is``, ``one of``,
        ``between``. A missing value meets no condition, not even ``!=``. Anything else is refused.

        Parameters
        ----------
        features : sequence of names, or a table of the rows, optional
            The names of the columns in order, as in `Rules.from_conditions`. Of a table, values are read as its
            columns hold them: "37" is a number if the column holds numbers. Whatever was changed is told in a note.
        unreadable : {"error", "uncovered"}
            Reasons that hold no conditions, unknown operators or unknown features: an error with their number, or
            rules that cover no row, which are told in a note: sufficiency cannot check them, and for consistency they
            are one explanation.

        Examples
        --------
        >>> reasons = Reasons(['{"feature": "age", "op": ">=", "value": 60}', 'Since [{"feature": "job", "op": "is",'
        ...                    ' "value": "clerk"}, {"feature": "age", "op": "below", "value": 30}].'])
        >>> rules = reasons.to_rules()
        >>> rules.describe(0), rules.describe(1)
        ('age >= 60', 'age < 30 and job == clerk')
        """
        from faithscope.explanations.rule_json import structured_rules

        return structured_rules(self.texts, features, unreadable)._with(index=self.index)

    def describe(self, row: int) -> str:
        return shown(self.texts[row])

    def item(self, row: int) -> Any:
        return self.texts[row]


def to_texts(values: Any, what: str) -> Array:
    """One text per row, none missing: an array of Python's own str."""
    column = to_labels(values, what)
    odd = next((row for row, item in enumerate(column) if not isinstance(item, str)), None)
    if odd is not None:
        raise WrongType(
            f"{what} must be texts; row {odd} is {type(column[odd]).__name__} ({column[odd]!r}): pass one str per row."
        )
    return to_objects([item if type(item) is str else str.__str__(item) for item in column])


def per_text(column: Array, work: Callable[[str], Any]) -> Array:
    """What a function makes of each text, asked once about texts that are equal."""
    codes, first = group([column])
    return to_objects([work(text) for text in column[first]])[codes]


def shown(text: str) -> str:
    """The text as it is shown: its beginning, control characters visible, quoted if there is nothing to see."""
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return visible(cut) if cut.strip() else repr(cut)
