"""The columns of a table as another library's explainer knows them: its own, in its order."""

from collections.abc import Sequence
from typing import Any

from faithscope.errors import BadInput
from faithscope.inputs.arrays import frame_names, is_frame
from faithscope.inputs.hints import hint


def by_name(X: Any, names: Sequence[Any] | None, explainer: str) -> tuple[Any, tuple[str, ...]]:
    """The rows with the columns that an explainer knows, in its order; and what a reader should know about it.

    Rows without names, and tables that have none of the explainer's names, are taken by position.

    Parameters
    ----------
    X : array-like or table
    names : sequence of names, optional
        The features of the explainer, in its order; None if it has no names.
    explainer : str
        What it is called.
    """
    if not is_frame(X) or names is None:
        return X, ()
    wanted, known = tuple(map(str, names)), frame_names(X)
    if wanted == known:
        return X, ()
    _refuse_repeated(wanted, known, explainer)
    missing = [name for name in wanted if name not in known]
    if not missing:
        return _taken(X, [known.index(name) for name in wanted]), ()
    if len(missing) < len(wanted) or len(wanted) != len(known):
        raise BadInput(
            f"{explainer} knows {len(wanted)} features, and X has no column {missing[0]!r} of theirs. "
            f"{hint(missing[0], known)} Pass a table with the columns that it was fitted on."
        )
    return X, () if _are_positions(wanted) else (_by_position(wanted, known, explainer),)


def _refuse_repeated(wanted: Sequence[str], known: Sequence[str], explainer: str) -> None:
    repeated = [name for name in wanted if max(known.count(name), wanted.count(name)) > 1]
    if repeated:
        raise BadInput(
            f"Two features of {explainer}, or two columns of X, are named {repeated[0]!r}, so columns cannot be told "
            "apart by name: rename one."
        )


def _taken(X: Any, places: list[int]) -> Any:
    """Columns of a table by position, in the library's own form."""
    if hasattr(X, "iloc"):
        return X.iloc[:, places]
    return X.select(places if hasattr(X, "column_names") else [X.columns[place] for place in places])


def _are_positions(names: Sequence[str]) -> bool:
    """Whether these are the names that a library gives features without names: '0', '1', …"""
    return list(names) == [str(place) for place in range(len(names))]


def _by_position(wanted: Sequence[str], known: Sequence[str], explainer: str) -> str:
    return (
        f"X has none of the feature names of {explainer}, so its columns were taken by position: {known[0]!r} as "
        f"{wanted[0]!r}, and so on"
    )
