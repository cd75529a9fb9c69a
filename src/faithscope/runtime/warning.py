"""Warnings that point at the caller's line, however deep inside this package they arise."""

import sys
import warnings


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called this package, or what `contextlib` has wrapped of it."""
    level, frame, ours = 1, sys._getframe(0), ("faithscope", "contextlib")
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in ours:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
