"""8,000 people of the Adult data, which come with the package: real rows with missing values, categories and groups.

``python -m faithscope.datasets.adult_sample`` makes the file anew from the whole data set.
"""

from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from faithscope.datasets import Dataset

ROWS = 8000
_FOLDER, _FILE = "bundled", "adult_sample.parquet"


def adult_sample() -> "Dataset":
    """A random sample of 8,000 people of the Adult data set (UCI, CC BY 4.0), in random order.

    Columns are as in the whole data set, ``datasets.load("adult")``; missing values are missing.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from faithscope import datasets
    >>> datasets.adult_sample()
    Dataset('adult_sample', 8,000 rows, 14 columns, 2 classes)
    """
    from faithscope.datasets import Dataset

    table = _table().copy()
    labels = table.pop("label").to_numpy(object)
    words = tuple(name for name in table if not np.issubdtype(np.asarray(table[name]).dtype, np.number))
    return Dataset("adult_sample", table, labels, tuple(sorted(set(labels))), words)


@cache
def _table() -> "pd.DataFrame":
    import pandas as pd

    table = pd.read_parquet(BytesIO(files(__package__).joinpath(_FOLDER, _FILE).read_bytes()))
    return table.where(
        table.notna(), np.nan
    )  # older pandas reads missing texts as None, which encoders take for a text


def sampled(whole: "pd.DataFrame") -> "pd.DataFrame":
    """The rows that the file holds, of a table with all rows and their label."""
    return whole.iloc[np.random.default_rng(0).permutation(len(whole))[:ROWS]].reset_index(drop=True)


if __name__ == "__main__":
    from pathlib import Path

    from faithscope.datasets import load

    adult = load("adult")
    path = Path(__file__).parent / _FOLDER / _FILE
    sampled(adult.X.assign(label=adult.y)).to_parquet(path, compression="zstd", index=False)
    print(f"{path.name}: {path.stat().st_size:,} bytes")
