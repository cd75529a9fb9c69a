"""The options of an audit, checked once."""

from dataclasses import dataclass, field

from faithscope.agreements import Agreement, OwnAgreement, Same, Spread
from faithscope.discretizers import Discretizer
from faithscope.errors import NotProven, WrongType
from faithscope.inputs.checks import check_word
from faithscope.measures.estimate import Method, check_method, refuse_for, refuse_unproven
from faithscope.measures.intervals.margins import check_confidence
from faithscope.tables.engine.missing import NULLS, Nulls
from faithscope.tables.log.columns import Names

_KINDS = ("importances", "keys", "reasons", "codes", "rules", "words", "prototypes", "counterfactuals")


@dataclass(frozen=True)
class AuditOptions:
    """How a log is read and measured; `faithscope.audit` says what each of these is.

    `features` are those of the log that this one is compared with, in its order; empty for the log's own. `words` are
    further words that name a label.
    """

    prediction: Names | None
    explanation: Names | None
    kind: str | None
    discretizer: Discretizer
    nulls: Nulls
    ids: Names | None
    confidence: float
    interval: Method | None
    agreement: Agreement = field(default_factory=Same)
    clusters: str | None = None
    features: tuple[str, ...] = ()
    inputs: Names | None = None
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        check_method(self.interval)
        check_word(self.nulls, "nulls", NULLS)
        check_word(self.kind, "kind", _KINDS, optional=True)
        if isinstance(self.agreement, Spread):
            refuse_unproven(self.agreement, self.interval)
        if self.clusters is not None:
            _refuse_with_clusters(self.agreement, self.interval)
        if isinstance(self.agreement, OwnAgreement):
            raise NotProven(
                f"agreement={self.agreement.function!r} cannot be applied in an engine: pass fs.Spread(), "
                "fs.Close(eps) or fs.Tolerance(eps), or read the rows and call fs.consistency(..., agreement=...)."
            )
        if not isinstance(self.discretizer, Discretizer):
            raise WrongType(
                f"discretizer={self.discretizer!r} cannot be applied in an engine: pass an object such as fs.Sign()."
            )


def _refuse_with_clusters(agreement: Agreement, method: Method | None) -> None:
    """Raise if clustered rows cannot be measured like this in an engine."""
    refuse_for("clusters", method)
    if isinstance(agreement, Spread):
        raise NotProven("Spread is not measured for clustered rows: use agreement=fs.Close(eps) with clusters.")
