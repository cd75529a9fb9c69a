"""Which columns of a log are meant: by name, by list or by glob; near names are suggested."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.arrays import to_items
from faithscope.inputs.hints import hint

Names = str | Sequence[str]


def one_column(columns: Sequence[str], name: str, what: str) -> str:
    """The column of this name."""
    if not isinstance(name, str):
        raise WrongType(f"{what} is the name of a column; got {name!r}.")
    if name not in columns:
        raise BadInput(f"The log has no column {name!r} for {what}. {hint(name, columns)}")
    return name


def group_columns(columns: Sequence[str], by: Names) -> list[str]:
    """The columns that name populations."""
    chosen = [by] if isinstance(by, str) else to_items(by, "by, the names of columns,")
    return [one_column(columns, name, "by") for name in chosen]


def several_columns(columns: Sequence[str], wanted: Names, what: str) -> list[str]:
    """The columns that names or globs say, in the order of the log for a glob; a column's own name is no glob."""
    patterns = [wanted] if isinstance(wanted, str) else to_items(wanted, f"{what}, the names of columns,")
    found: dict[str, None] = {}
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise WrongType(f"{what} are names of columns or globs; got {pattern!r}.")
        matched = [pattern] if pattern in columns else [name for name in columns if fnmatchcase(name, pattern)]
        if not matched:
            raise BadInput(f"The log has no column {pattern!r} for {what}. {hint(pattern.strip('*'), columns)}")
        found.update(dict.fromkeys(matched))
    if not found:
        raise BadInput(f"No column was named for {what}. The log has: {', '.join(columns[:12])}.")
    return list(found)
