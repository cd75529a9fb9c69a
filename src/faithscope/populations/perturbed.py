"""Perturbed training rows and products of marginals: a draw keeps what the explanation names and varies the rest."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.concepts import Concepts
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.rules import Rules
from faithscope.inputs.checks import check_whole, is_real
from faithscope.inputs.rows import rows_of
from faithscope.populations.base import FEWEST, Drawer, Draws, Population, refuse_unscoped
from faithscope.populations.fixed_features import FixedFeatures
from faithscope.populations.seeds import seeds_of, uniforms
from faithscope.populations.source_rows import SourceRows
from faithscope.populations.words import MaskedWords, WordsOfTraining

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class _Drawn(Population):
    """What both have: training rows, how many draws per row, a seed, a model of their own."""

    def __init__(self, X_train: Any, draws: int, seed: int, model: Any) -> None:
        self.X_train, self.draws = X_train, check_whole(draws, "draws")
        self.seed, self.model = check_whole(seed, "seed", 0), model

    def __repr__(self) -> str:
        rows = "" if self.X_train is None else f"X_train of {rows_of(self.X_train):,} rows, "
        return f"{type(self).__name__}({rows}draws={self.draws}, seed={self.seed})"

    def _table(self, rules: Rules, X: Any, *, joint: bool) -> Drawer:
        if self.X_train is None:
            raise BadInput(f"{type(self).__name__} draws from training rows: pass {type(self).__name__}(X_train).")
        return _TableDrawer(rules, SourceRows.of(self.X_train, X), self.draws, self.seed, joint=joint)


class Perturbed(_Drawn):
    """Perturbed rows, the population in which Anchors measures its "precision".

    A draw is a training row, in which a value that breaks a condition of the explanation is replaced by the value of a
    training row that meets the condition, as ``anchor-exp`` does. So features that the explanation does not fix come
    from one training row, all together. If a condition asks for a value that no training row has, the row's own is
    kept; if no training row meets a condition such as ``age > 90``, the explanation leaves no draw.

    Of highlights, a draw is the document with each word that is not highlighted masked with probability 1/2, all its
    occurrences together, as `TextAnchors` does; training rows are not needed.

    Parameters
    ----------
    X_train : (n, d) array or table, optional
        Rows to draw from, in the form that the model takes. They are taken as they are: the interval is that of the
        measured rows, not of these.
    draws : int
        Number of draws per row.
    seed : int
        Draws depend on it and on the row, not on the other rows.
    model : model or function, optional
        Who predicts the draws, if predictions are ready labels: then ``fs.sufficiency(e, predictions, X, ...)``.
    keep : float
        Of highlights, the probability that a word which is not highlighted stays; at 0 the highlighted words are alone.
    unknown : str or None
        Of highlights, what stands in place of a masked word; None removes it.

    Examples
    --------
    >>> import faithscope as fs
    >>> X_train = [[20.0, 0.0], [30.0, 1.0], [50.0, 0.0], [60.0, 1.0]]
    >>> rules = fs.Rules.from_conditions([[("age", "<=", 40.0)]], features=["age", "member"])
    >>> young = lambda rows: [row[0] <= 40 for row in rows]
    >>> fs.sufficiency(rules, young, [[25.0, 1.0]], population=fs.Perturbed(X_train, draws=10)).value
    1.0
    """

    what: ClassVar[str] = "perturbed rows"

    def __init__(
        self,
        X_train: Any = None,
        draws: int = 100,
        *,
        seed: int = 0,
        model: Any = None,
        keep: float = 0.5,
        unknown: str | None = "UNK",
    ) -> None:
        super().__init__(X_train, draws, seed, model)
        if not is_real(keep) or not 0 <= keep <= 1:
            raise BadInput(f"keep must be a probability, from 0 to 1; got {keep!r}.")
        if unknown is not None and not isinstance(unknown, str):
            raise WrongType(
                f"unknown must be a text that replaces masked words, or None to remove them; got {unknown!r}."
            )
        self.keep, self.unknown = float(keep), unknown

    def __repr__(self) -> str:
        words = "" if self.keep == 0.5 else f", keep={self.keep:g}"
        words += "" if self.unknown == "UNK" else f", unknown={self.unknown!r}"
        return f"{super().__repr__()[:-1]}{words})"

    def _drawer(self, explanations: Explanations, X: Any) -> Drawer:
        if isinstance(explanations, Rules):
            return self._table(explanations, X, joint=True)
        if isinstance(explanations, Highlights) and not isinstance(explanations, Concepts):
            return MaskedWords.of(explanations, X, self.draws, self.seed, self.keep, self.unknown)
        return refuse_unscoped(explanations, "Perturbed")

    def _sentence(self, *, of_words: bool) -> str:
        if of_words:
            how = "removed" if self.unknown is None else f"replaced by {self.unknown!r}"
            return f"the document, of whose words that are not highlighted each stays at {self.keep:.0%} or is {how}"
        return "a training row, in which values that break the explanation are replaced by values that meet it"


class Product(_Drawn):
    """The product of marginals: every feature is drawn by itself, given its condition if it has one.

    This is the population of δ-relevant sets and of Shapley values with independent features. Rows that no data set
    holds are common in it. Of highlights, every word that is not highlighted is drawn from the words of the training
    documents.

    Parameters
    ----------
    X_train : (n, d) array, table, or documents
        Rows whose columns are the marginals, in the form that the model takes.
    draws : int
        Number of draws per row.
    seed : int
        Draws depend on it and on the row, not on the other rows.
    model : model or function, optional
        Who predicts the draws, if predictions are ready labels.

    Examples
    --------
    >>> import faithscope as fs
    >>> X_train = [[20.0, 0.0], [30.0, 0.0], [50.0, 1.0], [60.0, 1.0]]
    >>> rules = fs.Rules.from_conditions([[("age", "<=", 40.0)]], features=["age", "member"])
    >>> guest = lambda rows: [row[1] == 0 for row in rows]
    >>> estimate = fs.sufficiency(rules, guest, [[25.0, 0.0]], population=fs.Product(X_train, draws=1000))
    >>> round(estimate.value, 1)
    0.5
    """

    what: ClassVar[str] = "the product of marginals"

    def __init__(self, X_train: Any, draws: int = 100, *, seed: int = 0, model: Any = None) -> None:
        super().__init__(X_train, draws, seed, model)

    def _drawer(self, explanations: Explanations, X: Any) -> Drawer:
        if isinstance(explanations, Rules):
            return self._table(explanations, X, joint=False)
        if isinstance(explanations, Highlights) and not isinstance(explanations, Concepts):
            return WordsOfTraining.of(explanations, X, self.X_train, self.draws, self.seed)
        return refuse_unscoped(explanations, "Product")

    def _sentence(self, *, of_words: bool) -> str:
        if of_words:
            return "the document, whose words that are not highlighted are replaced by words of training documents"
        return "every feature drawn by itself from training rows, from values that meet the explanation"


@dataclass(frozen=True, eq=False)
class _TableDrawer:
    """Draws from the columns of training rows: all features from one training row (`joint`), or each from its own."""

    rules: Rules
    source: SourceRows
    draws: int
    seed: int
    joint: bool

    @property
    def widths(self) -> Ints:
        return np.full(len(self.rules), self.draws * max(FEWEST, self.source.width + 1))

    @cached_property
    def seeds(self) -> list[int]:
        """The seed of each row."""
        return seeds_of(self.seed, self.source.X, lambda row: repr(self.rules.conjunction(row)))

    def draw(self, start: int, stop: int) -> Draws:
        chances = uniforms(self.seeds[start:stop], self.draws, self.source.width + 1)
        rows, possible = self._rows(chances, start, stop)
        drawn = rows[possible].reshape(-1, self.source.width)
        return Draws(self.source.rows(drawn), np.repeat(start + np.flatnonzero(possible), self.draws))

    def _rows(self, chances: Floats, start: int, stop: int) -> tuple[Ints, NDArray[np.bool_]]:
        """The row that each value comes from, (rows, draws, d), and which rows have any draw."""
        source = (chances[..., :1] if self.joint else chances[..., 1:]) * self.source.train
        places = np.broadcast_to(source.astype(np.int64), (*chances.shape[:2], self.source.width)).copy()
        possible = np.ones(stop - start, bool)
        for feature, rows, meets, choices in FixedFeatures.of(self.rules, self.source, start, stop):
            if not len(choices):
                possible[rows] = False
                continue
            chosen = choices[(chances[rows, :, 1 + feature] * len(choices)).astype(np.int64)]
            known = places[rows, :, feature]
            places[rows, :, feature] = np.where(meets[known], known, chosen) if self.joint else chosen
        return places, possible
