"""Draws from training rows: perturbed rows, products of marginals, the nearest real rows."""

from abc import abstractmethod
from typing import Any, ClassVar

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.concepts import Concepts
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.rules import Rules
from faithscope.inputs.checks import check_whole, is_real
from faithscope.inputs.rows import rows_of
from faithscope.populations.base import Drawer, Population
from faithscope.populations.documents import masked_words
from faithscope.populations.tables import SourceRows, from_training, nearest_rows
from faithscope.relations import Applies, says_where


class _FromTraining(Population):
    """Draws that keep the features that a rule names, and take the rest from training rows."""

    X_train: Any

    def _drawer(self, explanations: Explanations, X: Any) -> Drawer:
        name = type(self).__name__
        if not isinstance(explanations, Rules):
            if not says_where(explanations, None):
                Applies().scopes(explanations)  # raises
            raise BadInput(
                f"{name} fixes the features that rules name (fs.Perturbed() words of highlights too), and these are "
                f"{explanations.kind}: use fs.RealRows(), or draws of your own, fs.drawn(explanations, rows, "
                "predictions)."
            )
        if self.X_train is None:
            raise BadInput(f"{name} draws from training rows: pass {name}(X_train).")
        return self._draws(explanations, SourceRows.of(self.X_train, X))

    @abstractmethod
    def _draws(self, rules: Rules, source: SourceRows) -> Drawer:
        """Draws for rules from training rows."""


class _ByChance(_FromTraining):
    """So many draws per row, by a seed."""

    joint: ClassVar[bool]  # whether all features come from one training row

    def __init__(self, X_train: Any, draws: int = 100, *, seed: int = 0, model: Any = None) -> None:
        self.X_train, self.draws = X_train, check_whole(draws, "draws")
        self.seed, self.model = check_whole(seed, "seed", 0), model

    def __repr__(self) -> str:
        rows = "" if self.X_train is None else f"X_train of {rows_of(self.X_train):,} rows, "
        return f"{type(self).__name__}({rows}draws={self.draws}, seed={self.seed})"

    def _draws(self, rules: Rules, source: SourceRows) -> Drawer:
        return from_training(rules, source, self.draws, self.seed, joint=self.joint)


class Product(_ByChance):
    """The product of marginals: every feature is drawn by itself, given its condition if it has one.

    This is the population of δ-relevant sets and of Shapley values with independent features. Rows that no data set
    holds are common in it.

    Parameters
    ----------
    X_train : (n, d) array or table
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
    joint: ClassVar[bool] = False

    def _sentence(self, *, of_words: bool) -> str:
        return "every feature drawn by itself from training rows, from values that meet the explanation"


class Perturbed(_ByChance):
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
    joint: ClassVar[bool] = True

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
        super().__init__(X_train, draws, seed=seed, model=model)
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
        if isinstance(explanations, Highlights) and not isinstance(explanations, Concepts):
            return masked_words(explanations, X, self.draws, self.seed, self.keep, self.unknown)
        return super()._drawer(explanations, X)

    def _sentence(self, *, of_words: bool) -> str:
        if of_words:
            how = "removed" if self.unknown is None else f"replaced by {self.unknown!r}"
            return f"the document, of whose words that are not highlighted each stays at {self.keep:.0%} or is {how}"
        return "a training row, in which values that break the explanation are replaced by values that meet it"


class Conditional(_FromTraining):
    """Real rows near the row: features that the explanation does not fix come from the k nearest rows that it covers.

    Nearest by Gower's distance over all features, from 0 to 1: numbers by their gap as a share of the range in
    training, categories by whether they differ; of equally near rows the first. Features that the explanation fixes
    stay as the row itself has them, unless the row does not meet its own explanation; then they too come from the
    nearest row. One training row that equals the row in every feature is left out, since it may be the row itself.
    There is no chance in it: k rows are all draws there are, and fewer if the explanation covers fewer.

    Parameters
    ----------
    X_train : (n, d) array or table
        Rows to draw from, in the form that the model takes.
    k : int
        How many of the nearest rows.
    model : model or function, optional
        Who predicts the draws, if predictions are ready labels.

    Examples
    --------
    >>> import faithscope as fs
    >>> X_train = [[20.0, 0.0], [30.0, 1.0], [50.0, 0.0], [60.0, 1.0]]
    >>> rules = fs.Rules.from_conditions([[("age", "<=", 40.0)]], features=["age", "member"])
    >>> fs.Conditional(X_train, k=2).draw(rules, [[25.0, 1.0]]).rows.tolist()
    [[25.0, 1.0], [25.0, 0.0]]
    """

    what: ClassVar[str] = "the nearest real rows"

    def __init__(self, X_train: Any, k: int = 50, *, model: Any = None) -> None:
        self.X_train, self.k, self.model = X_train, check_whole(k, "k"), model

    def __repr__(self) -> str:
        return f"Conditional(X_train of {rows_of(self.X_train):,} rows, k={self.k})"

    def _draws(self, rules: Rules, source: SourceRows) -> Drawer:
        return nearest_rows(rules, source, self.k)

    def _sentence(self, *, of_words: bool) -> str:
        return (
            "the row, in which features that the explanation does not fix come from near training rows that it covers"
        )
