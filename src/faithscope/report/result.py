"""What a report reads: `Evaluation`, `Comparison` and `Audit` provide it, and compute it when they are asked."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from faithscope.measures.comparing.differences import MANY, Difference, together
from faithscope.measures.comparing.populations import BesideDifference, Populations, shown_differences
from faithscope.measures.encoding import Encoding
from faithscope.measures.estimate import Estimate
from faithscope.measures.explainer_agreement import ExplainerAgreement
from faithscope.measures.leakage import Leakage
from faithscope.measures.planning.plan import Plan
from faithscope.measures.telling import WANTED

if TYPE_CHECKING:
    import pandas as pd

_NAMES_OF_WRONGLY_COVERED = {
    "row": "row_a",
    "wrong_row": "row_b",
    "index": "index_a",
    "wrong_index": "index_b",
    "prediction": "prediction_a",
    "wrong_prediction": "prediction_b",
}


@runtime_checkable
class Result(Protocol):
    """What `Evaluation`, `Comparison` and `Audit` share: they say what there is to report."""

    def _contents(self) -> "Contents": ...


class ExplainerResult(Protocol):
    """What a report asks about one explainer: an `Evaluation` or an `Audit` answers.

    The questions begin with an underscore because only our own packages ask them.
    """

    @property
    def consistency(self) -> Estimate: ...

    @property
    def sufficiency(self) -> Estimate | None: ...

    @property
    def necessity(self) -> Estimate | None: ...

    @property
    def uniqueness(self) -> float | None: ...

    def encoding(self) -> Encoding: ...

    def _leakage(self) -> Leakage | None:
        """How many reasons in words name a label; None for other explanations, and if no word names a label."""

    def _claims(self) -> Mapping[str, Any] | None:
        """The table of explanations that claim a precision of their own; None if they claim none."""

    @property
    def X(self) -> Any: ...  # noqa: N802

    def _provenance(self) -> "Provenance":
        """How the explanations came about."""

    def _plan(self, measure: str) -> Plan:
        """How many rows the measure needs."""

    def _row_pairs(self, measure: str, k: int) -> Sequence[Mapping[str, Any]]:
        """Up to k pairs of rows that lower the measure."""

    @property
    def _discretized(self) -> Sequence[Mapping[str, Any]]:
        """The consistency of these explanations per discretization, finest first; empty if that cannot be asked."""


@dataclass(frozen=True)
class Contents:
    """What there is to report.

    Attributes
    ----------
    explainers : mapping of str to ExplainerResult
        By the explainers' names.
    breakdowns : mapping of str to sequence of Breakdown
        By the explainers' names; explainers without any may be left out.
    differences : sequence of Difference
        Between any two explainers, on the same rows.
    rows_to_choose : int
        Rows on which discretizations were chosen, none of them reported on.
    agreement : function, optional
        Measures on how many rows any two explainers agree; None for a single explainer.
    wanted : float
        What a faithful explainer is asked to reach.
    """

    explainers: Mapping[str, ExplainerResult]
    breakdowns: "Mapping[str, Sequence[Breakdown]]" = field(default_factory=dict)
    differences: Sequence[Difference] = ()
    rows_to_choose: int = 0
    agreement: Callable[[], ExplainerAgreement] | None = None
    wanted: float = WANTED


@dataclass(frozen=True)
class Provenance:
    """How explanations came about.

    Attributes
    ----------
    explainer, discretizer, kind : str
        The explainer's settings, what made its explanations coarser, and what its explanations are.
    seed : int or None
        None if nothing was random.
    seconds : mapping of str to float
        How long each phase took.
    notes : tuple of str
        What could not be measured, and why.
    clusters : str
        The name of what says which rows belong together; empty if rows are independent or it has none.
    baseline : bool
        Whether the explainer is one that says nothing on purpose.
    """

    explainer: str
    discretizer: str
    kind: str = ""
    seed: int | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    clusters: str = ""
    baseline: bool = False


def row_pairs(table: "pd.DataFrame", positions: NDArray[np.int64] | None = None) -> list[dict[str, Any]]:
    """The lines of `Evaluation.counterexamples`, or those of `wrongly_covered` under the same names.

    Each has ``a`` and ``b`` too: where its rows stand in the `X` of the result.

    Parameters
    ----------
    table : frame
    positions : array, (n,), optional
        Where each row of the result stands among those that were handed over, ascending; by default at its own place.
    """
    names = [_NAMES_OF_WRONGLY_COVERED.get(str(name), str(name)) for name in table]
    pairs: list[dict[str, Any]] = table.set_axis(names, axis=1).to_dict("records")
    for pair in pairs:
        rows = [pair["row_a"], pair["row_b"]]
        pair["a"], pair["b"] = rows if positions is None else np.searchsorted(positions, rows).tolist()
    return pairs


@dataclass(frozen=True)
class Breakdown:
    """One measure per group of rows: per population, or per window of time.

    Attributes
    ----------
    by : str
        The name of what gives the groups, such as a column; empty if it has none.
    estimates : mapping of group to Estimate
    from_reference : mapping of group to Difference, or None
        For windows of time, what each differs by from the reference; None if any two groups may be compared.
    compared : str
        With whom rows of a group are compared, if there are breakdowns of both: everybody, or themselves.
    apart : callable, optional
        The difference of two groups beside everybody, by their numbers.
    lower : sequence of str, optional
        Groups that are shown to be lower than the rest; None if that was not asked.
    """

    by: str
    estimates: Mapping[Any, Estimate]
    from_reference: Mapping[Any, Difference] | None = None
    compared: str = ""
    apart: BesideDifference | None = None
    lower: Sequence[str] | None = None

    @classmethod
    def of(cls, populations: Populations) -> "list[Breakdown]":
        """The breakdowns by populations: of each column beside everybody, and then among themselves."""
        return [
            cls(each.by, part._texts, None, part.compared if each.among is not None else "", part._apart, part._below)
            for each in populations.groupings
            for part in (each, each.among)
            if part is not None
        ]

    @property
    def over_time(self) -> bool:
        """Whether the groups are windows of time."""
        return self.from_reference is not None

    def differences(self, groups: Collection[Any]) -> tuple[list[Difference], int]:
        """Differences of these groups, from the reference or between any two, and how many intervals hold together.

        If there are many, shown or not, their intervals hold for all of them together; 0 if each holds by itself.
        """
        if self.from_reference is not None:
            pairs = [apart for group, apart in self.from_reference.items() if group in groups]
            many = len(self.from_reference)
            return (together(pairs, many), many) if many > MANY else (pairs, 0)
        return shown_differences(self.estimates, groups, self.apart)
