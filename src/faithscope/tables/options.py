"""The options of an audit, checked once."""

from dataclasses import dataclass, field

from faithscope.agreements import Agreement, Same
from faithscope.discretizers import Discretizer
from faithscope.errors import WrongType
from faithscope.inputs.checks import check_word
from faithscope.measures.intervals.margins import check_confidence
from faithscope.tables.engine.missing import NULLS, Nulls
from faithscope.tables.log.columns import Names

KINDS = ("importances", "keys", "reasons", "codes", "rules", "words", "prototypes", "counterfactuals")


@dataclass(frozen=True)
class AuditOptions:
    """How a log is read and measured; `faithscope.audit` says what each of these is.

    `features` are those of the log that this one is compared with, in its order; empty for the log's own. `raw` reads
    rows as they are, with all their inputs, to be discretized in memory.
    """

    prediction: Names | None
    explanation: Names | None
    kind: str | None
    discretizer: Discretizer
    nulls: Nulls
    ids: Names | None
    confidence: float
    interval: str | None
    agreement: Agreement = field(default_factory=Same)
    clusters: str | None = None
    weights: str | None = None
    features: tuple[str, ...] = ()
    inputs: Names | None = None
    unseen: bool = False
    raw: bool = False

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        check_word(self.nulls, "nulls", NULLS)
        check_word(self.kind, "kind", KINDS, optional=True)

    def check_counted(self) -> None:
        """Raise if no engine counts rows by these options."""
        if not isinstance(self.discretizer, Discretizer):
            raise WrongType(
                f"discretizer={self.discretizer!r} cannot be applied in an engine: pass an object such as fs.Sign()."
            )
