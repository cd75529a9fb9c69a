"""One state of a log for all questions of an audit, though others write to it meanwhile.

Engines with transactions are asked in one (`Backend.one_state`). If an engine has none, or a log is files, what the
questions counted must add up to the same rows; what does not is an error, never an answer.
"""

import os
from collections.abc import Sequence

from faithscope.errors import BadInput

Stamps = tuple[tuple[str, int, int, int], ...]


def changed(seen: str) -> BadInput:
    """The error if a log was written to between two questions."""
    return BadInput(f"The log was written to while it was audited ({seen}): audit it again, or a copy of it.")


def refuse_change(before: int, now: int) -> None:
    """Raise if two questions counted different numbers of rows."""
    if before != now:
        raise changed(f"{before:,} rows at first, {now:,} later")


def stamps(files: Sequence[str]) -> Stamps:
    """What tells that local files are still those that were opened."""
    return tuple(_stamp(file) for file in files if os.path.exists(file))


def _stamp(file: str) -> tuple[str, int, int, int]:
    status = os.stat(file)
    return file, status.st_ino, status.st_size, status.st_mtime_ns


def refuse_rewritten(before: Stamps) -> None:
    """Raise if a file is no longer the one that was opened."""
    for stamp in before:
        if not os.path.exists(stamp[0]) or _stamp(stamp[0]) != stamp:
            raise changed(f"{stamp[0]!r} is no longer the file that was opened")
