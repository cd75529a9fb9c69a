"""ReasonCodes: the features that count most against the favorable label, as notices of adverse action name them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from faithscope.discretizers.importances import OfImportances
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.forms import CODES, NAMED_SIGNS, ORDERED_CODES, SIGNS, in_blocks
from faithscope.explanations.importances import OWN_CLASSES, Importances
from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.checks import check_flag, check_whole
from faithscope.notes import Note

_CLEAR = 0.9  # probability that a row predicted so has the larger sum of importances, from which they speak of a label
_OF_CLASS = re.compile(r" \| (?:class|output) ")
_FEWEST = 5  # rows predicted so, and otherwise, that can show it


@dataclass(frozen=True, repr=False)
class ReasonCodes(OfImportances):
    """The ``k`` features with the most negative importances of the favorable label: 1 for them, 0 for the others.

    Importances must speak of the favorable label, such as "approved", in every row, whatever is predicted for it: a
    negative number then counts against the row. A feature of importance 0 or more is never a reason, so a row may have
    fewer than ``k``, or none. Among equal importances the earlier feature is kept. Their order does not count, unless
    ``ordered=True``.

    Parameters
    ----------
    k : int
        At least 1; notices of adverse action usually name up to four reasons.
    against : str, number or bool, optional
        The favorable label, which is kept in every result. Importances that say they speak of another label are
        refused; if they do not say it, predictions show it, since importances of a label add up to more where it is
        predicted; a note tells if that is unclear, or if reasons seem reversed. Without it, a note asks for it.
    ordered : bool
        Whether the order counts: 1 for the most negative importance, 2 for the next, and so on.

    Examples
    --------
    >>> from faithscope import Importances
    >>> importances = Importances([[-0.1, 0.4, -0.3], [0.2, 0.1, 0.0]], names=["age", "job", "capital-gain"])
    >>> codes = ReasonCodes(4, against="approved")(importances)
    >>> codes.describe(0), codes.describe(1)
    ('age, capital-gain', 'no negative importance')
    >>> ReasonCodes(4, ordered=True)(importances).describe(0)
    'capital-gain, age'
    """

    k: int = 4
    against: str | float | bool | None = None
    ordered: bool = False

    orders_features = True

    def __post_init__(self) -> None:
        k = check_whole(self.k, "ReasonCodes' k, the number of reasons it keeps,")
        against = self.against.item() if isinstance(self.against, np.generic) else self.against
        if against is not None and not isinstance(against, str | int | float):
            raise WrongType(
                "against is the favorable label that importances speak of, such as 'approved', a text or a number; got "
                f"{against!r}."
            )
        self._fill(k=k, against=against, ordered=check_flag(self.ordered, "ordered"))
        self._fill(leaves=ORDERED_CODES if self.ordered else CODES)

    def __repr__(self) -> str:
        label = "" if self.against is None else f", against={self.against!r}"
        return f"ReasonCodes(k={self.k}{label}{', ordered=True' if self.ordered else ''})"

    def _coarser(self, importances: Importances) -> Importances:
        self._refuse(importances)
        places = most_negative(importances.values, self.k)
        codes = places if self.ordered else (places > 0).astype(np.int8)
        return self._made(importances, codes, remarks=(*importances.remarks, *self._facing(importances.label)))

    def _facing(self, label: str | None, shown: Any = None) -> tuple[str, ...]:
        """A note unless these are surely reasons against the favorable label.

        Parameters
        ----------
        label : str or None
            What the importances say they speak of.
        shown : label, optional
            What they speak of by their sums (`spoken_of`), if they do not say it.
        """
        seem = "the importances seem to speak of, since they add up to more where it is predicted"
        known, why = (shown, seem) if label is None else (label, "the importances speak of")
        if self.against is None:
            favorable = "approved" if known is None else known
            call = f"ReasonCodes({self.k}, against={favorable!r}{', ordered=True' if self.ordered else ''})"
            word = f"{'ordered-' if self.ordered else ''}reason-codes-{self.k}-against-{favorable}"
            fact = f"reason codes count against {known!r}, which {why}"
            advice = f"if it is the favorable label, say so, {call}; if not, the reasons are reversed"
            if known is None:
                fact = "nothing says which label the importances speak of, and reason codes count against it"
                advice = f"name the favorable label, such as {call}"
            return (Note(fact, option=(call, f"--discretize {word}"), advice=advice),)
        if known is not None and _plain(known) == _plain(self.against):
            return ()
        told = f"reason codes are against label {self.against!r}"
        if label is None and known is not None and self._is_other(known):
            turned = "if so, the reasons are reversed, and fs.read(explanations, class_index=0) turns them"
            return (f"{told}, not {known!r}, which {seem}: {turned}",)
        return (f"{told}: nothing says that the importances speak of it",)

    def _faced(self, coarse: Explanations, importances: Importances, names: Sequence[Any], place: Any) -> Explanations:
        """The same codes with a note that knows what is predicted for each row, if nothing else says what they are of.

        Parameters
        ----------
        coarse : Explanations
            The codes, perhaps of another discretizer in between.
        importances : Importances
            What they were made of.
        names, place
            The labels predicted, and the position of each row's among them; no labels if predictions are numbers.
        """
        blind = self._facing(coarse.label) if isinstance(coarse, Importances) else ()
        if not blind or importances.label is not None or importances.form:
            return coarse
        told = self._facing(None, spoken_of(importances.values, names, place)) if len(names) else ()
        rest = tuple(remark for remark in coarse.remarks if remark not in blind)
        return coarse._with(remarks=(*rest, *told))

    def _is_other(self, label: str | None) -> bool:
        """Whether a label is surely not the favorable one: 1 may be what a model calls "approved"."""
        known, favorable = _plain(label), _plain(self.against)
        return None not in (known, favorable) and known != favorable and type(known) is type(favorable)

    def _refuse(self, importances: Importances) -> None:
        """Raise if importances cannot be numbers of the favorable label."""
        if importances.left not in ("", SIGNS, NAMED_SIGNS):
            raise BadInput(
                f"{self!r} reads signed importances, and {importances.form} left only which features they are: "
                "discretize once, from the importances themselves."
            )
        of_several = importances.names and all(_OF_CLASS.search(name) for name in importances.names)
        if of_several or OWN_CLASSES in importances.remarks:
            raise BadInput(
                f"{self!r} reads importances of one label, the favorable one, in all rows; here "
                f"{'several stand one after the other' if of_several else OWN_CLASSES}: explain one class, such as "
                "class_index=1."
            )
        if self._is_other(importances.label):
            raise BadInput(
                f"{self!r} reads importances of label {self.against!r}; these speak of {importances.label!r}: explain "
                "that label, with its class_index, or name the favorable label that they speak of."
            )


def spoken_of(values: Array, names: Sequence[Any], place: Ints) -> Any:
    """The label that importances speak of, by rows: they add up to more where it is predicted; None if it is unclear.

    SHAP values add up to the output for their label, so that of two labels the one predicted for the larger sums is
    it. The probability that a row predicted so has a larger sum than one predicted otherwise must reach 0.9.

    Examples
    --------
    >>> predicted = np.array([0, 1] * 5)
    >>> spoken_of(np.array([[-0.4, 0.1], [0.3, 0.2]] * 5), ["denied", "approved"], predicted)
    'approved'
    """
    from scipy.stats import rankdata

    rows = np.bincount(place, minlength=len(names))
    ranks = np.bincount(place, rankdata(values.sum(axis=1)), len(names))
    others = len(place) - rows
    enough = (rows >= _FEWEST) & (others >= _FEWEST)
    above = (ranks - rows * (rows + 1) / 2) / np.maximum(rows * others, 1)
    best = int(np.argmax(np.where(enough, above, 0.0)))
    return names[best] if enough[best] and above[best] >= _CLEAR else None


def _plain(label: Any) -> str | float | None:
    """A label as a number if it spells one, so that 1 and "1.0" are equal; else as a text."""
    text = None if label is None else str(label)
    try:
        return text if text is None or isnan(number := float(text)) else number
    except ValueError:
        return text


def most_negative(values: Array, k: int) -> Array:
    """The place of each value among the k most negative of its row, from 1, the earlier of equal ones; 0 for others."""
    most = min(k, values.shape[1])
    places = np.zeros(values.shape, np.min_scalar_type(-most - 2))  # the largest number means missing in engines
    for block in in_blocks(values):
        order = np.argsort(values[block], axis=1, kind="stable")[:, :most]
        reasons = np.take_along_axis(values[block], order, axis=1) < 0
        np.put_along_axis(places[block], order, reasons * np.arange(1, most + 1, dtype=places.dtype), axis=1)
    return places
