"""Wanted: what a caller asks of a reader, checked once: the class, the number of words, the features in their order."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.importances import OWN_CLASSES, Importances, side_by_side
from faithscope.inputs.array_types import Array, Names
from faithscope.inputs.arrays import to_items
from faithscope.inputs.checks import check_whole
from faithscope.inputs.columns import default_names
from faithscope.words import hint

ClassIndex = int | Literal["predicted"] | None
_PREDICTED = "fs.read(explanations, class_index='predicted')"


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
    own : str
        How the caller takes the rows' own class out of values of several.
    """

    class_index: ClassIndex = None
    top: int | None = None
    features: Names | None = None
    own: str = "values[np.arange(len(values)), ..., predicted]"

    @classmethod
    def of(cls, class_index: Any, top: Any, features: Any) -> "Wanted":
        """What a caller handed over, after checking it."""
        if class_index is not None and not (isinstance(class_index, str) and class_index == "predicted"):
            class_index = check_whole(class_index, "class_index", 0)
        names = None if features is None else tuple(map(str, to_items(features, "features")))
        if names is not None and len(set(names)) < len(names):
            raise BadInput(f"features names {max(names, key=names.count)!r} twice: give each feature once.")
        return cls(class_index, None if top is None else check_whole(top, "top"), names)

    def refuse(self, why: str, *options: str) -> None:
        """Raise if one of these options, or any at all, was asked of explanations that have no such choice."""
        for option in options or ("class_index", "top", "features"):
            if (value := getattr(self, option)) is not None:
                raise BadInput(f"{option}={value!r} does not apply, since {why}: leave it out.")

    def importances(self, values: Any, names: Sequence[str] | None = None, *remarks: str, **known: Any) -> Importances:
        """Importances of the features that the caller asks for, in that order.

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
        return self.ordered(Importances(values, names))._with(remarks=remarks, **known)

    def ordered(self, given: Importances) -> Importances:
        """These importances with the features that the caller asks for, in that order."""
        why = (
            f"these are importances of features, of which discretizer=fs.SignOfTop({self.top}) keeps some in a measure"
        )
        self.refuse(why, "top")
        if self.features is None:
            return given
        places, names = self._places(given.values.shape[1], given.names)
        shape = given.shape if given.names in (None, names) else None  # some regions are no map
        return given._reordered(places)._with(names=names, shape=shape)

    def of_classes(
        self,
        values: Array,
        names: Sequence[str] | None = None,
        titles: Sequence[Any] | None = None,
        outputs: Array | None = None,
        *remarks: str,
        many: int = 0,
    ) -> Importances:
        """The importances of the classes wanted.

        Parameters
        ----------
        values : (n, features, classes) array
        names, titles : sequence, optional
            The features and the classes, as the library names them.
        outputs : (n, classes) array, optional
            What the model says of each class, if that is known: the largest is the predicted one.
        *remarks : str
        many : int
            How many classes the model has, if these may be some of them.
        """
        if _are_interactions(values):
            raise BadInput(
                f"Importances have shape {values.shape}, symmetric, as interactions of features are (shap): sum them "
                "first, explanations.values.sum(axis=2)."
            )
        places, names = self._places(values.shape[1], names)  # before classes stand one after the other
        values = values[:, places]
        rows, features, classes = values.shape
        titles = range(classes) if titles is None else titles
        left = replace(self, features=None)
        if self.class_index == "predicted" and outputs is not None:
            return left.importances(values[np.arange(rows), :, outputs.argmax(axis=1)], names, *remarks, OWN_CLASSES)
        if self.class_index is None and max(classes, many) > 2:
            crossed = [f"{name} | class {title}" for title in titles for name in names or default_names(features)]
            flat = values.transpose(0, 2, 1).reshape(rows, -1)
            return left.importances(flat, crossed, *remarks, side_by_side(classes, _PREDICTED))
        place = self.position(classes)
        told = (f"importances are those of class {titles[place]}",) if self.class_index is None and classes == 2 else ()
        return left.importances(values[:, :, place], names, *remarks, *told, label=label_named(titles[place]))

    def of_maps(self, values: Array) -> Importances:
        """The importances of maps with two axes and channels, (n, ...), or of the class wanted of several, last."""
        if values.ndim > 4:
            return self.importances(values[..., self.position(values.shape[-1])])
        self.refuse("these are maps of one class", "class_index")
        return self.importances(values)

    def position(self, classes: int) -> int:
        """The position of the class wanted of so many: by default class 1 of two; raises if there are more."""
        index = self.class_index
        if index == "predicted":
            raise BadInput(
                "class_index='predicted' needs the predictions, which are not part of these explanations: take the "
                f"rows' own, {self.own}, as an array."
            )
        if index is None and classes <= 2:
            return classes - 1
        if index is None or index >= classes:
            raise BadInput(
                f"Explanations are of {classes} classes: choose one, class_index=0 to {classes - 1}; got {index!r}."
            )
        return index

    def of_one(
        self, values: Any, names: Sequence[str] | None = None, *remarks: str, label: str | None = None
    ) -> Importances:
        """One number per feature as that of the class wanted of two: class 0 turns the sign."""
        read = self.importances(values, names, *remarks, label=label)
        if self.class_index is None:
            return read
        if self.class_index not in (0, 1):
            self.refuse("there is one number per feature, of one class or of class 1 of two", "class_index")
        how, turned = ("as they are", read.values) if self.class_index else ("with the other sign", 0 - read.values)
        told = f"importances were taken for those of class 1 of two, and read {how} for class {self.class_index}"
        return read._with(values=turned, remarks=(*remarks, told))

    def _places(self, width: int, names: Sequence[str] | None) -> tuple[Any, Names | None]:
        """Where the features are that the caller asks for, among so many columns, and their names."""
        wanted = self.features
        if wanted is None:
            return slice(None), None if names is None else tuple(names)
        if names is None:
            if width != len(wanted):
                raise BadInput(
                    f"features= has {len(wanted)} names, but importances have {width} columns: name each "
                    "one. If they are several classes with a bias each (LightGBM), choose one, class_index=1."
                )
            return slice(None), wanted
        places = {name: place for place, name in enumerate(names)}
        missing = next((name for name in wanted if name not in places), None)
        if missing is not None:
            raise BadInput(f"features= names {missing!r}, which these importances lack. {hint(missing, names)}")
        if len(places) < len(names):
            raise BadInput("Several columns of these importances have one name: rename them before choosing by name.")
        return [places[name] for name in wanted], wanted


def common_names(library: str, named: Iterable[Iterable[Any] | None]) -> Names | None:
    """The features that all rows name, as far as they have names; raises if some name others, or in another order."""
    different = {tuple(names) for names in named if names is not None}  # few, whatever the number of rows
    known = {tuple(map(str, names)) for names in different}
    if len(known) > 1:
        raise BadInput(
            f"Explanations of {library} have different features, or in another order: explain all rows with the same "
            "columns."
        )
    return next(iter(known), None)


def label_named(title: Any) -> str | None:
    """The label that a library names; None for a number, or a word with a number, which name only its place."""
    return None if not isinstance(title, str) or re.fullmatch(r"(\w+ )?\d+", title.strip()) else title


def _are_interactions(values: Array) -> bool:
    """Whether each row is a symmetric matrix, as shap's interactions of every two features are."""
    if values.ndim < 3 or not values.shape[1] == values.shape[2] > 1 or values.dtype.kind != "f":
        return False
    return np.allclose(values, values.swapaxes(1, 2)) and not (values == values[:, :1, :1]).all()
