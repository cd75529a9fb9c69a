"""Which columns of a log are meant: by name, by list or by glob; similar names are suggested."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.arrays import to_items
from faithscope.inputs.hints import hint

Names = str | Sequence[str]


def one_column(columns: Sequence[str], name: str, role: str) -> str:
    """The column of this name."""
    if not isinstance(name, str):
        raise WrongType(f"{role} is the name of a column; got {name!r}.")
    if name not in columns:
        raise BadInput(f"The log has no column {name!r} for {role}. {hint(name, columns)}")
    return name


def named_columns(columns: Sequence[str], names: Names, role: str) -> tuple[str, ...]:
    """The columns of these names."""
    return tuple(one_column(columns, name, role) for name in name_list(names, role))


def name_list(names: Names, role: str) -> list[str]:
    """One name or several as a list."""
    return [names] if isinstance(names, str) else to_items(names, f"{role}, the names of columns,")


def several_columns(columns: Sequence[str], names: Names, role: str) -> list[str]:
    """The columns that names or globs mean, in the order of the log for a glob; a column's own name is no glob."""
    chosen: dict[str, None] = {}
    for pattern in name_list(names, role):
        if not isinstance(pattern, str):
            raise WrongType(f"{role} takes names of columns or globs; got {pattern!r}.")
        matched = [pattern] if pattern in columns else [name for name in columns if fnmatchcase(name, pattern)]
        if not matched:
            raise BadInput(f"The log has no column {pattern!r} for {role}. {hint(pattern.strip('*'), columns)}")
        chosen.update(dict.fromkeys(matched))
    if not chosen:
        raise BadInput(f"No column was named for {role}. The log has: {', '.join(columns[:12])}.")
    return list(chosen)


def refuse_ids(ids: Sequence[str], role: str, columns: Sequence[str], named: str = "id") -> None:
    """Raise if a column that identifies rows, or whose they are, would also be measured."""
    both = [name for name in ids if name in columns]
    if both:
        raise BadInput(
            f"Column {both[0]!r} is named both for {named} and for {role}: a column that identifies rows is never "
            "measured. Leave it out of one of them."
        )
