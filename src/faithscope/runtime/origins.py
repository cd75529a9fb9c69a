"""The origin of code: Python itself, an installed package, faithscope, or the user's own files.

A version stands for all code of an installed package. The user's own code has no version: its content counts.
"""

import hashlib
import platform
import sys
import sysconfig
import types
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path, PurePath

_OURS = "faithscope"
# Packages that our own answers are computed with; their versions count with our sources.
_USED = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "shap", "dice-ml")
_INSTALLED = ("site-packages", "dist-packages")


@cache
def python() -> str:
    """The interpreter and its version, which stand for the standard library."""
    return f"{platform.python_implementation()} {platform.python_version()}"


@cache
def our_sources() -> str:
    """A digest of every source file of this package, with the versions of the packages that it computes with."""
    folder = Path(__file__).parents[1]
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.rglob("*.py"), key=lambda source: source.relative_to(folder).as_posix()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode() + content)
    versions = ", ".join(f"{name} {_version(name)}" for name in _USED)
    return f"{_OURS} {digest.hexdigest()} with {versions}"


def of_module(name: str) -> str | None:
    """What stands for all code of a module, loaded or not; None if it is the user's own."""
    if name.partition(".")[0] == _OURS:
        return our_sources()
    module = sys.modules.get(name)
    if name == "__main__" or (module is None and "." in name):
        return None if name == "__main__" else of_module(name.partition(".")[0])
    try:
        spec = getattr(module, "__spec__", None) or find_spec(name)
    except (ImportError, ValueError):
        spec = None
    if spec is not None and spec.origin in ("built-in", "frozen"):
        return python()
    file = getattr(module, "__file__", None) or getattr(spec, "origin", None)
    folders = [file] if file else list(getattr(spec, "submodule_search_locations", None) or ())
    return of_file(file or str(Path(folders[0], "__init__.py"))) if folders else None


def of_function(function: types.FunctionType) -> str | None:
    """What stands for a function's code; None if it is the user's own."""
    file = function.__code__.co_filename
    if not file.startswith("<"):
        return of_file(file)
    if file.startswith("<frozen"):
        return python()
    # Code that was made from a text, as a dataclass's is: it belongs to the module that it looks names up in.
    name = str(function.__globals__.get("__name__", ""))
    return of_module(name) if getattr(sys.modules.get(name), "__dict__", None) is function.__globals__ else None


@cache
def of_file(file: str) -> str | None:
    """What stands for the code of a file; None if it is neither Python's nor installed."""
    folder = Path(__file__).parents[1]
    if folder in Path(file).parents:
        return our_sources()
    parts = PurePath(file).parts
    inside = next((place for place in range(len(parts) - 2, -1, -1) if parts[place] in _INSTALLED), None)
    if inside is not None:
        return _package(parts[inside + 1].partition(".")[0])
    libraries = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    libraries |= {str(Path(library).resolve()) for library in libraries if library}
    return python() if any(library and PurePath(library) in PurePath(file).parents for library in libraries) else None


@cache
def _package(name: str) -> str | None:
    """The versions of what installed an importable name, each with a digest of what it installed; None if nothing did.

    Code may change while its version stays. Scripts beside a package tell where Python is installed.
    """
    told = []
    for distribution in sorted(set(_distributions().get(name, ()))):
        record = (metadata.distribution(distribution).read_text("RECORD") or "").splitlines()
        installed = "\n".join(sorted(line for line in record if "sha256=" in line and not line.startswith("..")))
        digest = hashlib.blake2b(installed.encode(), digest_size=8).hexdigest()
        told.append(f"{distribution} {metadata.version(distribution)} {digest}")
    return ", ".join(told) or None


_distributions = cache(metadata.packages_distributions)


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
