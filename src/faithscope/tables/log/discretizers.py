"""Which discretizers the rows of a log are coarsened by, and of which explanations."""

from typing import Any

from faithscope.discretizers import (
    Chain,
    Clusters,
    Codebook,
    CommonPhrases,
    Delta,
    DeltaSign,
    Discretizer,
    Floor,
    Modified,
    Phrases,
    Sign,
    Template,
    Truncate,
)
from faithscope.discretizers.base import steps
from faithscope.errors import WrongType
from faithscope.tables.engine.expressions import Expression, literal
from faithscope.tables.log.kinds import Kind, NumberColumns, PairColumns, ReasonColumn

_WHOLE = 2.0**53  # beyond it every double is a whole number


def reads_texts(discretizer: Any) -> bool:
    """Whether a discretizer, or the first of a chain, takes reasons in words."""
    while isinstance(discretizer, Chain):
        discretizer = discretizer.first
    return isinstance(discretizer, Clusters | Codebook | CommonPhrases | Phrases | Template)


def known_to_engines(discretizer: Any) -> bool:
    """Whether rows of a log can be discretized on their way into a DuckDB of our own."""
    known = Floor | Truncate | Sign | Delta | DeltaSign | Modified
    return isinstance(discretizer, Discretizer) and all(
        isinstance(step, known) or step.orders_features or reads_texts(step) for step in steps(discretizer)
    )


def coarsened(discretizer: Any, value: Expression) -> Expression:
    """A number discretized where it is: by `Sign` or `Floor` alone, which every engine works out fast."""
    import ibis

    if isinstance(discretizer, Sign):
        return value.sign().cast("float64")
    if not isinstance(discretizer, Floor):
        return value
    scale = literal(10.0**discretizer.decimals)
    whole = (value * scale).abs() < literal(_WHOLE)  # else the floor, an integer in Ibis, may not hold it
    floor = ibis.ifelse(whole, value * scale, literal(0.0)).floor().cast("float64")
    return ibis.ifelse(whole, floor, value * scale) / scale + literal(0.0)


def refuse_unlike(discretizer: Any, kind: Kind) -> None:
    """Raise if a discretizer does not take the explanations of a log."""
    first = next(iter(steps(discretizer)), None)
    if first is None or isinstance(kind, ReasonColumn):
        return
    if reads_texts(first):
        raise WrongType(
            f"{first!r} discretizes reasons in words; the log holds {kind.what}. Name a column of texts as the "
            "explanation, and pass kind='reasons'."
        )
    if not known_to_engines(discretizer):
        raise WrongType(
            f"{discretizer!r} is not known to engines: use Floor, Truncate, Sign, Rank, SignOfTop, TopFeatures, "
            "ReasonCodes, Delta, DeltaSign or Modified, or discretize before you write the log."
        )
    if isinstance(first, Delta | DeltaSign | Modified):
        if not isinstance(kind, PairColumns):
            raise WrongType(f"{first!r} discretizes counterfactuals (columns cf_*); the log holds {kind.what}.")
    elif not isinstance(kind, NumberColumns) or kind.order:
        hint = " Take the change first: Delta() | ..." if isinstance(kind, PairColumns) else ""
        if kind.what == "keys":
            hint = (
                ' If they are meant to be numbers, pass kind="importances", --kind importances: it names what is none.'
            )
        raise WrongType(f"{first!r} discretizes importances; the log holds {kind.what}.{hint}")
