"""Downloads that are tried again after a broken connection."""

import time
import urllib.error
import urllib.request
from http.client import HTTPException

_TRIES = 4
_PATIENCE = 30.0  # seconds without a byte
_PAUSE = 1.0  # seconds before the second try; doubled before each next one


class Unreachable(Exception):
    """Nothing could be downloaded; the message says why."""


def fetch(url: str) -> bytes:
    """What is at an address, whole."""
    why = ""
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_PAUSE * 2 ** (attempt - 1))
        try:
            with urllib.request.urlopen(url, timeout=_PATIENCE) as answer:
                content: bytes = answer.read()
                return content
        except urllib.error.HTTPError as error:
            why = f"the server answered {error.code}"
            if error.code < 500:
                break
        except (OSError, HTTPException) as error:
            why = str(getattr(error, "reason", error)) or type(error).__name__
    raise Unreachable(why)
