"""Functions, classes and modules in memory, taken apart into all that their answers depend on."""

import builtins
import hashlib
import importlib
import importlib.util
import sys
import types
from collections.abc import Iterator
from functools import partial, partialmethod
from pathlib import Path
from typing import Any

import numpy as np

from faithscope.errors import WrongType
from faithscope.runtime import origins
from faithscope.runtime.references import Reference, names_in, references

_HEAP_TYPE = 1 << 9  # made while Python runs, by a class statement or an extension
# Attributes of a class that do not change what it does, or are written elsewhere.
_ASIDE = {"__dict__", "__weakref__", "__module__", "__firstlineno__", "__static_attributes__", "__abstractmethods__"}
_ASIDE |= {"_abc_impl", "__annotations_cache__"}
_ANYTHING = (builtins.eval, builtins.exec, builtins.globals)  # reach whatever the module holds
_BY_NAME = (builtins.__import__, importlib.import_module)
# Attributes of these modules that lead to any other module, by a name that code computes.
_LEADS_ANYWHERE = {
    "sys": {"modules"},
    "importlib": {"import_module", "__import__", "module_from_spec"},
    "importlib.util": {"module_from_spec"},
    "pkgutil": {"resolve_name"},
}
_ABSENT = "absent"
_OURS = "faithscope"
_OF_THE_PROCESS = ("sys", "os")  # what they hold is another in every run
PLAIN = {type(None), bool, int, float, complex, str, bytes}  # whose ``repr`` says everything


def is_own(kind: type) -> bool:
    """Whether a class is the user's own, and not Python's, a package's or ours."""
    return origins.of_module(kind.__module__) is None


def named(thing: Any) -> tuple[str, str, Any]:
    """A thing's module and name, and what stands for the module's code."""
    module, name = str(getattr(thing, "__module__", "")), str(getattr(thing, "__qualname__", _name(thing)))
    return module, name, origins.of_module(module) or _compiled_file(module)


def _name(thing: Any) -> str:
    return str(getattr(thing, "__name__", type(thing).__name__))


def _compiled_file(module: str) -> bytes | None:
    """A digest of the file of the user's own compiled module."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or file.endswith((".py", ".pyc")):
        return None
    return hashlib.blake2b(Path(file).read_bytes(), digest_size=16).digest()


def _stands_for(thing: Any) -> bool:
    """Whether a version and a name say all: it is installed, and that name leads to it."""
    module = getattr(thing, "__module__", None)
    if not isinstance(module, str) or origins.of_module(module) is None:
        return False
    value: Any = sys.modules.get(module)
    for part in str(getattr(thing, "__qualname__", "")).split("."):
        value = getattr(value, part, None)
    return value is thing


def compiled(thing: Any) -> list[Any]:
    """A function or method that is not written in Python: its name, and what it is bound to."""
    owner = getattr(thing, "__objclass__", None)
    bound = getattr(thing, "__self__", None)
    if isinstance(bound, types.ModuleType) or (bound is None and owner is None) or _stands_for(thing):
        return [named(thing)]
    return [_name(thing), owner, bound]


def function_parts(function: types.FunctionType) -> list[Any]:
    """A function's code and whatever that reaches; an installed function is its name and version."""
    origin = origins.of_function(function)
    if origin is not None and _stands_for(function):
        return [named(function)]
    if function.__code__.co_qualname == "singledispatch.<locals>.wrapper" and origin == origins.python():
        return ["singledispatch", dict(vars(function)["registry"])]  # and not the cache of its dispatches
    cells = [_contents(cell) for cell in function.__closure__ or ()]
    # From Python 3.14 on annotations are a function, whose names need not exist.
    annotations = getattr(function, "__annotate__", None) or function.__annotations__
    defaults = [function.__defaults__, function.__kwdefaults__, annotations, vars(function)]
    reached = [] if origin is not None else list(_reached(function))
    return [origin, function.__qualname__, function.__code__, cells, *defaults, *reached]


def _contents(cell: types.CellType) -> Any:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return None


def class_parts(kind: type) -> list[Any]:
    """A class's bases and all it holds; an installed class is its name and version, with what the user patched in."""
    if _stands_for(kind) or not kind.__flags__ & _HEAP_TYPE:
        return [named(kind), *_patches(kind)]
    held = [(name, value) for name, value in vars(kind).items() if name not in _ASIDE and not _seeded(name, value)]
    return [named(kind), type(kind), kind.__bases__, *held]


def _seeded(name: str, value: Any) -> bool:
    """Whether this is a hash function that attrs generated, which differs in every process."""
    file = value.__code__.co_filename if isinstance(value, types.FunctionType) else ""
    return name == "__hash__" and file.startswith("<attrs generated")


def _patches(kind: type) -> Iterator[Any]:
    """What the user may have put into an installed class or its bases: own functions, those of other names, values."""
    for base in kind.__mro__:
        known = vars(base).items() if base.__flags__ & _HEAP_TYPE else ()
        for name, value in known:
            function = getattr(value, "__func__", value)
            if isinstance(function, types.FunctionType) and not _of_package(function):
                yield base.__qualname__, name, value
            elif not name.startswith("__"):
                yield from ((base.__qualname__, name, part) for part in _put(name, value))


def _put(name: str, value: Any) -> list[Any]:
    """What a version does not say of an attribute of installed code: a value, or a function of another name."""
    if isinstance(value, partial | partialmethod) or (is_own(type(value)) and not isinstance(value, types.ModuleType)):
        return [value]
    if isinstance(value, types.ModuleType | type) or not callable(value):
        return [value] if _simple(value) else []
    return [] if getattr(value, "__name__", name) == name else [named(value)[:2]]


def _simple(value: Any) -> bool:
    """Whether this is a number, a text or the like, an array, or a list, a tuple or a dictionary of plain values."""
    if isinstance(value, list | tuple | dict):
        held = [*value, *value.values()] if isinstance(value, dict) else value
        return set(map(type, held)) <= PLAIN
    return type(value) in PLAIN or (type(value) is np.ndarray and not value.dtype.hasobject)


def _of_package(function: types.FunctionType) -> bool:
    """Whether a function is installed, or was generated by installed code."""
    module, generated = function.__module__, function.__code__.co_filename.startswith("<")
    made_there = generated and (module is None or origins.of_module(module) is not None)
    return made_there or origins.of_function(function) is not None


def module_parts(module: types.ModuleType) -> list[Any]:
    """A module that is used as a whole: everything it holds, or its name and version."""
    origin = origins.of_module(module.__name__)
    if origin is not None:
        return [module.__name__, origin]
    return [module.__name__, _compiled_file(module.__name__), *_held(vars(module))]


def _held(namespace: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in namespace.items() if name == "__getattr__" or not name.startswith("__")]


def _reached(function: types.FunctionType) -> Iterator[Any]:
    """What each name in a function's code stands for now."""
    if "__subclasses__" in names_in(function.__code__):
        raise WrongType(f"{function.__qualname__} calls __subclasses__, whose answer cannot be followed.")
    for reference in references(function.__code__):
        value = _value(function, reference)
        if (
            any(value is builtin for builtin in _BY_NAME)
            or value is sys.modules
            or _leads_anywhere(function, reference, value)
        ):
            words = "imports modules by names that it computes, which cannot be followed"
            raise WrongType(f"{function.__qualname__} {words}.")
        yield reference.name, reference.attributes, value
        if any(value is builtin for builtin in _ANYTHING):
            yield from _held(function.__globals__)


def _leads_anywhere(function: types.FunctionType, reference: Reference, value: Any) -> bool:
    """Whether code takes ``sys.modules``, ``import_module`` or the like from the module that it refers to.

    For a module that is imported inside the function, the attributes read from it are unknown, so any attribute of that
    name counts.
    """
    module = reference.name if reference.level == 0 else getattr(value, "__name__", "")
    leads = _LEADS_ANYWHERE.get(str(module), set())
    return bool(leads and leads & (set(reference.attributes) or names_in(function.__code__)))


def _value(function: types.FunctionType, reference: Reference) -> Any:
    known = function.__globals__
    if reference.level >= 0:
        return _imported(reference, known)
    value = known.get(reference.name, getattr(builtins, reference.name, _ABSENT))
    return _along(value, reference.attributes) if isinstance(value, types.ModuleType) else value


def _imported(reference: Reference, known: dict[str, Any]) -> Any:
    """What an import statement inside a function brings; a module of the user's own is imported."""
    dots, package = "." * reference.level, known.get("__package__") or str(known.get("__name__", "")).rpartition(".")[0]
    name = importlib.util.resolve_name(dots + reference.name, package)
    origin = origins.of_module(name)
    if origin is not None:
        return name, origin
    try:
        module = importlib.import_module(name)
        if reference.attributes and not hasattr(module, reference.attributes[0]):
            importlib.import_module(f"{name}.{reference.attributes[0]}")
    except ImportError:
        return _ABSENT
    return _along(module, reference.attributes)


def _along(module: types.ModuleType, attributes: tuple[str, ...]) -> Any:
    """What a chain of attributes leads to, as far as it leads through modules."""
    value: Any = module
    made_up = []
    for name in attributes:
        if not isinstance(value, types.ModuleType):
            break
        if origins.of_module(value.__name__) is not None:
            value = _installed(value, name)
            continue
        made_up += [vars(value)["__getattr__"]] if "__getattr__" in vars(value) else []
        value = getattr(value, name, _ABSENT)
    return (value, *made_up) if made_up else value


def _installed(module: types.ModuleType, name: str) -> Any:
    """The version of a package stands for all it holds, except what the user put into it."""
    value = vars(module).get(name, module)
    if isinstance(value, types.ModuleType) and value.__name__.startswith(f"{_OURS}."):
        return module  # ours are loaded when they are first used, and our sources stand for all of them
    if isinstance(value, types.ModuleType) or any(value is loader for loader in _BY_NAME):
        return value
    own = isinstance(value, types.FunctionType) and origins.of_function(value) is None
    if own or (isinstance(value, type) and is_own(value)):
        return value
    put = _put(name, value) if module.__name__ not in _OF_THE_PROCESS else []
    return (module, *put) if put else module
