"""Files that are never seen half written, and are not opened to others by being written."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from faithscope.errors import BadInput, WrongType

_PRIVATE, _USUAL = 0o600, 0o666  # of the second the process's mask takes some away


def write_atomically(path: str | os.PathLike[str], content: bytes, *, private: bool = False) -> None:
    """Write a file beside its place and move it there, so that nobody ever sees half of it."""
    with whole_file(path, private=private) as file:
        file.write(content)


@contextmanager
def whole_file(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """A file to write to, moved to its place when all is written; what was there stays where anything fails.

    A file that replaces another keeps the mode of that one. A new one that is private, since it holds rows of
    somebody's data, may be read by its owner alone.
    """
    place = _place(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists() and not place.is_file() and not place.is_dir():  # a device or a pipe is written to as it is
            with place.open("wb") as file:
                yield file
            return
        with _beside(place, _PRIVATE if private else _USUAL) as file:
            yield file
    except OSError as error:
        why = error.strerror or str(error)
        raise BadInput(f"{str(path)!r} cannot be written ({why}): free some space, or choose another folder.") from None


@contextmanager
def _beside(place: Path, new: int) -> Iterator[BinaryIO]:
    temporary = place.with_name(f".{uuid4().hex}.part")
    old = stat.S_IMODE(place.stat().st_mode) if place.is_file() else None
    try:
        temporary.touch(new if old is None else _PRIVATE, exist_ok=False)
        with temporary.open("wb") as file:
            if old is not None:
                with suppress(OSError):  # a file system without modes
                    os.chmod(temporary, old)
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
    if "\0" in str(place) or not place.name or not _has_bytes(place):
        raise BadInput(f"{os.fspath(path)!r} is no path of a file: name one.")
    return Path(os.path.realpath(place))


def _has_bytes(place: Path) -> bool:
    """Whether a path can be written in bytes, which one with a lone surrogate cannot."""
    try:
        os.fsencode(place)
    except UnicodeEncodeError:
        return False
    return True
