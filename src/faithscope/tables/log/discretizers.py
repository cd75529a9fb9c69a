"""Discretizers of one feature at a time as relational expressions, with the same answers as in memory.

Values are the columns ``v0 …`` of a table, the rows that counterfactuals belong to ``o0 …``. Doubles stay doubles.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import singledispatch
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
    Original,
    Phrases,
    Sign,
    Template,
    Truncate,
)
from faithscope.discretizers.base import steps
from faithscope.errors import WrongType
from faithscope.tables.engine.expressions import as_number, literal
from faithscope.tables.engine.protocol import Expression, Table
from faithscope.tables.log.kinds import KeyColumns, Kind, NumberColumns, PairColumns

_WHOLE = 2.0**53  # beyond it every double is a whole number

Coarse = tuple[Table, Kind]  # a table and what its values are now


def reads_texts(discretizer: Any) -> bool:
    """Whether a discretizer, or the first of a chain, takes reasons in words."""
    while isinstance(discretizer, Chain):
        discretizer = discretizer.first
    return isinstance(discretizer, Clusters | Codebook | CommonPhrases | Phrases | Template)


def known_to_engines(discretizer: Any) -> bool:
    """Whether rows of a log can be discretized where they are, or on their way into a DuckDB of our own."""
    if not isinstance(discretizer, Discretizer):
        return False
    unknown = coarsen.dispatch(object)
    return all(
        reads_texts(step) or step.orders_features or coarsen.dispatch(type(step)) is not unknown
        for step in steps(discretizer)
    )


@singledispatch
def coarsen(discretizer: Any, table: Table, kind: Kind) -> Coarse:
    """The table with coarser values, and the kind of these."""
    if reads_texts(discretizer):
        raise WrongType(
            f"{discretizer!r} discretizes reasons in words; the log holds {kind.what}. Name a column of texts as the "
            "explanation, and pass kind='reasons'."
        )
    if getattr(discretizer, "orders_features", False):
        to_numbers(discretizer, kind)
        raise AssertionError(f"{discretizer!r} orders numbers in NumPy")
    raise WrongType(
        f"{discretizer!r} is not known to engines: use Floor, Truncate, Sign, Rank, SignOfTop, TopFeatures, "
        "ReasonCodes, Delta, DeltaSign or Modified, or discretize before you write the log."
    )


@coarsen.register
def _(discretizer: Original, table: Table, kind: Kind) -> Coarse:
    return table, kind


@coarsen.register
def _(discretizer: Chain, table: Table, kind: Kind) -> Coarse:
    return coarsen(discretizer.second, *coarsen(discretizer.first, table, kind))


@coarsen.register
def _(discretizer: Floor, table: Table, kind: Kind) -> Coarse:
    return _fixed_point(discretizer, table, kind, _floor)


@coarsen.register
def _(discretizer: Truncate, table: Table, kind: Kind) -> Coarse:
    return _fixed_point(discretizer, table, kind, _truncate)


def _fixed_point(discretizer: Floor | Truncate, table: Table, kind: Kind, cut: Callable[[Any, bool], Any]) -> Coarse:
    numbers = to_numbers(discretizer, kind)
    scale = 10.0**discretizer.decimals
    bound = None if numbers.bound is None else numbers.bound + 1 / scale
    small = bound is not None and bound * scale < _WHOLE
    # In steps, so that each product is written once; m0 … are the same before they are divided.
    scaled = table.mutate(**{v: table[v] * literal(scale) for v in _values(numbers)})
    whole = {f"m{j}": cut(scaled[v], small) for j, v in enumerate(_values(numbers))}
    cuts = scaled.mutate(**whole)
    cuts = cuts.mutate(**{f"v{j}": cuts[m] / literal(scale) + literal(0.0) for j, m in enumerate(whole)})
    decimals = int(discretizer.decimals) if small else None
    return cuts, replace(numbers, form=_form(numbers, discretizer), span=None, decimals=decimals, bound=bound)


def _floor(x: Any, small: bool) -> Any:
    """The floor; as a double if Ibis's own, which is an integer, may not hold it."""
    import ibis

    if small:
        return x.floor()
    fits = x.abs() < literal(_WHOLE)
    return ibis.ifelse(fits, ibis.ifelse(fits, x, literal(0.0)).floor().cast("float64"), x)


def _truncate(x: Any, small: bool) -> Any:
    import ibis

    return ibis.ifelse(x < 0, -_floor(-x, small), _floor(x, small))


@coarsen.register
def _(discretizer: Sign, table: Table, kind: Kind) -> Coarse:
    numbers = to_numbers(discretizer, kind)
    return _mutated(table, {v: _sign(table[v]) for v in _values(numbers)}, numbers, discretizer, (-1, 1))


def _sign(x: Any) -> Any:
    return x.sign().cast("float64")  # which Ibis takes it for already, so that DuckDB casts it once, if it is packed


def _direction(new: Any, old: Any) -> Any:
    """-1, 0 or 1; 1 if one of them is missing, and 0 if both are."""
    return (as_number(new > old) - as_number(new < old)).coalesce(_unlike(new, old))


def _unlike(new: Any, old: Any) -> Any:
    return as_number(~new.identical_to(old))


def total(parts: list[Expression]) -> Expression:
    """The sum of expressions, as a shallow tree."""
    import ibis

    while len(parts) > 1:
        parts = [parts[i] + parts[i + 1] if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
    return parts[0] if parts else ibis.literal(0, "int64")


def packed(codes: list[Expression], levels: int) -> Expression:
    """Small integers in one integer of 64 bits: Σ code · levels^i."""
    import ibis

    # In float64 if it is exact: it has no overflow to look for, so DuckDB adds it up twice as fast.
    kind = "float64" if levels ** len(codes) <= _WHOLE / 2 else "int64"
    # Powers by their text, since an engine takes a short number for a narrow one, and overflows.
    powers = [ibis.literal(str(levels**i)).cast(kind) for i in range(len(codes))]
    return total([code.cast(kind) * power for code, power in zip(codes, powers, strict=True)]).cast("int64")


@coarsen.register
def _(discretizer: Delta, table: Table, kind: Kind) -> Coarse:
    pairs = _pairs(discretizer, kind)
    holes = pairs.holes or (False,) * pairs.width
    if all(pairs.numeric) and not any(holes):
        change = {f"v{j}": table[f"v{j}"] - table[f"o{j}"] for j in range(pairs.width)}
        return table.mutate(**change), NumberColumns(pairs.names, pairs.named, repr(discretizer))
    columns: dict[str, Any] = {}
    names: list[str] = []
    for j, (name, numeric) in enumerate(zip(pairs.names, pairs.numeric, strict=True)):
        new, old = table[f"v{j}"], table[f"o{j}"]
        parts, part_names = _change(new, old, numeric, holes[j], name)
        columns |= {f"v{len(columns) + i}": part for i, part in enumerate(parts)}
        names += part_names
    return table.mutate(**columns), KeyColumns(tuple(names), (False,) * len(names), True)


def _change(new: Any, old: Any, numeric: bool, hole: bool, name: str) -> tuple[list[Any], list[str]]:
    """The change of one feature: a difference, or both values if there is none, each with its name."""
    import ibis

    if numeric and not hole:
        return [new - old], [name]
    apart = new.isnull() | old.isnull() if numeric else ~new.identical_to(old)
    values = [ibis.ifelse(apart, part, None) for part in (old, new)]
    names = [f"{name} before", f"{name} after"]
    return ([ibis.ifelse(new.identical_to(old), 0, new - old), *values], [name, *names]) if numeric else (values, names)


@coarsen.register
def _(discretizer: DeltaSign, table: Table, kind: Kind) -> Coarse:
    pairs = _pairs(discretizer, kind)
    moved = {
        f"v{j}": _direction(table[f"v{j}"], table[f"o{j}"]) if numeric else _differs(table, j)
        for j, numeric in enumerate(pairs.numeric)
    }
    return table.mutate(**moved), NumberColumns(pairs.names, pairs.named, repr(discretizer), (-1, 1))


@coarsen.register
def _(discretizer: Modified, table: Table, kind: Kind) -> Coarse:
    pairs = _pairs(discretizer, kind)
    changed = {f"v{j}": _differs(table, j) for j in range(pairs.width)}
    return table.mutate(**changed), NumberColumns(pairs.names, pairs.named, repr(discretizer), (0, 1))


def _differs(table: Table, j: int) -> Any:
    return _unlike(table[f"v{j}"], table[f"o{j}"])


def _values(kind: Kind) -> list[str]:
    return [f"v{j}" for j in range(kind.width)]


def _form(numbers: NumberColumns, discretizer: Any) -> str:
    return f"{numbers.form} | {discretizer!r}" if numbers.form else repr(discretizer)


def _mutated(
    table: Table, columns: dict[str, Any], numbers: NumberColumns, discretizer: Any, span: tuple[int, int]
) -> tuple[Any, NumberColumns]:
    coarse = replace(numbers, form=_form(numbers, discretizer), span=span, decimals=None, bound=None)
    return table.mutate(**columns), coarse


def to_numbers(discretizer: Any, kind: Kind) -> NumberColumns:
    """The kind, if it is numbers that a discretizer of importances can take."""
    if isinstance(kind, NumberColumns) and not kind.order:
        return kind
    hint = " Take the change first: Delta() | ..." if isinstance(kind, PairColumns) else ""
    if kind.what == "keys":
        hint = ' If they are meant to be numbers, pass kind="importances", --kind importances: it names what is none.'
    raise WrongType(f"{discretizer!r} discretizes importances; the log holds {kind.what}.{hint}")


def _pairs(discretizer: Any, kind: Kind) -> PairColumns:
    if isinstance(kind, PairColumns):
        return kind
    raise WrongType(f"{discretizer!r} discretizes counterfactuals (columns cf_*); the log holds {kind.what}.")
