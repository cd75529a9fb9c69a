"""What every discretizer is, two of them in turn, and the one that changes nothing."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from faithscope.errors import WrongType
from faithscope.explanations.base import Explanations


class Discretizer(ABC):
    """A small frozen object that coarsens explanations; ``first | second`` applies both in turn.

    Attributes
    ----------
    reads_rows : bool
        Whether it reads the row x besides its explanation e(x). If so, what is measured on the coarser explanations
        bounds nothing for the raw explainer.
    reads_maps : bool
        Whether it takes each row for a map or a series, so that axes are no classes.
    """

    reads_rows: bool = False
    reads_maps: bool = False

    @abstractmethod
    def __call__(self, explanations: Explanations) -> Explanations:
        """The same rows with coarser explanations."""

    def __or__(self, other: "Discretizer") -> "Chain":
        if not isinstance(other, Discretizer):
            raise WrongType(f"{self!r} | ... takes another discretizer, such as Sign(); got {other!r}.")
        return Chain(self, other)


@dataclass(frozen=True)
class Chain(Discretizer):
    """Two discretizers in turn, as ``first | second`` makes it.

    Examples
    --------
    >>> from faithscope import Delta, Floor
    >>> Delta() | Floor(1)
    Chain(first=Delta(), second=Floor(decimals=1))
    """

    first: Discretizer
    second: Discretizer

    @property
    def reads_rows(self) -> bool:  # type: ignore[override]
        return self.first.reads_rows or self.second.reads_rows

    @property
    def reads_maps(self) -> bool:  # type: ignore[override]
        return self.first.reads_maps or self.second.reads_maps

    def __call__(self, explanations: Explanations) -> Explanations:
        return self.second(self.first(explanations))


@dataclass(frozen=True)
class Original(Discretizer):
    """The explanations as they are; the paper's "Original".

    Examples
    --------
    >>> from faithscope import Importances
    >>> explanations = Importances([[0.5, -0.1]])
    >>> Original()(explanations) is explanations
    True
    """

    def __call__(self, explanations: Explanations) -> Explanations:
        return explanations
