"""Where code comes from: Python itself, an installed package, faithscope, or somebody's own files.

A version stands for all code of an installed package. One's own code has none: it counts by what it says.
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
# What our own answers are computed with; the versions of these count with our sources.
_USED = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "shap", "dice-ml")
_INSTALLED = ("site-packages", "dist-packages")


@cache
def python() -> str:
    """The interpreter and its version, which stand for the standard library."""
    return f"{platform.python_implementation()} {platform.python_version()}"


@cache
def our_sources() -> str:
    """A digest of every source file of this package, with the versions of the packages that it computes with."""
    folder = Path(__file__).parent
    found = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.rglob("*.py"), key=lambda one: one.relative_to(folder).as_posix()):
        content = path.read_bytes()
        found.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode() + content)
    versions = ", ".join(f"{name} {_version(name)}" for name in _USED)
    return f"{_OURS} {found.hexdigest()} with {versions}"


def of_module(name: str) -> str | None:
    """What stands for all code of a module, loaded or not; None where it is somebody's own."""
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
    return _of_folders(spec) if file is None else of_file(file)


def _of_folders(spec: object) -> str | None:
    """A package without a file of its own: where its folders are."""
    folders = list(getattr(spec, "submodule_search_locations", None) or ())
    return of_file(str(Path(folders[0], "__init__.py"))) if folders else None


def of_function(function: types.FunctionType) -> str | None:
    """What stands for a function's code; None where it is somebody's own."""
    file = function.__code__.co_filename
    if not file.startswith("<"):
        return of_file(file)
    # Code that was made from a text, as those of dataclasses are: it belongs to the module that it looks names up in.
    return python() if file.startswith("<frozen") else of_module(str(function.__globals__.get("__name__", "")))


@cache
def of_file(file: str) -> str | None:
    """What stands for the code of a file; None where it is neither Python's nor installed."""
    folder = Path(__file__).parent
    if folder in Path(file).parents:
        return our_sources()
    parts = PurePath(file).parts
    inside = next((place for place in range(len(parts) - 2, -1, -1) if parts[place] in _INSTALLED), None)
    if inside is not None:
        return _package(Path(*parts[: inside + 1]), parts[inside + 1].partition(".")[0])
    libraries = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    libraries |= {str(Path(one).resolve()) for one in libraries if one}
    return python() if any(one and PurePath(one) in PurePath(file).parents for one in libraries) else None


@cache
def _package(root: Path, name: str) -> str | None:
    """An importable name with the version of what installed it; the same whether or not it is imported yet."""
    version = _version(name)
    if version is not None:
        return f"{name} {version}"
    owners = [one.name.removesuffix(".dist-info") for one in root.glob("*.dist-info") if _owns(one, name)]
    owners = owners or [f"{one} {_version(one)}" for one in metadata.packages_distributions().get(name, ())]
    return " ".join(sorted(set(owners))) or None


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except (metadata.PackageNotFoundError, ValueError):
        return None


def _owns(folder: Path, name: str) -> bool:
    """Whether the files of a distribution begin with this name."""
    try:
        files = b"\n" + (folder / "RECORD").read_bytes()
    except OSError:
        return False
    return f"\n{name}/".encode() in files or f"\n{name}.".encode() in files


def content(file: str) -> bytes:
    """A digest of a file, for compiled code of somebody's own."""
    return hashlib.blake2b(Path(file).read_bytes(), digest_size=16).digest()
