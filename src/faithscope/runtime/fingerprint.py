"""A digest of all that a model, an explainer or rows are made of: equal for equal things in any process."""

import hashlib
import random
import sys
import types
import weakref
from collections import defaultdict
from collections.abc import Iterable, Mapping
from copyreg import dispatch_table
from functools import cached_property, lru_cache, partial
from threading import Lock, RLock
from typing import Any

import numpy as np

from faithscope.errors import WrongType
from faithscope.runtime import origins
from faithscope.runtime.living_code import PLAIN, class_parts, compiled, function_parts, is_own, module_parts, named

_C_CODE = (
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
_REMEMBERS = type(lru_cache(print))  # the type of a function with a cache
_WRAPPERS = (property, staticmethod, classmethod, cached_property, partial, types.MethodType, weakref.ref, _REMEMBERS)
_WRAPPED = ("fget", "fset", "fdel", "func", "args", "keywords", "__func__", "__self__", "__wrapped__")
_LOCKS = (type(Lock()), type(RLock()))


def fingerprint(*things: Any) -> str:
    """A hexadecimal digest of everything that these things are made of and that their answers depend on.

    Arrays and tables count by their contents; objects by their class and state; the user's own classes and functions by
    their code, and by whatever that reaches: bases, attributes, defaults, closures, globals, modules; Python, installed
    packages and faithscope by their versions. Nothing is pickled, and no cache of an object (a ``cached_property``, an
    ``lru_cache``) counts. A method ``__fingerprint__`` returns what stands for an object's state, beside its class.
    Files, databases and services that code reads while it runs cannot be seen.

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
        return Walk().digest(things).hex()
    except RecursionError:
        raise WrongType("It nests too deeply to be told from others.") from None


class Walk:
    """One walk over things: each is written once, in the order in which it is first met, and then by its number.

    What is written describes the whole graph of things, so two graphs are written alike only if they are alike. Plain
    values, tuples and arrays are written in place: whether two of them are the same object does not matter.
    """

    def __init__(self, inside: tuple[int, ...] = ()) -> None:
        self.numbers: dict[int, int] = {}
        self.met: list[Any] = []  # keeps everything alive: the id of a freed object could come again
        self.arrays: dict[int, tuple[bytes, Any]] = {}
        self.inside = inside  # the sets that this walk is an element of

    def digest(self, things: Any) -> bytes:
        """Sixteen bytes for things and all that they reach."""
        digest = hashlib.blake2b(self.refer(things), digest_size=16)
        for thing in self.met:  # grows while it is walked
            try:
                digest.update(self.written(*_taken_apart(thing)))
            except (WrongType, RecursionError, MemoryError):
                raise
            except Exception as error:  # a user's class may raise anything when its parts are read
                raise WrongType(f"A {type(thing).__name__} cannot be told from others ({error}).") from None
        return digest.digest()

    def written(self, kind: str, parts: Iterable[Any]) -> bytes:
        """A digest of a kind and parts."""
        return _hash(kind, *map(self.refer, parts))

    def refer(self, thing: Any) -> bytes:
        """Sixteen bytes for a thing: its content, or the number of a thing that is written elsewhere."""
        kind = type(thing)
        if kind in PLAIN:
            return _hash(kind.__name__, thing if kind is bytes else repr(thing))
        if kind is tuple:
            return _hash("plain tuple", repr(thing)) if _plain(thing) else self.written("tuple", thing)
        if kind is set or kind is frozenset:
            return _hash(kind.__name__, *self._elements(thing))
        if kind is types.CodeType:
            return self.written("code", _code(thing))
        if _is_array(thing) and not thing.dtype.hasobject:
            if id(thing) not in self.arrays:
                self.arrays[id(thing)] = self.written("array", _array(np.asarray(thing))), thing
            return self.arrays[id(thing)][0]
        if id(thing) not in self.numbers:
            self.numbers[id(thing)] = len(self.met)
            self.met.append(thing)
        return _hash("number", str(self.numbers[id(thing)]))

    def _elements(self, things: Any) -> list[bytes]:
        """A digest of each element by itself, sorted, so that their order in memory does not matter."""
        if id(things) in self.inside:
            return [_hash("inside", str(self.inside.index(id(things))))]
        if _plain(things):
            return sorted(_hash(type(element).__name__, repr(element)) for element in things)
        return sorted(Walk((*self.inside, id(things))).digest(element) for element in things)


def _hash(*parts: str | bytes) -> bytes:
    """A digest of parts, each with its length, so that no two lists of parts are written alike."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.digest()


def _plain(things: Any) -> bool:
    """Whether all are plain values, whose ``repr`` says everything."""
    return set(map(type, things)) <= PLAIN


def _taken_apart(thing: Any) -> tuple[str, list[Any]]:
    """What kind of thing it is, and its parts."""
    kind = type(thing)
    if kind is list:
        return ("plain list", [repr(thing)]) if _plain(thing) else ("list", thing)
    if isinstance(thing, Mapping) and kind.__module__ in ("builtins", "collections", "types"):
        return kind.__name__, [*_mapping(thing), *filter(None, [getattr(thing, "__dict__", None)])]
    if isinstance(thing, type):
        return "class", class_parts(thing)
    if isinstance(thing, types.FunctionType):
        return "function", function_parts(thing)
    if isinstance(thing, types.ModuleType):
        return "module", module_parts(thing)
    if isinstance(thing, _C_CODE):
        return "compiled", compiled(thing)
    if isinstance(thing, _WRAPPERS):
        if isinstance(thing, weakref.ref):
            return "wrapper", [kind, thing()]
        remembers = (is_own(kind) or isinstance(thing, partial)) and hasattr(thing, "__dict__")
        parts = [getattr(thing, name, None) for name in _WRAPPED]  # and not its cache
        return "wrapper", [kind, *parts, vars(thing) if remembers else None]
    if _is_array(thing):
        return "array", _array(np.asarray(thing))
    if isinstance(thing, np.ufunc):
        homes = (name for name in ("numpy", "scipy.special") if name in sys.modules)
        home = next((name for name in homes if getattr(sys.modules[name], thing.__name__, None) is thing), None)
        if home is None:  # made from a function, which it does not show
            raise WrongType(f"The ufunc {thing.__name__!r} does not show what it computes: use np.vectorize.")
        return "ufunc", [f"{home}.{thing.__name__} {origins.of_module(home)}"]
    # The state of a global random generator is not part of what refers to it; a lock has none.
    if thing is random._inst or thing is np.random.mtrand._rand or isinstance(thing, _LOCKS):
        return "name", [kind.__name__]
    return "object", [kind, *_content(thing)]


def _mapping(thing: Mapping[Any, Any]) -> list[Any]:
    factory = [thing.default_factory] if isinstance(thing, defaultdict) else []
    if _plain(thing.keys()) and _plain(thing.values()):
        return [*factory, "plain", repr(list(thing.items()))]
    return [*factory, "items", *(part for pair in thing.items() for part in pair)]


def _code(code: types.CodeType) -> list[Any]:
    """Everything in code that changes what it does; no names of files, no numbers of lines."""
    shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_name)
    return [code.co_code, code.co_exceptiontable, shape, names, code.co_consts]


def _is_array(thing: Any) -> bool:
    """Whether an array is only its values: no mask, no subclass."""
    return type(thing) is np.ndarray or (isinstance(thing, np.generic) and type(thing).__module__ == "numpy")


def _array(values: np.ndarray[Any, Any]) -> list[Any]:
    shape = [str(values.dtype), values.shape]
    if values.dtype.names is not None:  # field by field: the bytes between them mean nothing
        return [repr(values.dtype), values.shape, *(_array(values[name]) for name in values.dtype.names)]
    if values.dtype.hasobject:
        return [*shape, values.ravel().tolist()]
    return [*shape, np.ascontiguousarray(values).tobytes()]


def _content(thing: Any) -> list[Any]:
    """Values of a table, a tensor or a sparse matrix, or the state that an object gives when it is copied."""
    if hasattr(type(thing), "__fingerprint__"):
        return [thing.__fingerprint__()]
    if _is(thing, "pandas", "DataFrame"):
        names = [thing.index.names, thing.columns.names, thing.attrs or None]
        return [*_columns(thing), *names, _dtype(thing.index.dtype), thing.index.to_numpy()]
    if _is(thing, "polars", "DataFrame"):
        return _columns(thing)
    if _is(thing, "torch", "Tensor"):
        return _tensor(thing)
    if _is(thing, "pyarrow", "Table"):
        return [str(thing.schema), thing.to_pydict()]
    if hasattr(type(thing), "tocsr"):
        rows = thing.tocsr()
        return [rows.shape, rows.indptr, rows.indices, rows.data]
    if _is(thing, "numba.core.dispatcher", "Dispatcher"):
        return [thing.py_func, thing.targetoptions]
    return _state(thing)


def _is(thing: Any, library: str, name: str) -> bool:
    """Whether a thing is an instance of a library's class, without importing the library."""
    kind = getattr(sys.modules.get(library), name, None)
    return kind is not None and isinstance(thing, kind)


def _columns(table: Any) -> list[Any]:
    """Names, types and values of a table's columns."""
    series = [table.iloc[:, j] if hasattr(table, "iloc") else table[:, j] for j in range(table.shape[1])]
    return [list(table.columns), [_dtype(column.dtype) for column in series], [column.to_numpy() for column in series]]


def _dtype(dtype: Any) -> Any:
    """A column's type; for categories also their values and whether they are ordered."""
    categories = getattr(dtype, "categories", None)
    return str(dtype), getattr(dtype, "ordered", None), None if categories is None else list(categories)


def _tensor(thing: Any) -> list[Any]:
    import torch

    if thing.is_quantized:
        raise WrongType("A quantized tensor does not show what its numbers stand for: use its dequantize().")
    values = thing.detach().cpu().contiguous()
    try:
        return [str(thing.dtype), *_array(values.numpy()), vars(thing) or None]
    except TypeError:  # NumPy has no such type
        return [str(thing.dtype), tuple(thing.shape), *_array(values.reshape(-1).view(torch.uint8).numpy())]


def _state(thing: Any) -> list[Any]:
    """The state that an object gives when it is copied, without its caches."""
    reduce = dispatch_table.get(type(thing))
    reduced = reduce(thing) if reduce else thing.__reduce_ex__(2)
    if isinstance(reduced, str):  # it is known by its name
        home = named(thing) if getattr(thing, "__module__", None) else None
        return [reduced, home, vars(thing) if is_own(type(thing)) and hasattr(thing, "__dict__") else None]
    constructor, arguments, state, listed, mapped = [*reduced, None, None, None][:5]
    held = [state]
    if is_own(type(thing)):  # whose copies may lack something that answers depend on
        whole = object.__getstate__(thing)
        held += whole if isinstance(whole, tuple) else (whole or {}, None)
    cached = {k for base in type(thing).__mro__ for k, v in vars(base).items() if isinstance(v, cached_property)}
    state, *left_out = (
        {k: v for k, v in part.items() if k not in cached} if isinstance(part, dict) else part for part in held
    )
    items = (None if each is None else list(each) for each in (listed, mapped))
    return [constructor, arguments, state, *items, *left_out]
