"""The same values as a caller may hold them: in lists, and in columns and tables of every library."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa


def columns(values):
    """One column of texts."""
    arrow = pa.array(values)
    yield from (list(values), tuple(values), np.array(values), np.array(values, object))
    yield np.array(values, np.dtypes.StringDType())
    yield from (pd.Series(values, dtype=dtype) for dtype in (object, "category", "string"))
    yield from (pl.Series(values, dtype=dtype) for dtype in (pl.String, pl.Categorical))
    yield from (arrow, pa.chunked_array([arrow[:1], arrow[1:]]))
    yield from (arrow.dictionary_encode(), pa.chunked_array([arrow.dictionary_encode()]))


def tables(frame):
    """A table of pandas, and what other libraries make of it."""
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    return frame, pl.from_pandas(frame), arrow, arrow.combine_chunks().to_batches()[0]
