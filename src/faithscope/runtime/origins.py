"""The origin of code: Python itself, installed packages and faithscope, which one digest stands for; or the user's own.

The user's own code has no version: its content counts, wherever a fingerprint reaches it.
"""

import hashlib
import os
import platform
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_OURS = "faithscope"
_INSTALLED = {"site-packages", "dist-packages"}


@cache
def environment() -> str:
    """A digest of all code that is not the user's own: Python's version, what is installed, and our source files.

    Of what is installed, the lists of files with their hashes count: code may change while its version stays.
    """
    digest = hashlib.blake2b(f"{platform.python_implementation()} {sys.version}".encode(), digest_size=16)
    ours = Path(__file__).parents[1]
    sources = {path.relative_to(ours).as_posix(): path for path in ours.rglob("*.py")}
    installed = {path.name: path / "RECORD" for folder in sys.path for path in Path(folder).glob("*-info")}
    for name, path in [*sorted(sources.items()), *sorted(installed.items())]:
        content = path.read_bytes() if path.is_file() else b""
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def is_own(name: str) -> bool:
    """Whether a module, loaded or not, is the user's own: neither Python's, nor installed, nor ours."""
    top = name.partition(".")[0]
    if name == "__main__" or top == _OURS:
        return top != _OURS
    module = sys.modules.get(name) or sys.modules.get(top)
    try:
        spec = getattr(module, "__spec__", None) or find_spec(top)
    except (ImportError, ValueError):
        spec = None
    files = [getattr(module, "__file__", None), getattr(spec, "origin", None)]
    folders = getattr(spec, "submodule_search_locations", None) or ()  # of a package without a file of its own
    return not any(map(_is_installed, [*filter(None, files), *folders][:1]))


@cache
def _is_installed(file: str) -> bool:
    path = Path(file)
    python = file in ("built-in", "frozen") or Path(os.__file__).parent in path.parents
    return python or not _INSTALLED.isdisjoint(path.parts)
