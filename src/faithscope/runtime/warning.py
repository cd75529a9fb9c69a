"""Warnings that point at the caller's line, however deep inside this package they arise."""

import sys
import warnings


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called this package."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "faithscope":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
