"""Tables for people: pandas is imported only when one is asked for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from faithscope.visible import visible

if TYPE_CHECKING:
    import pandas as pd


def frame(columns: Mapping[str, Any], index: Any = None) -> "pd.DataFrame":
    """A pandas DataFrame of these columns, with these row labels or numbered rows."""
    import pandas as pd

    return pd.DataFrame(dict(columns), index=index)


def shown(table: "pd.DataFrame") -> "pd.DataFrame":
    """The same table with every text of its cells `visible`, for a page or a notebook."""
    texts = [name for name, kind in table.dtypes.items() if kind.kind == "O"]
    return table.assign(**{name: [_cell(cell) for cell in table[name]] for name in texts})


def _cell(cell: Any) -> Any:
    return visible(cell) if isinstance(cell, str) else cell
