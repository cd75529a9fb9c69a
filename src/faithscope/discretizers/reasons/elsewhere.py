"""Searches that may take long, in a Python of their own that can be stopped: `re` itself cannot be interrupted."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence

from faithscope.errors import BadInput

_PROGRAM = (
    "import json, re, sys\n"
    "asked = json.load(sys.stdin)\n"
    "search = re.compile(asked['pattern'], asked['flags']).search\n"
    "json.dump([search(text) is not None for text in asked['texts']], sys.stdout)\n"
)


def search_elsewhere(expression: re.Pattern[str], texts: Sequence[str], seconds: float) -> list[bool] | None:
    r"""Which texts have a match; None if that takes longer than so many seconds.

    Examples
    --------
    >>> search_elsewhere(re.compile("a+b"), ["aab", "\ud800"], 60)
    [True, False]
    >>> search_elsewhere(re.compile("(a+)+b"), ["a" * 40], 0.5) is None
    True
    """
    asked = {"pattern": expression.pattern, "flags": int(expression.flags), "texts": list(texts)}
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            input=json.dumps(asked).encode(),
            capture_output=True,
            timeout=max(seconds, 0.0),
            check=True,
        )
    except subprocess.TimeoutExpired:
        return None
    except (OSError, subprocess.CalledProcessError) as problem:
        raise BadInput(
            f"A pattern that may take long is searched in another Python, which could not be run ({problem}): bound "
            "its repeats, such as .{0,100}."
        ) from None
    matched: list[bool] = json.loads(done.stdout)
    return matched
