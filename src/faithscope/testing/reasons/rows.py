"""Rows drawn from a planted system."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.reasons import Reasons
from faithscope.explanations.rules import Rules
from faithscope.testing.reasons.kinds import Facts, Kind
from faithscope.testing.reasons.wordings import FIRST_NAMES, INPUT, LABELS, LAST_NAMES

if TYPE_CHECKING:
    from faithscope.testing.reasons.system import ReasonSystem

FEATURES = ("missed_payments", "debt_percent", "income", "north", "online")

# The numbers of each factor, by whether it speaks for the loan: first, last and step.
_RANGES = {
    "payments": {True: (0, 2, 1), False: (3, 9, 1)},
    "debt": {True: (5, 40, 1), False: (41, 90, 1)},
    "income": {True: (30_100, 90_000, 100), False: (12_000, 30_000, 100)},
}
_CONDITIONS = {
    ("payments", True): ("missed_payments", "<=", 2),
    ("payments", False): ("missed_payments", ">", 2),
    ("debt", True): ("debt_percent", "<=", 40),
    ("debt", False): ("debt_percent", ">", 40),
    ("income", True): ("income", ">", 30_000),
    ("income", False): ("income", "<=", 30_000),
}


@dataclass(frozen=True, eq=False)
class ReasonedRows:
    """Applicants with decisions, reasons in words, and rules that state the same facts.

    Attributes
    ----------
    reasons : Reasons
        The reason of each row, with the text that describes the applicant as its input.
    rules : Rules
        The same facts as conditions on the columns of `X`; a reason without facts becomes a rule that always holds.
    predictions : (n,) array of str
        "approved" or "denied".
    X : (n, 5) array
        Missed payments, debts in percent of income, income, whether the applicant lives north, whether online.
    groups : (n,) array of str
        "online" or "branch".

    Examples
    --------
    >>> from faithscope.testing import ReasonSystem
    >>> rows = ReasonSystem().draw(2)
    >>> rows.rules.describe(0)
    'debt_percent > 40 and income <= 30000'
    >>> rows.reasons.texts[0]
    'Debts are too high and income is too low.'
    """

    reasons: Reasons
    rules: Rules
    predictions: NDArray[Any]
    X: NDArray[np.float64]
    groups: NDArray[Any]


def drawn(system: "ReasonSystem", n: int, rng: np.random.Generator) -> ReasonedRows:
    """Independent rows of a system."""
    kinds = system._kinds
    place = rng.choice(len(kinds.p), n, p=kinds.p)
    chosen = [kinds.kinds[j] for j in place]
    X = _numbers(chosen, rng)
    fillings = [_filling(*row) for row in zip(X.tolist(), _names(n, rng), strict=True)]
    texts = [kinds.texts[j].format(**filling) for j, filling in zip(place, fillings, strict=True)]
    return ReasonedRows(
        reasons=Reasons(texts, [INPUT.format(**filling) for filling in fillings]),
        rules=_rules([kind.facts for kind in chosen]),
        predictions=np.array(LABELS)[kinds.labels[place]],
        X=X,
        groups=np.where(X[:, 4] == 1, "online", "branch"),
    )


def _numbers(chosen: list[Kind], rng: np.random.Generator) -> NDArray[np.float64]:
    """The columns of X: numbers on the side of its threshold that each applicant's factor has."""
    levels = np.array([kind.applicant for kind in chosen])
    columns = []
    for place, ranges in enumerate(_RANGES.values()):
        ends = np.array([ranges[False], ranges[True]])[levels[:, place].astype(int)]
        first, last, step = ends.T
        columns.append(first + step * rng.integers(0, (last - first) // step + 1))
    return np.column_stack([*columns, levels[:, 3:]]).astype(np.float64)


def _names(n: int, rng: np.random.Generator) -> list[str]:
    pairs = zip(rng.choice(FIRST_NAMES, n).tolist(), rng.choice(LAST_NAMES, n).tolist(), strict=True)
    return [f"{first} {last}" for first, last in pairs]


def _filling(row: list[float], name: str) -> dict[str, str]:
    missed, debt, income, north, online = map(int, row)
    return {
        "name": name,
        "missed": str(missed),
        "debt": f"{debt}%",
        "income": f"{income:,}",
        "side": "north" if north else "south",
        "channel": "online" if online else "at a branch",
    }


def _rules(facts: list[Facts]) -> Rules:
    """The facts of each row as conditions."""
    places: dict[Facts, int] = {}
    place = np.array([places.setdefault(each, len(places)) for each in facts])
    conditions = [[_CONDITIONS[fact] for fact in each] for each in places]
    return Rules.from_conditions(conditions, features=list(FEATURES)).take(place)
