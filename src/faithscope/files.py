"""Files that are never seen half written."""

import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from faithscope.errors import BadInput


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file beside its place and move it there, so that nobody ever sees half of it."""
    temporary = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise BadInput(
            f"{str(path)!r} cannot be written ({error.strerror}): free some space, or choose another folder."
        ) from None
    finally:
        with suppress(OSError):
            temporary.unlink()
