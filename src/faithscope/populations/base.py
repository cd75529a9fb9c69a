"""Population: the inputs that sufficiency asks about; draws of it for rows whose explanations are known."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.inputs.checks import same_length
from faithscope.inputs.rows import rows_of
from faithscope.readers import as_explanations
from faithscope.relations import Applies, says_where

Ints = NDArray[np.int64]

_NUMBERS = 2**22  # of draws, in one block
FEWEST = 64  # numbers that a draw counts for at least, so that a block has 65,536 draws at most


class Draws(NamedTuple):
    """Rows that were drawn, as a model reads them, and the position of the row that each was drawn for."""

    rows: Any
    of: Ints


class Drawer(Protocol):
    """Draws of a population, for some rows at a time."""

    @property
    def widths(self) -> Ints:
        """How many numbers, or words, the draws of each row hold at most."""

    def draw(self, start: int, stop: int) -> Draws:
        """The draws of rows `start` to `stop`."""


class Population(ABC):
    """The inputs among which sufficiency is asked: those of a row are drawn given the row's explanation.

    Attributes
    ----------
    what : str
        The inputs in words: "sufficiency on perturbed rows".
    model : model or function, optional
        Who predicts the draws; None if it is the model that is measured.
    """

    what: ClassVar[str]
    model: Any = None

    def draw(self, explanations: Any, X: Any) -> Draws:
        """All draws at once, to be predicted elsewhere: ``fs.drawn(e, draws.rows, predictions, of=draws.of)``.

        Parameters
        ----------
        explanations : Explanations
        X : rows that were explained

        Returns
        -------
        Draws
            ``rows``, in the form of the training rows, and ``of``: the position of the row that each was drawn for. A
            row whose explanation leaves no draw has none.
        """
        kind = as_explanations(explanations)
        same_length(explanations=len(kind), X=rows_of(X))
        return self._drawer(kind, X).draw(0, len(kind))

    def _blocks(self, explanations: Explanations, X: Any) -> Iterator[Draws]:
        """The draws of all rows, block by block."""
        drawer = self._drawer(explanations, X)
        block = np.cumsum(drawer.widths) // _NUMBERS
        ends = [*(1 + np.flatnonzero(np.diff(block))).tolist(), len(block)]
        for start, stop in pairwise([0, *ends]):
            yield drawer.draw(start, stop)

    @abstractmethod
    def _drawer(self, explanations: Explanations, X: Any) -> Drawer:
        """Whoever draws for these rows; raises if nothing can be drawn for explanations of this kind."""

    @abstractmethod
    def _sentence(self, *, of_words: bool) -> str:
        """What is drawn, for a note: rows of features, or documents if explanations are words."""


@dataclass(frozen=True)
class RealRows:
    """The rows that are measured, each compared with the others to which its explanation applies: the default.

    Examples
    --------
    >>> import faithscope as fs
    >>> rules = fs.Rules.from_conditions([[("age", "<=", 40.0)]] * 3, features=["age"])
    >>> rows = [[25.0], [31.0], [38.0]]
    >>> fs.sufficiency(rules, ["no", "no", "yes"], rows, population=fs.RealRows()).value
    0.3333333333333333
    """


def to_population(given: Any) -> Population | RealRows:
    """What a caller chose as a population."""
    if isinstance(given, Population | RealRows):
        return given
    known = isinstance(given, type) and issubclass(given, Population | RealRows)
    shown = f"{given.__name__} without its arguments" if known else repr(given)
    raise WrongType(
        f"population={shown} is no population: pass fs.RealRows(), fs.Perturbed(X_train), fs.Product(X_train), "
        "fs.Conditional(X_train), or fs.drawn(explanations, rows, predictions)."
    )


def refuse_unscoped(explanations: Explanations, population: str) -> Drawer:
    """Raise if explanations do not say which features, or words, they fix."""
    if not says_where(explanations, None):
        Applies().scopes(explanations)  # raises
    raise BadInput(
        f"{population} fixes what an explanation names, features of rules or highlighted words, and these are "
        f"{explanations.kind}: use fs.RealRows(), or draws of your own, fs.drawn(explanations, rows, predictions)."
    )
