"""Wanted: what a caller asks of a reader, checked once; and objects of other libraries, one per row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.importances import Importances
from faithscope.inputs.array_types import Array, Ints, Names
from faithscope.inputs.arrays import to_items
from faithscope.inputs.checks import check_whole
from faithscope.inputs.hints import hint

ClassIndex = int | Literal["predicted"] | None
TOP = 5  # tokens that are highlighted if the caller does not say how many


@dataclass(frozen=True)
class Wanted:
    """What a caller asks of a reader.

    Attributes
    ----------
    class_index : int, "predicted" or None
        The class whose explanations are read.
    top : int, optional
        How many tokens of a text are highlighted.
    features : tuple of str, optional
        The features, in the order that the importances are to have.
    """

    class_index: ClassIndex = None
    top: int | None = None
    features: Names | None = None

    @classmethod
    def of(cls, class_index: Any, top: Any, features: Any) -> "Wanted":
        """What a caller handed over, after checking it."""
        if class_index is not None and not (isinstance(class_index, str) and class_index == "predicted"):
            class_index = check_whole(class_index, "class_index", 0)
        names = None if features is None else tuple(map(str, to_items(features, "features")))
        if names is not None and len(set(names)) < len(names):
            raise BadInput(f"features names {_repeated(names)!r} twice: give each feature once.")
        return cls(class_index, None if top is None else check_whole(top, "top"), names)

    def refuse_class(self, why: str) -> None:
        """Raise if a class was chosen of explanations that have no choice of classes."""
        if self.class_index is not None:
            raise BadInput(f"class_index={self.class_index!r} chooses among classes, but {why}: leave it out.")

    def refuse_top(self, what: str) -> None:
        """Raise if a number of tokens was asked of what has none."""
        if self.top is not None:
            raise BadInput(f"top= chooses tokens of a text, and these are {what}: leave it out.")

    def refuse_all(self, what: str) -> None:
        """Raise if anything was asked of explanations that are read as they are."""
        self.refuse_class(f"these are {what}")
        for name, value in {"top": self.top, "features": self.features}.items():
            if value is not None:
                raise BadInput(f"{name}= does not apply to {what}: leave it out.")

    def importances(self, values: Any, names: Sequence[str] | None = None, *remarks: str, **known: Any) -> Importances:
        """Importances of some features, in the order that the caller asks for.

        Parameters
        ----------
        values : (n, d) array
        names : sequence of str, optional
            The features as the library names them; if it does not, `features` are their names.
        *remarks : str
            How they were read, for a reader of the result.
        **known
            Further attributes of `Importances`.
        """
        if self.top is not None:
            raise BadInput(
                "top= chooses tokens of a text, and these are importances of features: leave it out, and pass "
                f"discretizer=fs.SignOfTop({self.top}) to a measure."
            )
        shape = tuple(getattr(values, "shape", ()))
        nameless = names is None and len(shape) == 2 and not hasattr(values, "columns")
        if nameless and self.features is not None and shape[1] == len(self.features):
            names = self.features
        return self.ordered(Importances(values, names))._with(remarks=remarks, **known)

    def per_class(self, values: Array, names: Sequence[str] | None) -> "tuple[Array, Any, Wanted]":
        """An array (n, features, classes) in the order of the features asked for, their names, and what is left to ask.

        Features are chosen before classes are put one after the other, which gives them longer names.
        """
        left = replace(self, features=None)
        if self.features is None:
            return values, names, left
        if names is None:
            if values.shape[1] != len(self.features):
                raise self._too_few(values.shape[1])
            return values, self.features, left
        return values[:, _places(names, self.features)], self.features, left

    def ordered(self, given: Importances) -> Importances:
        """These importances with the features that the caller asks for, in that order."""
        if self.features is None or given.names == self.features:
            return given
        if given.names is None:
            raise self._too_few(given.values.shape[1])
        return given._with(values=given.values[:, _places(given.names, self.features)], names=self.features)

    def _too_few(self, columns: int) -> BadInput:
        many = len(self.features or ())
        classes, rest = divmod(columns, many + 1)
        biased = classes > 1 and not rest
        advice = f": if they are {classes} classes with a bias each (LightGBM), choose one, class_index=1" * biased
        return BadInput(f"features= has {many} names, but importances have {columns} columns{advice}.")


def _places(names: Sequence[str], wanted: Sequence[str]) -> Ints:
    """The positions of these features among names that are all different."""
    if len(set(names)) < len(names):
        raise BadInput(
            f"Two columns of these importances are named {_repeated(names)!r}: rename one before choosing by name."
        )
    places = {name: place for place, name in enumerate(names)}
    missing = next((name for name in wanted if name not in places), None)
    if missing is not None:
        raise BadInput(f"features= names {missing!r}, which these importances lack. {hint(missing, names)}")
    return np.array([places[name] for name in wanted], np.int64)


def _repeated(names: Sequence[str]) -> str:
    return next(name for place, name in enumerate(names) if name in names[:place])


def one_per_row(thing: Any) -> list[Any]:
    """The objects of a list, a tuple or a column, one per row; none if this is no list of objects.

    Examples
    --------
    >>> one_per_row(({"age": 0.3}, {"age": 0.1})), one_per_row("text"), one_per_row(np.zeros(3))
    ([{'age': 0.3}, {'age': 0.1}], [], [])
    """
    return list(thing) if _is_list(thing) else []


def first_of(thing: Any) -> Any:
    """The first object of a list, one per row; None if this is no list of objects, or an empty one."""
    return next(iter(thing), None) if _is_list(thing) else None


def _is_list(thing: Any) -> bool:
    if isinstance(thing, list | tuple):
        return True
    return bool(getattr(thing, "dtype", None) == np.dtype("O") and np.ndim(thing) == 1)


def rows_of_objects(thing: Any, *attributes: str) -> list[Any]:
    """The objects that have all these attributes, one per row, of one object or a list; none if they have not.

    If the first of a list has them, all must.
    """

    def known(item: Any) -> bool:
        return all(hasattr(item, name) for name in attributes)

    if not known(first_of(thing) if _is_list(thing) else thing):
        return []
    rows = one_per_row(thing) or [thing]
    odd = next((row for row, item in enumerate(rows) if not known(item)), None)
    if odd is not None:
        raise BadInput(
            f"Row {odd} is a {type(rows[odd]).__name__}, but row 0 is a {type(rows[0]).__name__}: pass one kind of "
            "explanation for all rows."
        )
    return rows
