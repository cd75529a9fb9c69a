"""Downloads that are tried again after a broken connection."""

import time
import urllib.error
import urllib.request
from http.client import HTTPException

_TRIES = 4
_PATIENCE = 30.0  # seconds without a byte
_PAUSE = 1.0  # seconds before the second try; 3 and 7 before the next ones


def fetch(url: str) -> bytes:
    """What is at an address, whole; raises why nothing could be downloaded."""
    why: Exception = OSError()
    for attempt in range(_TRIES):
        time.sleep(_PAUSE * (2**attempt - 1))
        try:
            with urllib.request.urlopen(url, timeout=_PATIENCE) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            why = OSError(f"the server answered {error.code}")
            if error.code < 500:
                break
        except (OSError, HTTPException) as error:
            why = error
    raise why
