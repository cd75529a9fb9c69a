"""Tables for people: pandas is imported only when one is asked for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def frame(columns: Mapping[str, Any]) -> "pd.DataFrame":
    """A pandas DataFrame of these columns."""
    import pandas as pd

    return pd.DataFrame(dict(columns))
