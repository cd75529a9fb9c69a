"""Alike: importances cover the rows that are alike in the features that they name."""

from dataclasses import dataclass, field
from typing import Any

from faithscope.errors import WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import Importances
from faithscope.explanations.rules import Rules
from faithscope.inputs.checks import check_whole


@dataclass(frozen=True)
class Alike:
    """The importances of a row cover the rows that are alike in the features that it names.

    "These features decide" is a statement about rows that share them, so that importances have a sufficiency: of the
    rows in x's bin of each of its k named features, how many get x's prediction? Consistency alone does not see which
    features are named; this does, since other features single out other rows.

    Beside the measure stand two baselines, paired with it on the same rows: `Estimate.beyond_random`, what it is more
    than that of as many features drawn at random per row, and `Estimate.beyond_global`, more than that of the same
    features for everybody, those that are largest on average.

    Parameters
    ----------
    k : int, optional
        How many features a row names: its k largest in size, the earlier of equal ones, and none of importance 0. By
        default 3, or as many as a discretizer has kept, such as ``SignOfTop(5)``.
    bins : int
        At most how many bins a number has, by the quantiles of its column; categories and missing values are as they
        are (`Importances.to_rules`).
    X_train : rows like X, optional
        The rows of which quantiles are taken; by default X itself, which changes little (``docs/features.md``).

    Examples
    --------
    >>> import faithscope as fs
    >>> rows = [[0.0, 5.0], [1.0, 9.0], [8.0, 5.0], [9.0, 9.0]]
    >>> first, second = fs.Importances([[1.0, 0.0]] * 4), fs.Importances([[0.0, 1.0]] * 4)
    >>> [fs.sufficiency(each, [0, 0, 1, 1], rows, relation=fs.Alike(k=1, bins=2)).value for each in (first, second)]
    [1.0, 0.0]
    """

    k: int | None = None
    bins: int = 4
    X_train: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_whole(self.bins, "bins", 2)
        if self.k is not None:
            check_whole(self.k, "k, the number of named features,")

    def about(self, explanations: Explanations, X: Any) -> Rules:
        """The rules that importances of these rows stand for."""
        if not isinstance(explanations, Importances):
            raise WrongType(
                f"Alike() covers rows by the features that importances name; these are {explanations.kind}: leave "
                "relation= out."
            )
        return explanations.to_rules(X, self.k, self.bins, self.X_train)
