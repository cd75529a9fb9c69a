"""An audit against another log, such as last week's: the same measures of both, and how they differ."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from faithscope.discretizers import Rank
from faithscope.discretizers.base import steps
from faithscope.errors import BadInput, FaithscopeError
from faithscope.measures.comparing.differences import Difference
from faithscope.measures.comparing.populations import AMONG, BESIDE_REFERENCE, BesideDifference, difference
from faithscope.measures.estimate import Estimate
from faithscope.measures.telling import number
from faithscope.rounding import in_brackets
from faithscope.tables.audited import AuditedLog
from faithscope.tables.columns import NumberColumns
from faithscope.tables.source import LogSource
from faithscope.visible import visible

_SHOWN = 8  # features that an error names


@dataclass(frozen=True)
class Reference:
    """What an audit is compared with: another log, measured in the same way; no row is in both.

    Attributes
    ----------
    name : str
        The other log.
    estimates : dict of str to Estimate
        Its measures, by their names.
    audited : dict of str to Estimate
        The same measures of the audited log.
    beside : Estimate or None
        The consistency of the audited log beside the reference: its rows ask, and those of the reference answer. None
        by `Spread`, and if it cannot be measured.

    Examples
    --------
    >>> import pandas as pd, faithscope as fs
    >>> last = pd.DataFrame({"leaf": [1, 1, 1, 1] * 50, "yhat": ["a", "a", "a", "a"] * 50})
    >>> this = pd.DataFrame({"leaf": [1, 1, 1, 1] * 50, "yhat": ["a", "a", "a", "b"] * 50})
    >>> reference = fs.audit(this, prediction="yhat", explanation="leaf", against=last).reference
    >>> round(reference.differences["consistency"].value, 2), reference.differences["consistency"].differ
    (-0.25, True)
    """

    name: str
    estimates: dict[str, Estimate]
    audited: dict[str, Estimate]
    beside: Estimate | None = None
    _apart: BesideDifference | None = field(default=None, repr=False, compare=False)

    @cached_property
    def differences(self) -> dict[str, Difference]:
        """The audited log less the reference, by measure, each with an interval that carries silence.

        That of consistency is beside the reference, among rows that can be checked, if it can be measured so.
        """
        beside = {} if self._apart is None else {"consistency": self._apart([0], [1], ("the log", self.name))}
        return self.among | beside

    @cached_property
    def among(self) -> dict[str, Difference]:
        """The same differences if rows of each log are compared with rows of their own log alone."""
        names = ("the log", self.name)
        return {
            measure: difference(estimate, self.estimates[measure], names)
            for measure, estimate in self.audited.items()
            if measure in self.estimates
        }

    @property
    def worse(self) -> tuple[str, ...]:
        """The measures that are lower than in the reference, beside it or among themselves, by intervals without 0."""
        return tuple(dict.fromkeys(measure for measure, change, _ in self._told if change.high < 0))

    @property
    def _told(self) -> list[tuple[str, Difference, str]]:
        """Each measure with its differences, beside the reference first if there is such a one, and what to call it."""
        told = []
        for measure in self.audited:
            beside = measure == "consistency" and self._apart is not None
            if beside:
                told.append((measure, self.differences[measure], f", {BESIDE_REFERENCE}"))
            told.append((measure, self.among[measure], f", {AMONG}" if beside else ""))
        return told

    def to_dict(self) -> dict[str, Any]:
        """All numbers of the reference and of the differences, ready for JSON."""
        estimates = {measure: estimate.to_dict() for measure, estimate in self.estimates.items()}
        differences = {measure: change.to_dict() for measure, change in self.differences.items()}
        told = {"name": self.name, **estimates, "differences": differences}
        if self.beside is None:
            return told
        among = {measure: change.to_dict() for measure, change in self.among.items()}
        return {**told, "beside": self.beside.to_dict(), "among": among}

    def lines(self) -> tuple[str, ...]:
        """One sentence per measure, or two: by how much it differs, between which limits."""
        return tuple(self._line(*each) for each in self._told)

    def lower(self) -> tuple[str, ...]:
        """One sentence per measure that is lower than in the reference."""
        first = {each[0]: each for each in reversed(self._told) if each[1].high < 0}
        return tuple(self._line(*first[measure]) for measure in self.worse)

    def _line(self, measure: str, change: Difference, whom: str) -> str:
        told = "lower than" if change.high < 0 else "higher than" if change.low > 0 else "not shown to differ from"
        limits = f"{100 * self.audited[measure].confidence:g}% interval "
        limits += in_brackets(change.low, change.high, signed=True)
        before = self.estimates[measure]
        return (
            f"{measure} is {told} that of {visible(self.name)}{whom}: difference {change.value:+.3f}, {limits}; "
            f"there {number(before.verified)} of {before.n:,} rows"
        )

    def __str__(self) -> str:
        return "\n".join(self.lines())


def refuse_unlike(measured: AuditedLog, reference: AuditedLog) -> None:
    """Raise if two logs were not measured in the same way, so that their difference would say nothing."""
    alike = "so their difference would say nothing: audit both in the same way, or pass the other log itself."
    how, otherwise = _manner(measured), _manner(reference)
    for what, own in how.items():
        if own != otherwise[what]:
            both = f"{own or 'none'} and {otherwise[what] or 'none'}"
            raise BadInput(f"The log and its reference differ in {what} ({both}), {alike}")
    ours, theirs = measured.features, reference.features
    # A feature that no row names would change nothing if it counts 0 and its rank does not matter.
    ranked = any(isinstance(step, Rank) for step in steps(measured.options.discretizer))
    if ours == theirs or (measured.sparse and not ranked and theirs[: len(ours)] == ours):
        return
    only = [sorted(set(a) - set(b)) for a, b in ((ours, theirs), (theirs, ours))]
    told = [", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "") or "none" for names in only]
    raise BadInput(
        f"The log and its reference differ in features or in their order ({told[0]} only in the log, {told[1]} only in "
        f"the reference), {alike}"
    )


@contextmanager
def about_reference() -> Iterator[None]:
    """Faults inside say that they are those of the reference, and not of the log."""
    try:
        yield
    except FaithscopeError as problem:
        raise type(problem)(f"Of the reference: {problem}") from None


def shared_by(source: LogSource, reference: LogSource) -> str | None:
    """The file or the table that two logs share; None if they share none."""
    shared = source.files.items() & reference.files.items()
    table = not source.embedded and not reference.embedded and not source.files and source.name == reference.name
    if shared:
        return repr(next(iter(shared))[0])
    return f"table {source.name!r}" if table and source.table.equals(reference.table) else None


def _manner(measured: AuditedLog) -> dict[str, str]:
    kind = measured.kind
    chosen = measured.options.discretizer if measured.reasons is None else measured.reasons.settled
    return {
        "clusters": " and ".join(measured.clusters),
        "weights": " and ".join(measured.weights),
        "discretizer": repr(chosen),
        "agreement": repr(measured.options.agreement),
        "the kind of explanations": kind.what,
        "the number of features": str(kind.width) if isinstance(kind, NumberColumns) and not measured.features else "",
    }
