"""Blocks of rows that are explained together, and progress over them."""

from collections.abc import Callable, Iterator

Progress = Callable[[int, int], None]  # called with the number of rows done, and of all rows


def blocks(rows: int, step: int, progress: Progress | None = None) -> Iterator[slice]:
    """Consecutive slices of at most `step` rows (at least one); progress is called when the caller is done with each.

    Examples
    --------
    >>> [(block.start, block.stop) for block in blocks(5, 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, step)
    for start in range(0, rows, step):
        block = slice(start, min(start + step, rows))
        yield block
        if progress is not None:
            progress(block.stop, rows)
