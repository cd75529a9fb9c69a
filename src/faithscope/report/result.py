"""What a report reads: `Evaluation`, `Comparison` and `Audit` provide it, and compute it when they are asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from faithscope.measures.comparing.differences import MANY, Difference, together
from faithscope.measures.comparing.populations import (
    AMONG,
    BesideDifference,
    Populations,
    shown_differences,
    shown_groups,
)
from faithscope.measures.estimate import Estimate
from faithscope.report.wording import wording


@dataclass(frozen=True)
class Breakdown:
    """One measure per group of rows, per population or per window of time, and how groups differ.

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
    below : sequence of str, optional
        Groups that are shown to be lower than the rest; None if that was not asked.
    """

    by: str
    estimates: Mapping[Any, Estimate]
    from_reference: Mapping[Any, Difference] | None = None
    compared: str = ""
    apart: BesideDifference | None = None
    below: Sequence[str] | None = None

    @classmethod
    def of(cls, populations: Populations) -> "list[Breakdown]":
        """The breakdowns by populations: beside everybody, and then among themselves."""
        return [
            cls(
                wording(populations.by),
                part._texts,
                None,
                part.compared if populations.among is not None else "",
                part._apart,
                [text for text, group in zip(part._texts, part.estimates, strict=True) if group in part.lower]
                if part.has_rest
                else None,
            )
            for part in (populations, populations.among)
            if part is not None
        ]

    @property
    def over_time(self) -> bool:
        """Whether the groups are windows of time."""
        return self.from_reference is not None

    @property
    def measure(self) -> str:
        """What is measured."""
        return next(iter(self.estimates.values())).measure

    @cached_property
    def groups(self) -> tuple[tuple[str, Estimate], ...]:
        """The groups that are shown: if there are many, those with the lowest intervals."""
        return tuple((wording(group), self.estimates[group]) for group in shown_groups(self.estimates))

    @cached_property
    def differences(self) -> tuple[tuple[Difference, ...], int]:
        """Differences of the groups that are shown, from the reference or between any two, whose names can be shown.

        Beside them, of how many, shown or not, the intervals hold together; 0 if each holds by itself.
        """
        if self.compared == AMONG:  # how they differ is told beside everybody
            return (), 0
        groups = shown_groups(self.estimates)
        if self.from_reference is None:
            pairs, many = shown_differences(self.estimates, groups, self.apart)
        else:
            pairs = [apart for group, apart in self.from_reference.items() if group in groups]
            many = len(self.from_reference)
            pairs, many = (together(pairs, many), many) if many > MANY else (pairs, 0)
        return tuple(pairs), many

    @property
    def whom(self) -> str:
        """With whom they are compared, in words that follow a name."""
        return f", {self.compared}" if self.compared else ""

    @property
    def title(self) -> str:
        """What the table of the groups is called."""
        return f"{self.measure} by {self.by or 'population'}{self.whom}"

    @property
    def more(self) -> str:
        """How many groups are not shown, in words; empty if all are."""
        left_out = len(self.estimates) - len(self.groups)
        return f"{left_out:,} more, whose intervals begin no lower, are not shown" if left_out else ""

    @property
    def lower(self) -> str:
        """Which groups are shown to be lower than the rest, in a sentence; empty if that was not asked."""
        if self.below is None:
            return ""
        named = wording(", ".join(self.below))
        return f"Lower than the rest: {named}." if self.below else "None is shown to be lower than the rest."
