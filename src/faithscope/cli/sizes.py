"""How much memory the rows of a file take; Parquet stores a long text once, however many rows have it."""

from pathlib import Path
from typing import Any

import numpy as np

from faithscope.runtime.memory import SMALL, available

_TEXTS = ("string", "large_string", "string_view", "binary", "large_binary")


def bytes_of_rows(path: Path) -> int:
    """Bytes of memory that a file's rows take at least, while they are read."""
    from pyarrow import parquet

    if path.suffix.lower() == ".csv":
        return 2 * path.stat().st_size
    with parquet.ParquetFile(path) as file:
        cells = 16 * int(file.metadata.num_rows) * int(file.metadata.num_columns)
        texts = [field.name for field in file.schema_arrow if str(field.type) in _TEXTS]
        most = cells + _most(file.metadata, set(texts))
    # Texts are read to be measured only if they might not fit.
    return most if most <= max(SMALL, available()) else cells + _letters(path, texts)


def _most(metadata: Any, texts: set[str]) -> int:
    """What texts take if every row has all that a group of rows keeps of them."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    chunks = [(int(group.num_rows), group.column(j)) for group in groups for j in range(group.num_columns)]
    return sum(rows * int(chunk.total_uncompressed_size) for rows, chunk in chunks if chunk.path_in_schema in texts)


def _letters(path: Path, texts: list[str]) -> int:
    """Bytes of all texts, each as often as it occurs."""
    import pyarrow.compute as pc
    from pyarrow import parquet

    total = 0
    with parquet.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(columns=texts):
            for column in batch.columns:
                lengths = np.asarray(pc.binary_length(column.dictionary).fill_null(0), np.int64)
                total += int(lengths[np.asarray(column.indices.drop_null(), np.int64)].sum())
    return total
