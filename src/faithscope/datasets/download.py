"""Downloads that are retried, and resumed after a broken connection."""

import time
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path

_TRIES = 4
_PATIENCE = 30.0  # seconds without a byte
_PAUSE = 1.0  # seconds before the second try; doubled before each next one
_BLOCK = 1 << 20


class Unreachable(Exception):
    """Nothing could be downloaded; the message says why."""


def fetch(url: str, part: Path) -> None:
    """Download a file to `part`, and continue from what is already there.

    Parameters
    ----------
    url : str
    part : path
        The whole file when this returns; an incomplete one, for the next try, if it raises.
    """
    why = ""
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_PAUSE * 2 ** (attempt - 1))
        try:
            return _go_on(url, part)
        except urllib.error.HTTPError as error:
            why = f"the server answered {error.code}"
            if error.code == 416:  # we hold more bytes than the server: start again
                part.unlink(missing_ok=True)
            elif error.code < 500:
                break
        except (OSError, HTTPException, EOFError) as error:
            why = str(getattr(error, "reason", error)) or type(error).__name__
    raise Unreachable(why)


def _go_on(url: str, part: Path) -> None:
    """Ask for the rest of a file and append it; raises if the connection ends before the file does."""
    part.parent.mkdir(parents=True, exist_ok=True)
    held = part.stat().st_size if part.exists() else 0
    asked = urllib.request.Request(url, headers={"Range": f"bytes={held}-"} if held else {})
    with urllib.request.urlopen(asked, timeout=_PATIENCE) as answer:
        resumed, length = answer.status == 206, answer.headers.get("Content-Length")
        with part.open("ab" if resumed else "wb") as file:
            while block := answer.read(_BLOCK):
                file.write(block)
    got, whole = part.stat().st_size, int(length or 0) + (held if resumed else 0)
    if length is not None and got != whole:
        raise EOFError(f"the connection ended after {got:,} of {whole:,} bytes")
