"""Files that are never seen half written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from faithscope.errors import BadInput, WrongType


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file beside its place and move it there, so that nobody ever sees half of it."""
    with whole_file(path) as file:
        file.write(content)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, moved to its place when all is written; what was there stays where anything fails."""
    place = _place(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists() and not place.is_file() and not place.is_dir():  # a device or a pipe is written to as it is
            with place.open("wb") as file:
                yield file
            return
        with _beside(place) as file:
            yield file
    except OSError as error:
        why = error.strerror or str(error)
        raise BadInput(f"{str(path)!r} cannot be written ({why}): free some space, or choose another folder.") from None


@contextmanager
def _beside(place: Path) -> Iterator[BinaryIO]:
    temporary = place.with_name(f".{uuid4().hex}.part")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, place)
    finally:
        with suppress(OSError):
            temporary.unlink()


def expanded(path: str | os.PathLike[str]) -> str:
    """A path or a glob as a caller wrote it, with ``~`` as the home folder; every path that is taken comes by here."""
    return os.path.expanduser(os.fspath(path))


def to_path(path: str | os.PathLike[str]) -> Path:
    """The file or folder that a caller means.

    Examples
    --------
    >>> to_path("~/report.html") == Path.home() / "report.html"
    True
    """
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise WrongType(f"The path of a file is a text or a Path; got {path!r}, a {type(path).__name__}.")
    return Path(expanded(path))


def to_folder(path: str | os.PathLike[str]) -> Path:
    """The folder that a caller means, there or not yet; one that can never be is refused."""
    folder = to_path(path)
    try:
        folder.stat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:  # too long, below a file, or with a NUL in it
        why = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"{str(folder)!r} cannot be a folder ({why}): choose another.") from None
    return folder


def _place(path: str | os.PathLike[str]) -> Path:
    """Where a path leads, links followed."""
    place = to_path(path)
    if "\0" in str(place) or not place.name:
        raise BadInput(f"{os.fspath(path)!r} is no path of a file: name one.")
    return Path(os.path.realpath(place))
