"""Small expressions that every engine answers alike: literals, functions that Ibis does not know, floored division."""

from inspect import Parameter, Signature
from typing import Any

from faithscope.tables.engine.protocol import Expression

DAY = 86400  # seconds


def literal(value: Any) -> Expression:
    """A value as an Ibis literal; floats by their exact text, since an engine may read 0.1 as a decimal first."""
    import ibis

    if isinstance(value, float):
        return ibis.literal(repr(value)).cast("float64")
    if isinstance(value, int) and value >= 2**63:
        return ibis.literal(value, "uint64")
    return ibis.literal(value)


def call(name: str, value: Expression, answer: Any, *others: Expression) -> Expression:
    """A function that the engine has and Ibis does not know; `answer` is the type of the result."""
    import ibis

    def builtin(value: Any) -> Any: ...

    values = (value, *others)
    parameters = [Parameter(f"value{j}", Parameter.POSITIONAL_OR_KEYWORD) for j in range(len(values))]
    builtin.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    signature = (tuple(each.type() for each in values), answer)
    return ibis.udf.scalar.builtin(builtin, name=name, signature=signature)(*values)


def as_number(flag: Expression) -> Expression:
    """A truth value as 0 or 1, null if it is null; Postgres casts it to no wider integer."""
    return flag.cast("int32")


def floor_to(number: Expression, step: int) -> Expression:
    """Integers divided by a step and floored; engines disagree on how to divide negative ones."""
    inside = (number % step + step) % step
    return ((number - inside) / step).round().cast("int64")
