"""Wanted: what a caller asks of a reader, checked once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.importances import Importances
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
    features: tuple[str, ...] | None = None

    @classmethod
    def of(cls, class_index: Any, top: Any, features: Any) -> "Wanted":
        """What a caller handed over, after checking it."""
        if class_index is not None and not (isinstance(class_index, str) and class_index == "predicted"):
            class_index = check_whole(class_index, "class_index", 0)
        return cls(class_index, None if top is None else check_whole(top, "top"), _to_features(features))

    @property
    def tokens(self) -> int:
        """How many tokens of a text are highlighted."""
        return TOP if self.top is None else self.top

    def refuse_class(self, why: str) -> None:
        """Raise if a class was chosen of explanations that have no choice of classes."""
        if self.class_index is not None:
            raise BadInput(f"class_index={self.class_index!r} chooses among classes, but {why}: leave it out.")

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
        given = Importances(values, names if names is not None or not _fits(values, self.features) else self.features)
        return self.ordered(given)._with(remarks=remarks, **known)

    def per_class(self, values: NDArray[Any], names: Sequence[str] | None) -> "tuple[NDArray[Any], Any, Wanted]":
        """An array (n, features, classes) in the order of the features asked for, their names, and what is left to ask.

        Features are chosen before classes are put one after the other, which gives them longer names.
        """
        left = replace(self, features=None)
        if self.features is None:
            return values, names, left
        if names is None:
            if values.shape[1] != len(self.features):
                raise BadInput(self._too_few(values.shape[1]))
            return values, self.features, left
        return values[:, _places(names, self.features)], self.features, left

    def _too_few(self, columns: int) -> str:
        many = 0 if self.features is None else len(self.features)
        classes, rest = divmod(columns, many + 1)
        hint = (
            f": if they are {classes} classes with a bias each (LightGBM), choose one, class_index=1"
            if classes > 1 and not rest
            else ""
        )
        return f"features= has {many} names, but importances have {columns} columns{hint}."

    def ordered(self, given: Importances) -> Importances:
        """These importances with the features that the caller asks for, in that order."""
        if self.features is None or given.names == self.features:
            return given
        width = given.values.shape[1]
        if given.names is None:
            raise BadInput(self._too_few(width))
        return given._with(values=given.values[:, _places(given.names, self.features)], names=self.features)


def _fits(values: Any, features: tuple[str, ...] | None) -> bool:
    """Whether these are nameless columns, one per feature."""
    shape = tuple(getattr(values, "shape", ()))
    return features is not None and len(shape) == 2 and shape[1] == len(features) and not hasattr(values, "columns")


def _places(names: Sequence[str], wanted: Sequence[str]) -> NDArray[np.int64]:
    if len(set(names)) < len(names):
        raise BadInput(
            f"Two columns of these importances are named {_repeated(names)!r}: rename one before choosing by name."
        )
    places = {name: place for place, name in enumerate(names)}
    missing = [name for name in wanted if name not in places]
    if missing:
        raise BadInput(f"features= names {missing[0]!r}, which these importances lack. {hint(missing[0], names)}")
    return np.array([places[name] for name in wanted], np.int64)


def _repeated(names: Sequence[str]) -> str:
    return next(name for place, name in enumerate(names) if name in names[:place])


def _to_features(features: Any) -> tuple[str, ...] | None:
    if features is None:
        return None
    names = tuple(map(str, to_items(features, "features")))
    if len(set(names)) < len(names):
        raise BadInput(f"features names {_repeated(names)!r} twice: give each feature once.")
    return names
