"""Functions, classes and modules in memory, taken apart into all that their answers depend on."""

import builtins
import dis
import hashlib
import importlib
import sys
import types
from collections.abc import Iterable, Iterator
from functools import partial, partialmethod
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from faithscope.errors import WrongType
from faithscope.runtime import origins

PLAIN = {type(None), bool, int, float, complex, str, bytes}  # whose ``repr`` says everything
_HEAP_TYPE = 1 << 9  # made while Python runs, by a class statement or an extension
# Attributes of a class that do not change what it does, or are written elsewhere.
_ASIDE = {"__dict__", "__weakref__", "__module__", "__firstlineno__", "__static_attributes__", "__abstractmethods__"}
_ASIDE |= {"_abc_impl", "__annotations_cache__"}
_GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}
_ANYTHING = (builtins.eval, builtins.exec, builtins.globals)  # reach whatever the module holds
_BY_NAME = (builtins.__import__, importlib.import_module, sys.modules)
_LOADERS = {"import_module", "__import__", "module_from_spec", "resolve_name"}
_ABSENT = "absent"
_OF_THE_PROCESS = ("sys", "os")  # what they hold is another in every run


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
    """A class's bases and all it holds; an installed class is its name and version, with what is put into it."""
    if not (_stands_for(kind) or not kind.__flags__ & _HEAP_TYPE):
        held = [(name, value) for name, value in vars(kind).items() if name not in _ASIDE and not _seeded(name, value)]
        return [named(kind), type(kind), kind.__bases__, *held]
    bases = [base for base in kind.__mro__ if base.__flags__ & _HEAP_TYPE]
    known = [(base.__qualname__, *held) for base in bases for held in vars(base).items()]
    return [named(kind), *((home, name, part) for home, name, value in known for part in _put(name, value))]


def _seeded(name: str, value: Any) -> bool:
    """Whether this is a hash function that attrs generated, which differs in every process."""
    file = value.__code__.co_filename if isinstance(value, types.FunctionType) else ""
    return name == "__hash__" and file.startswith("<attrs generated")


def _put(name: str, value: Any) -> list[Any]:
    """What a version does not say of an attribute of installed code, since the user may have put it there.

    A function, class or object of one's own, a value, or a function of another name.
    """
    function = getattr(value, "__func__", getattr(value, "fget", value))
    if isinstance(function, types.FunctionType):
        if not _of_package(function):
            return [value]
    elif name.startswith("__") or isinstance(value, types.ModuleType):
        return []
    elif isinstance(value, type):
        return [value] if is_own(value) else []
    elif isinstance(value, partial | partialmethod) or is_own(type(value)) or _simple(value):
        return [value]
    return [named(value)[:2]] if callable(value) and getattr(value, "__name__", name) != name else []


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
    names, known = _names_in(function.__code__), function.__globals__
    if "__subclasses__" in names:
        raise WrongType(f"{function.__qualname__} calls __subclasses__, whose answer cannot be followed.")
    for name, attributes, level in sorted(set(_references(function.__code__))):
        value = _imported(name, attributes, level, known) if level >= 0 else _value(name, known)
        of_sys = getattr(value, "__name__", name) == "sys" and "modules" in (attributes if level < 0 else names)
        if of_sys or names & _LOADERS or any(value is loader for loader in _BY_NAME):
            words = "imports modules by names that it computes, which cannot be followed"
            raise WrongType(f"{function.__qualname__} {words}.")
        yield name, attributes, *_along(value, attributes)
        if any(value is builtin for builtin in _ANYTHING):
            yield from _held(known)


def _names_in(code: types.CodeType) -> set[str]:
    """All global names and attributes in code and in the functions inside it."""
    return set(code.co_names).union(*map(_names_in, _inner(code)))


def _inner(code: types.CodeType) -> Iterable[types.CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, types.CodeType))


def _references(code: types.CodeType) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """What code looks up: the name of a global, or of a module that it imports; attributes read in turn; a level.

    The level is -1 for a global; otherwise the number of leading dots of the module's name. There are no attributes if
    what is looked up is used in any other way.
    """
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("EXTENDED_ARG", "CACHE")]
    for place, step in enumerate(steps):
        if step.opname in _GLOBALS:
            read = takewhile(lambda each: each.opname in _ATTRIBUTES, islice(steps, place + 1, None))
            yield step.argval, tuple(each.argval for each in read), -1
        elif step.opname == "IMPORT_NAME":
            level, names = steps[place - 2].argval, steps[place - 1].argval
            yield from ((step.argval, attributes, level) for attributes in ([(n,) for n in names] if names else [()]))
    for inner in _inner(code):
        yield from _references(inner)


def _value(name: str, known: dict[str, Any]) -> Any:
    return known.get(name, getattr(builtins, name, _ABSENT))


def _imported(name: str, attributes: tuple[str, ...], level: int, known: dict[str, Any]) -> Any:
    """What an import statement inside a function brings; a module of the user's own is imported."""
    origin = origins.of_module(name) if level == 0 else None
    if origin is not None:
        return name, origin
    package = known.get("__package__") or str(known.get("__name__", "")).rpartition(".")[0]
    try:
        module = importlib.import_module("." * level + name, package)
        for attribute in attributes:
            if not hasattr(module, attribute) and hasattr(module, "__path__"):
                importlib.import_module(f"{module.__name__}.{attribute}")
    except ImportError:
        return _ABSENT
    return module


def _along(value: Any, attributes: tuple[str, ...]) -> list[Any]:
    """What a chain of attributes leads to, as far as it leads through modules; and what makes attributes up."""
    made_up = []
    for name in attributes:
        if not isinstance(value, types.ModuleType):
            break
        held = vars(value)
        if origins.of_module(value.__name__) is None:
            made_up += [held["__getattr__"]] if "__getattr__" in held else []
            value = getattr(value, name, _ABSENT)
            continue
        # The version of a package stands for all it holds, except for what the user put into it. Ours are loaded when
        # they are first used, as are some others.
        inner = held.get(name, value)
        if not isinstance(inner, types.ModuleType):
            put = _put(name, inner) if value.__name__ not in _OF_THE_PROCESS else []
            return [value, *put, *made_up]
        value = value if inner.__name__.startswith("faithscope.") else inner
    return [value, *made_up]
