"""Population: the inputs that sufficiency asks about; draws of it for rows whose explanations are known."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from faithscope.errors import WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import Conjunctions
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.inputs.checks import same_length
from faithscope.inputs.rows import rows_of
from faithscope.inputs.seeds import row_digests
from faithscope.readers import as_explanations

_NUMBERS = 2**22  # of draws, in one block
FEWEST = 64  # numbers that a draw counts for at least, so that a block has 65,536 draws at most


class Draws(NamedTuple):
    """Rows that were drawn, as a model reads them, and the position of the row that each was drawn for."""

    rows: Any
    of: Ints


class Drawer(NamedTuple):
    """Draws of a population, for some rows at a time.

    Attributes
    ----------
    widths : (n,) array of int
        How many numbers, or words, the draws of each row hold at most.
    draw : callable
        ``draw(start, stop)`` makes the draws of rows `start` to `stop`.
    """

    widths: Ints
    draw: Callable[[int, int], Draws]


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
        for rows in np.split(np.arange(len(block)), 1 + np.flatnonzero(np.diff(block))):
            yield drawer.draw(rows[0], rows[-1] + 1)

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


def seeds_of(seed: int, X: Any, explained: Callable[[int], str]) -> list[int]:
    """A seed per row, from the row's content; equal rows are told apart by their number among equal rows.

    So rows in another order get the same draws, and equal rows get draws that are independent of each other, as an
    interval over rows needs.

    Parameters
    ----------
    seed : int
    X : rows
    explained : function
        From the position of a row to its explanation in words, by which equal rows are sorted before they are numbered.
    """
    equal: dict[bytes, list[int]] = {}
    for row, digest in enumerate(row_digests(seed, X)):
        equal.setdefault(digest, []).append(row)
    seeds = [0] * rows_of(X)
    for digest, rows in equal.items():
        for number, row in enumerate(sorted(rows, key=explained) if len(rows) > 1 else rows):
            seeds[row] = int.from_bytes(digest, "little") + (number << 64)
    return seeds


def uniforms(seeds: list[int], *shape: int) -> Floats:
    """Numbers from 0 to 1, without 1: (rows, *shape)."""
    numbers = np.empty((len(seeds), *shape))
    for row, seed in enumerate(seeds):
        np.random.Generator(np.random.SFC64(seed)).random(out=numbers[row])
    return numbers


def conditions_of(kind: Conjunctions, start: int, stop: int) -> dict[Any, Ints]:
    """Conditions, or words, that explain rows `start` to `stop`, and which of these rows, from 0, have each."""
    rows_of: dict[int, list[int]] = {}
    for row, code in enumerate(kind.codes[start:stop].tolist()):
        rows_of.setdefault(code, []).append(row)
    parts: dict[Any, list[int]] = {}
    for code, rows in sorted(rows_of.items()):
        for condition in kind.distinct[code]:
            parts.setdefault(condition, []).extend(rows)
    return {condition: np.array(rows) for condition, rows in parts.items()}


def met(kind: Conjunctions, conditions: dict[Any, Ints], X: Any) -> Bools:
    """Which of the rows meet all of their own conditions, which `conditions_of` gave."""
    every = np.ones(rows_of(X), bool)
    for rows, holds in zip(conditions.values(), kind.holds(list(conditions), X), strict=True):
        every[rows] &= holds[rows]
    return every
