"""What every discretizer is, two of them in turn, and the one that changes nothing."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from faithscope.errors import WrongType
from faithscope.explanations.base import Explanations

_TRAITS = ("reads_rows", "reads_maps", "reads_beyond_text", "asks_labels", "orders_features", "learns")


class Discretizer(ABC):
    """A small frozen object that coarsens explanations; ``first | second`` applies both in turn.

    Attributes
    ----------
    reads_rows : bool
        Whether it reads the row x besides its explanation e(x), so that what is measured bounds nothing for the raw
        explainer.
    reads_maps : bool
        Whether it takes each row for a map or a series, so that axes are no classes.
    reads_beyond_text : bool
        Whether it reads more of a reason in words than its text, such as an embedding.
    asks_labels : bool
        Whether it asks which labels there are, `_knowing_labels`.
    orders_features : bool
        Whether it orders features, or adds up those of a row, which engines leave to NumPy.
    learns : bool
        Whether it learns from other rows than are measured, `_learned_from`.
    leaves : str
        What it leaves of importances, in words of `explanations.forms`; empty if they stay numbers with sizes.
    """

    reads_rows: bool = False
    reads_maps: bool = False
    reads_beyond_text: bool = False
    asks_labels: bool = False
    orders_features: bool = False
    learns: bool = False
    leaves: str = ""
    seed: int = 0  # of the halves, if it learns
    subject: str = "the explainer whose explanations read x"  # what is bounded if it reads rows

    @abstractmethod
    def __call__(self, explanations: Explanations) -> Explanations:
        """The same rows with coarser explanations."""

    def _knowing_labels(self, labels: Iterable[Any]) -> "Discretizer":
        """The same discretizer, if it asks for them with the labels that a model predicts; not those of each row."""
        return self

    def _learned_from(self, explanations: Explanations) -> "Discretizer":
        """The discretizer as it learns from these explanations, which are not measured; itself if it need not learn."""
        return self

    def _fill(self, **attributes: Any) -> None:
        """Set what it is made of; only where it is made."""
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

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

    def __post_init__(self) -> None:
        both = (self.first, self.second)
        self._fill(
            **{trait: any(getattr(step, trait) for step in both) for trait in _TRAITS},
            seed=(self.first if self.first.learns else self.second).seed,
            subject=(self.first if self.first.reads_rows else self.second).subject,
        )

    def _knowing_labels(self, labels: Iterable[Any]) -> "Chain":
        labels = tuple(labels)
        return Chain(self.first._knowing_labels(labels), self.second._knowing_labels(labels))

    def _learned_from(self, explanations: Explanations) -> "Chain":
        first = self.first._learned_from(explanations)
        return Chain(first, self.second._learned_from(first(explanations)) if self.second.learns else self.second)

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


def steps(discretizer: Any) -> tuple[Any, ...]:
    """The discretizers of a chain, in order."""
    if isinstance(discretizer, Chain):
        return (*steps(discretizer.first), *steps(discretizer.second))
    return () if isinstance(discretizer, Original) else (discretizer,)
