"""An audit against another log, such as last week's: the same measures of both, and how they differ."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from faithscope.errors import BadInput
from faithscope.measures.comparing.populations import Difference, difference
from faithscope.measures.estimate import Estimate
from faithscope.tables.log.kinds import NumberColumns
from faithscope.tables.measured_log import MeasuredLog
from faithscope.tables.sources.source import LogSource
from faithscope.visible import visible


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

    Examples
    --------
    >>> import pandas as pd, faithscope as fs
    >>> last = pd.DataFrame({"leaf": [1, 1, 1, 1] * 50, "yhat": ["a", "a", "a", "a"] * 50})
    >>> this = pd.DataFrame({"leaf": [1, 1, 1, 1] * 50, "yhat": ["a", "a", "a", "b"] * 50})
    >>> reference = fs.audit(this, prediction="yhat", explanation="leaf", reference=last).reference
    >>> round(reference.differences["consistency"].value, 2), reference.differences["consistency"].differ
    (-0.38, True)
    """

    name: str
    estimates: dict[str, Estimate]
    audited: dict[str, Estimate]

    @cached_property
    def differences(self) -> dict[str, Difference]:
        """The audited log less the reference, by measure, each with an interval that carries silence."""
        names = ("the log", self.name)
        return {
            measure: difference(estimate, self.estimates[measure], names)
            for measure, estimate in self.audited.items()
            if measure in self.estimates
        }

    @property
    def worse(self) -> tuple[str, ...]:
        """The measures that are lower than in the reference, by intervals without zero."""
        return tuple(measure for measure, change in self.differences.items() if change.high < 0)

    def to_dict(self) -> dict[str, Any]:
        """All numbers of the reference and of the differences, ready for JSON."""
        estimates = {measure: estimate.to_dict() for measure, estimate in self.estimates.items()}
        differences = {measure: change.to_dict() for measure, change in self.differences.items()}
        return {"name": self.name, **estimates, "differences": differences}

    def lines(self) -> tuple[str, ...]:
        """One sentence per measure: by how much it differs, between which limits."""
        return tuple(self._line(measure, change) for measure, change in self.differences.items())

    def _line(self, measure: str, change: Difference) -> str:
        verdict = "lower than" if change.high < 0 else "higher than" if change.low > 0 else "not shown to differ from"
        confidence = f"{100 * self.audited[measure].confidence:g}%"
        limits = f"{confidence} interval [{change.low:+.2f}, {change.high:+.2f}]"
        before = self.estimates[measure]
        return (
            f"{measure} is {verdict} that of {visible(self.name)}: difference {change.value:+.3f}, {limits}; there "
            f"{before.value:.3f} of {before.n:,} rows"
        )

    def __str__(self) -> str:
        return "\n".join(self.lines())


def refuse_unlike(measured: MeasuredLog, reference: MeasuredLog) -> None:
    """Raise if two logs were not measured in the same way, so that their difference would say nothing."""
    ours, theirs = _manner(measured), _manner(reference)
    for what, own in ours.items():
        if own != theirs[what]:
            raise BadInput(
                f"The log and its reference differ in {what} ({own or 'none'} and {theirs[what] or 'none'}), so their "
                "difference would say nothing: audit both in the same way."
            )


def refuse_shared(source: LogSource, reference: LogSource) -> None:
    """Raise if a log is compared with itself, or with a part of itself: the rows of two logs must be different ones."""
    shared = set(source.files) & set(reference.files)
    table = not source.embedded and not reference.embedded and not source.files and source.name == reference.name
    if shared or (table and source.table.equals(reference.table)):
        what = repr(next(iter(shared))[0]) if shared else f"table {source.name!r}"
        raise BadInput(f"The log and its reference share {what}: a difference is one between the rows of two logs.")


def _manner(measured: MeasuredLog) -> dict[str, str]:
    log = measured.log
    features = ", ".join(sorted(log.kind.names)[:8]) if isinstance(log.kind, NumberColumns) and log.kind.named else ""
    return {
        "clusters": " and ".join(log.clusters),
        "discretizer": repr(log.options.discretizer),
        "agreement": repr(log.options.agreement),
        "the kind of explanations": log.kind.what,
        "features": features,
    }
