"""Tables for people: pandas is imported only when one is asked for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def frame(columns: Mapping[str, Any], index: Any = None) -> "pd.DataFrame":
    """A pandas DataFrame of these columns, with these row labels or numbered rows."""
    import pandas as pd

    return pd.DataFrame(dict(columns), index=index)
