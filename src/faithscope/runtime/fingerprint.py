"""A digest of all that a model, an explainer or rows are made of: equal for equal things in any process.

Of code that is installed, Python's and ours, one digest stands for all, `environment`. The user's own has no version:
its content counts, wherever a fingerprint reaches it.
"""

import builtins
import dis
import hashlib
import os
import platform
import random
import sys
import types
from collections.abc import Iterator, Mapping
from copyreg import dispatch_table
from functools import cache, cached_property, lru_cache, partial, partialmethod
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, RLock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from faithscope.errors import WrongType

_PLAIN = {type(None), bool, int, float, complex, str, bytes}  # whose ``repr`` says everything
_C_CODE = (types.BuiltinFunctionType, types.MethodWrapperType)
_WRAPPERS = (property, staticmethod, classmethod, cached_property, types.MethodType, type(lru_cache(print)))
_WRAPPED = ("fget", "fset", "fdel", "func", "__func__", "__self__", "__dict__")
_STATELESS = (type(Lock()), type(RLock()), WeakKeyDictionary)  # the last is always a cache
# Attributes of a class that do not change what it does, or are written elsewhere.
_ASIDE = {
    *("__dict__", "__weakref__", "__module__", "__firstlineno__", "__static_attributes__", "__abstractmethods__"),
    *("_abc_impl", "__annotations_cache__"),
}
# Of code, all that changes what it does: no names of files, no numbers of lines.
_OF_CODE = (
    *("code", "exceptiontable", "argcount", "posonlyargcount", "kwonlyargcount", "flags", "consts", "name"),
    *("names", "varnames", "freevars", "cellvars"),
)
_HIDING = {"__import__", "__subclasses__", "import_module", "module_from_spec", "resolve_name"}  # which code is run
_BY_TEXT = {"eval", "exec", "globals"}
_OURS = "faithscope"
_INSTALLED = {"site-packages", "dist-packages"}


def fingerprint(*things: Any) -> str:
    """A hexadecimal digest of everything that these things are made of and that their answers depend on.

    Arrays and tables count by their contents; objects by their class and state; the user's own classes and functions by
    their code, and by whatever that reaches: bases, attributes, defaults, closures, globals, modules; what is installed
    by its name (`environment` stands for its code), with what the user put into it. Nothing is pickled, and no
    cache of an object (a ``cached_property``, an ``lru_cache``) counts. A method ``__fingerprint__`` returns what
    stands for an object's state, beside its class. Files, databases and services that code reads cannot be seen.

    Raises
    ------
    WrongType
        If a part cannot be told from others, so that two different things might look alike.

    Examples
    --------
    >>> fingerprint([1, 2.0]) == fingerprint([1, 2.0]), fingerprint([1, 2]) == fingerprint([1, 2.0])
    (True, False)
    """
    try:
        return _Walk().digest(things).hex()
    except RecursionError:
        raise WrongType("It nests too deeply to be told from others.") from None


class _Walk:
    """One walk over things: each is written once, in the order in which it is first met, and then by its number.

    What is written describes the whole graph of things, so two graphs are written alike only if they are alike. Plain
    values, tuples, sets and arrays are written in place: whether two of them are the same object does not matter.
    """

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.met: list[Any] = []  # keeps everything alive: the id of a freed object could come again

    def digest(self, things: Any) -> bytes:
        """Sixteen bytes for things and all that they reach."""
        digest = hashlib.blake2b(self.refer(things), digest_size=16)
        for thing in self.met:  # grows while it is walked
            try:
                digest.update(self.write(*_taken_apart(thing)))
            except (WrongType, RecursionError, MemoryError):
                raise
            except Exception as error:  # a user's class may raise anything when its parts are read
                raise WrongType(f"A {type(thing).__name__} cannot be told from others ({error}).") from None
        return digest.digest()

    def write(self, *parts: Any) -> bytes:
        """Sixteen bytes for parts in their order."""
        return _digest(b"".join(map(self.refer, parts)))

    def refer(self, thing: Any) -> bytes:
        """Sixteen bytes for a thing: its content, or the number of a thing that is written elsewhere."""
        kind = type(thing)
        if kind in _PLAIN:
            return _digest(f"{kind.__name__} {thing!r}".encode("utf-8", "surrogatepass"))
        if kind is tuple:
            return self.write("tuple", *_listed(thing))
        if kind is set or kind is frozenset:  # each element by itself, so that their order in memory does not matter
            return self.write(kind.__name__, *sorted(map(fingerprint, thing)))
        if kind.__module__ == "numpy" and isinstance(thing, np.ndarray | np.generic) and not thing.dtype.hasobject:
            return self.write(kind.__name__, *_array(np.asarray(thing)))
        if id(thing) not in self.numbers:
            self.numbers[id(thing)] = len(self.met)
            self.met.append(thing)
        return self.numbers[id(thing)].to_bytes(16, "little")


def _digest(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _listed(things: Any) -> Any:
    """Things; in place of plain ones one text that says all of them."""
    return [repr(things)] if set(map(type, things)) <= _PLAIN else things


def _array(values: np.ndarray[Any, Any]) -> list[Any]:
    shape = [str(values.dtype), values.shape]
    if values.dtype.names is not None:  # field by field: the bytes between them mean nothing
        return [*shape, *(values[name] for name in values.dtype.names)]
    return [*shape, _digest(values.ravel().view(np.uint8).data)]


def _taken_apart(thing: Any) -> list[Any]:
    """What kind of thing it is, and its parts."""
    kind = type(thing)
    if thing is sys.modules or thing is import_module:
        raise WrongType("Modules by names that are computed cannot be followed.")
    if kind is list:
        return ["list", *_listed(thing)]
    if isinstance(thing, Mapping) and kind.__module__ in ("builtins", "collections"):
        pairs = [part for pair in thing.items() for part in pair]
        factory, attributes = (getattr(thing, name, None) for name in ("default_factory", "__dict__"))
        return [kind.__name__, factory, attributes, *_listed(pairs)]
    if isinstance(thing, types.CodeType):
        return ["code", *(getattr(thing, f"co_{name}") for name in _OF_CODE)]
    if isinstance(thing, type) and _is_known(thing):  # what the user put into it, or into its bases
        put = [(base.__qualname__, name, *_put(name, value)) for base in thing.__mro__ for name, value in _held(base)]
        return ["class", _named(thing), *put]
    if isinstance(thing, type):
        return ["class", _named(thing), type(thing), thing.__bases__, *_held(thing)]
    if isinstance(thing, types.FunctionType):
        installed = _is_installed(thing)
        parts = [] if installed and _is_known(thing) else _function_parts(thing)
        return ["function", _named(thing), *parts, *([] if installed else _reached(thing))]
    if isinstance(thing, types.ModuleType):
        held = [(name, value) for name, value in vars(thing).items() if name == "__getattr__" or name[:2] != "__"]
        return ["module", _named(thing), *(held if is_own(thing.__name__) else [])]
    if isinstance(thing, _WRAPPERS):
        return ["wrapper", kind, *(getattr(thing, name, None) for name in _WRAPPED)]
    if kind.__module__ == "builtins" and (hasattr(thing, "__objclass__") or isinstance(thing, _C_CODE)):
        owner, bound = getattr(thing, "__objclass__", None), getattr(thing, "__self__", None)
        by_name = isinstance(bound, types.ModuleType) or owner is bound is None or _is_known(thing)
        return ["compiled", _named(thing), *([] if by_name else [owner, bound])]
    # The state of a global random generator is not part of what refers to it; a lock has none.
    if thing is random._inst or thing is np.random.mtrand._rand or isinstance(thing, _STATELESS):
        return ["name", kind.__name__]
    return ["object", kind, *_content(thing)]


def _named(thing: Any) -> list[Any]:
    """A thing's module and name; and what the file of the user's own compiled module holds."""
    module = thing.__name__ if isinstance(thing, types.ModuleType) else str(getattr(thing, "__module__", ""))
    name = str(getattr(thing, "__qualname__", getattr(thing, "__name__", type(thing).__name__)))
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    compiled = file.endswith(tuple(EXTENSION_SUFFIXES)) and is_own(module)
    return [module, name, Path(file).read_bytes() if compiled else None]


def _is_known(thing: Any) -> bool:
    """Whether a name says all: it is that of installed code, and leads to this thing."""
    module, name, _ = _named(thing)
    value = None if is_own(module) else sys.modules.get(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    return value is thing


def _held(kind: type) -> list[tuple[str, Any]]:
    """The attributes of a class itself, without functions that attrs makes of others, seeded anew in every process."""
    held = [(name, value) for name, value in vars(kind).items() if name not in _ASIDE]
    return [pair for pair in held if "<attrs" not in getattr(getattr(pair[1], "__code__", None), "co_filename", "")]


def _put(name: str, value: Any) -> list[Any]:
    """An attribute of installed code, as far as the user may have put it there.

    A function, class or object of the user's own, a plain value or array, or what has another name.
    """
    function = getattr(value, "__func__", getattr(value, "fget", value))
    if isinstance(function, types.FunctionType):
        own = not _is_installed(function)
    else:
        own = is_own((value if isinstance(value, type) else type(value)).__module__)
    items = [*value, *value.values()] if isinstance(value, dict) else value
    items = items if isinstance(items, list | tuple) else [value]
    plain = set(map(type, items)) <= _PLAIN or (type(value) is np.ndarray and not value.dtype.hasobject)
    if own or (plain and name[:2] != "__") or isinstance(value, partial | partialmethod):
        return [value]
    return _named(value) if getattr(value, "__name__", name) != name else []


def _is_installed(function: types.FunctionType) -> bool:
    """Whether a function looks names up in an installed module."""
    name = str(function.__globals__.get("__name__"))
    return getattr(sys.modules.get(name), "__dict__", None) is function.__globals__ and not is_own(name)


def _function_parts(function: types.FunctionType) -> list[Any]:
    """A function's code, and all that it holds."""
    empty = types.CellType()
    cells = [None if cell == empty else (cell.cell_contents,) for cell in function.__closure__ or ()]
    # From Python 3.14 on annotations are a function, whose names need not exist.
    annotations = getattr(function, "__annotate__", None) or function.__annotations__
    return [function.__code__, cells, function.__defaults__, function.__kwdefaults__, annotations, vars(function)]


def _reached(function: types.FunctionType) -> Iterator[Any]:
    """What the names in a function's code stand for: globals, and attributes of installed modules.

    All names are looked up in all modules, whichever they are attributes of. A module of the user's own counts whole;
    which one an import inside a function will bring is not known.
    """
    names, read, known, modules = set[str](), set[str](), function.__globals__, [builtins]
    codes = [function.__code__]
    for code in codes:  # grows
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
        names.update(code.co_names)
        steps = [step for step in dis.get_instructions(code) if step.opname not in ("EXTENDED_ARG", "CACHE")]
        for place, step in enumerate(steps):
            if step.opname == "IMPORT_NAME":
                if steps[place - 2].argval or is_own(step.argval):
                    raise WrongType(
                        f"{function.__qualname__} imports a module inside: import it at the top of the file."
                    )
                modules += [sys.modules[step.argval]] if step.argval in sys.modules else []
            elif step.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME")):
                read.add(step.argval)
    looked_up = {name: known[name] for name in sorted(names & known.keys())}
    modules += [value for value in looked_up.values() if isinstance(value, types.ModuleType)]
    hiding = names & _HIDING | (read & _BY_TEXT) | (names & {"modules"} if sys in modules else set())
    if hiding:
        raise WrongType(f"{function.__qualname__} uses {min(hiding)}, and what it reaches by that cannot be followed.")
    yield looked_up
    for module in modules:  # grows
        for name in sorted(names & vars(module).keys()) if not is_own(module.__name__) else ():
            value = vars(module)[name]
            if isinstance(value, types.ModuleType) and value not in modules:
                modules.append(value)
            if module not in (sys, os):  # what they hold is another in every run
                yield from ((name, part) for part in _put(name, value))


def _content(thing: Any) -> list[Any]:
    """The state of an object: what it says itself, or what it gives when it is copied."""
    if hasattr(type(thing), "__fingerprint__"):
        return [thing.__fingerprint__()]
    torch: Any = sys.modules.get("torch")
    if hasattr(torch, "Tensor") and isinstance(thing, torch.Tensor):
        content = thing.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
        return [str(thing.dtype), tuple(thing.shape), content, vars(thing) or None]
    if hasattr(thing, "py_func"):  # compiled by numba
        return [thing.py_func, thing.targetoptions]
    reduce = dispatch_table.get(type(thing))
    reduced = reduce(thing) if reduce else thing.__reduce_ex__(2)
    own = is_own(type(thing).__module__)
    if isinstance(reduced, str):  # it is known by its name
        homes = [sys.modules.get(name) for name in ("numpy", "scipy.special")]
        if isinstance(thing, np.ufunc) and not any(getattr(home, reduced, None) is thing for home in homes):
            raise WrongType(f"The ufunc {reduced!r} does not show what it computes: use np.vectorize.")
        return [reduced, getattr(thing, "__module__", None), getattr(thing, "__dict__", None) if own else None]
    constructor, arguments, state, listed, mapped = [*reduced, None, None, None][:5]
    states = [state]
    if own:  # its copies may lack something that answers depend on
        whole = object.__getstate__(thing)
        states += whole if isinstance(whole, tuple) else [whole or {}]
    cached = {k for base in type(thing).__mro__ for k, v in vars(base).items() if isinstance(v, cached_property)}
    states = [{k: v for k, v in part.items() if k not in cached} if isinstance(part, dict) else part for part in states]
    return [constructor, arguments, *states, *(None if items is None else list(items) for items in (listed, mapped))]


@cache
def environment() -> str:
    """A digest of all code that is not the user's own: Python's version, what is installed, and our source files.

    Of what is installed, the lists of files with their hashes count: code may change while its version stays.
    """
    ours = Path(__file__).parents[1]
    files = {path.relative_to(ours).as_posix(): path for path in ours.rglob("*.py")}
    files |= {path.name: path / "RECORD" for folder in sys.path for path in Path(folder).glob("*-info")}
    read = {name: _digest(path.read_bytes()) if path.is_file() else None for name, path in sorted(files.items())}
    return fingerprint(platform.python_implementation(), sys.version, read)


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
    if spec is None:
        return True
    folders = spec.submodule_search_locations or ()  # of a package without a file of its own
    return not any(map(_is_installed_file, [*filter(None, [spec.origin]), *folders][:1]))


@cache
def _is_installed_file(file: str) -> bool:
    path = Path(file)
    python = file in ("built-in", "frozen") or Path(os.__file__).parent in path.parents
    return python or not _INSTALLED.isdisjoint(path.parts)
