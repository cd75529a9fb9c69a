"""Files that are never seen half written, and that only their owner can read if they are private."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from faithscope.errors import BadInput, WrongType

_PRIVATE, _USUAL = 0o600, 0o666  # modes; the process's umask removes bits of the second


def write_atomically(path: str | os.PathLike[str], content: bytes, *, private: bool = False) -> None:
    """Write a file under another name and rename it, so that no process ever reads half of it."""
    with whole_file(path, private=private) as file:
        file.write(content)


def write_page(path: str | os.PathLike[str], page: str) -> None:
    """Write a page that its owner alone may read; a lone surrogate, which has no encoding, becomes a question mark."""
    write_atomically(path, page.encode(errors="replace"), private=True)


@contextmanager
def whole_file(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """A file to write to, moved to its path when all is written; if anything fails, the old file stays.

    A file that replaces another keeps its mode. A new file that is private, since it holds rows of somebody's data,
    may be read by its owner alone.
    """
    target = to_file(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        stream = target.exists() and not target.is_file() and not target.is_dir()  # a device or a pipe
        with target.open("wb") if stream else _beside(target, _PRIVATE if private else _USUAL) as file:
            yield file
    except OSError as error:
        why = error.strerror or str(error)
        raise BadInput(f"{str(path)!r} cannot be written ({why}): free some space, or choose another folder.") from None


@contextmanager
def _beside(target: Path, new: int) -> Iterator[BinaryIO]:
    temporary = target.with_name(f".{uuid4().hex}.part")
    old = stat.S_IMODE(target.stat().st_mode) if target.is_file() else None
    try:
        temporary.touch(new if old is None else _PRIVATE, exist_ok=False)  # nobody may open it before its mode is set
        with temporary.open("wb") as file:
            with suppress(OSError):  # a file system without modes
                if old is not None:
                    temporary.chmod(old)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        with suppress(OSError):
            temporary.unlink()


def expanded(path: str | os.PathLike[str]) -> str:
    """A path or a glob as a caller wrote it, with ``~`` as the home folder; every path that is accepted passes here."""
    return os.path.expanduser(os.fspath(path))


def to_path(path: str | os.PathLike[str]) -> Path:
    """The file or folder that a caller means.

    Examples
    --------
    >>> to_path("~/report.html") == Path.home() / "report.html"
    True
    """
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise WrongType(f"The path of a file must be a text or a Path; got {path!r} ({type(path).__name__}).")
    return Path(expanded(path))


def to_file(path: str | os.PathLike[str]) -> Path:
    """The file that a path leads to, links followed; raises if it can be none."""
    target = to_path(path)
    with suppress(ValueError):  # a NUL, or a lone surrogate
        if target.name:
            return target.resolve()
    raise BadInput(f"{os.fspath(path)!r} is not the path of a file: pass one, such as 'report.html'.")


def to_folder(path: str | os.PathLike[str]) -> Path:
    """The folder that a caller means, whether it exists or not; raises if it can never exist."""
    folder = to_path(path)
    try:
        with suppress(FileNotFoundError):
            folder.stat()
    except (OSError, ValueError) as error:  # too long, below a file, or with a NUL in it
        why = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"{str(folder)!r} cannot be a folder ({why}): choose another.") from None
    return folder
