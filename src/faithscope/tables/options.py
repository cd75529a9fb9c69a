"""The options of an audit, checked once."""

from dataclasses import dataclass

from faithscope.discretizers import Discretizer
from faithscope.errors import WrongType
from faithscope.measures.estimate import Method, check_method
from faithscope.measures.intervals import check_confidence
from faithscope.tables.engine.missing import Nulls, check_nulls
from faithscope.tables.log.columns import Names


@dataclass(frozen=True)
class AuditOptions:
    """How a log is read and measured; `faithscope.audit` says what each of these is."""

    prediction: str | None
    explanation: Names | None
    kind: str | None
    discretizer: Discretizer
    nulls: Nulls
    ids: Names | None
    confidence: float
    interval: Method

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        check_method(self.interval)
        check_nulls(self.nulls)
        if not isinstance(self.discretizer, Discretizer):
            raise WrongType(
                f"discretizer={self.discretizer!r} cannot be applied in an engine: pass an object such as fs.Sign()."
            )
