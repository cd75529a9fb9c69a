"""What a model, an explainer or rows are made of, as a few bytes: equal for equal things in any process."""

import hashlib
import sys
import types
from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from faithscope.errors import WrongType

_DEEPEST = 200
_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def fingerprint(*things: Any) -> str:
    """A hexadecimal digest of everything that these things are made of.

    Arrays and tables by their contents, objects by their class and state, functions by their code and by what
    they refer to, packages by their versions. Nothing is pickled, and nothing that an object has merely remembered
    (a ``cached_property``) counts. An object with a method ``__fingerprint__`` is what that returns.

    Examples
    --------
    >>> fingerprint([1, 2.0]) == fingerprint([1, 2.0]), fingerprint([1, 2]) == fingerprint([1, 2.0])
    (True, False)
    """
    return _Walk().digest(things).hex()


class _Walk:
    """One walk over things, which remembers where it has been."""

    def __init__(self) -> None:
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []  # what was made on the way must not be freed: its id could come again

    def digest(self, thing: Any, depth: int = 0) -> bytes:
        """Sixteen bytes for a thing."""
        if isinstance(thing, _PLAIN):
            return _hash(type(thing).__name__, repr(thing))
        if id(thing) in self.seen:
            return _hash("seen", str(self.seen[id(thing)]))
        if depth > _DEEPEST:
            raise WrongType(f"A {type(thing).__name__} nests more than {_DEEPEST} deep and cannot be told from others.")
        self.seen[id(thing)] = len(self.seen)
        self.kept.append(thing)
        name, parts = _taken_apart(thing)
        return _hash(name, *(part if isinstance(part, bytes) else self.digest(part, depth + 1) for part in parts))


def _hash(*parts: str | bytes) -> bytes:
    """A digest of parts, each with its length, so that no two lists of parts are written alike."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        found.update(len(content).to_bytes(8, "little") + content)
    return found.digest()


def _taken_apart(thing: Any) -> tuple[str, list[Any]]:
    """What kind of thing it is, and its parts; bytes among them are final."""
    if isinstance(thing, np.ndarray | np.generic):
        return "array", _array(np.asarray(thing))
    if isinstance(thing, list | tuple):
        return type(thing).__name__, list(thing)
    if isinstance(thing, set | frozenset):
        return "set", sorted(_Walk().digest(one) for one in thing)
    if isinstance(thing, Mapping) and type(thing).__module__ in ("builtins", "collections", "types"):
        return "mapping", [part for pair in thing.items() for part in pair]
    if isinstance(thing, type | types.BuiltinFunctionType | types.ModuleType | np.ufunc):
        return "name", [_named(thing)]
    if thing is np.random.mtrand._rand:  # whoever refers to NumPy's global chance refers to no state of it
        return "name", ["numpy.random"]
    if isinstance(thing, types.MethodType):
        return "method", [thing.__func__, thing.__self__]
    if isinstance(thing, types.FunctionType):
        return "function", _function(thing)
    if isinstance(thing, partial):
        return "partial", [thing.func, thing.args, thing.keywords]
    if hasattr(thing, "detach") and hasattr(thing, "cpu"):  # a torch tensor
        return "tensor", _array(thing.detach().cpu().numpy())
    return "object", [type(thing), *_table_or_state(thing)]


def _array(values: np.ndarray[Any, Any]) -> list[Any]:
    shape = [str(values.dtype), values.shape]
    if values.dtype.hasobject:
        return [*shape, values.ravel().tolist() if values.dtype.names is None else values.tolist()]
    return [*shape, np.ascontiguousarray(values).tobytes()]


def _named(thing: Any) -> str:
    """A class, module or built-in function: its name, and the version of the package it comes from."""
    module = getattr(thing, "__module__", None) or getattr(thing, "__name__", "")
    package = sys.modules.get(str(module).partition(".")[0])
    name = getattr(thing, "__qualname__", getattr(thing, "__name__", ""))
    return f"{module}:{name}:{getattr(package, '__version__', '')}"


def _function(function: types.FunctionType) -> list[Any]:
    """Its code and what that refers to; for functions of installed packages their name and version say it all."""
    if "site-packages" in function.__code__.co_filename:
        return [_named(function)]
    cells = [cell.cell_contents for cell in function.__closure__ or () if _filled(cell)]
    used = [function.__globals__[name] for name in _names(function.__code__) if name in function.__globals__]
    return [*_code(function.__code__), cells, function.__defaults__, function.__kwdefaults__, used]


def _filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _names(code: types.CodeType) -> list[str]:
    """Names that code refers to, with those of the functions inside it."""
    inner = [name for one in code.co_consts if isinstance(one, types.CodeType) for name in _names(one)]
    return sorted({*code.co_names, *inner})


def _code(code: types.CodeType) -> list[Any]:
    constants = [_code(one) if isinstance(one, types.CodeType) else one for one in code.co_consts]
    return [code.co_code, constants, list(code.co_names), list(code.co_varnames)]


def _table_or_state(thing: Any) -> list[Any]:
    """Columns of a table, values of a sparse matrix or a dtype, or what an object says of itself when it is copied."""
    if hasattr(thing, "__fingerprint__"):
        return [thing.__fingerprint__()]
    if hasattr(thing, "columns") and hasattr(thing, "dtypes"):  # pandas and polars
        return [[str(name) for name in thing.columns], [str(one) for one in thing.dtypes], _columns(thing)]
    if hasattr(thing, "tocsr"):
        rows = thing.tocsr()
        return [rows.shape, rows.indptr, rows.indices, rows.data]
    if hasattr(thing, "to_pydict") and hasattr(thing, "schema"):  # Arrow
        return [str(thing.schema), thing.to_pydict()]
    if isinstance(thing, np.dtype):
        return [str(thing)]
    return _state(thing)


def _columns(table: Any) -> list[Any]:
    names = range(table.shape[1])
    if hasattr(table, "iloc"):
        return [table.iloc[:, j].to_numpy() for j in names]
    return [table[:, j].to_numpy() for j in names]


def _state(thing: Any) -> list[Any]:
    remembered = {
        name for kind in type(thing).__mro__ for name, value in vars(kind).items() if isinstance(value, cached_property)
    }
    try:
        reduced = thing.__reduce_ex__(2)
    except (TypeError, AttributeError, NotImplementedError) as error:
        raise WrongType(
            f"A {type(thing).__name__} cannot be told from others ({error}), so its answers cannot be kept: "
            "go on without cache=, or hand over what it computed."
        ) from None
    if isinstance(reduced, str):
        return [reduced]
    made, arguments, state, *items = [*reduced, None][:5]
    state = {k: v for k, v in state.items() if k not in remembered} if isinstance(state, dict) else state
    made_by = _named(made)
    return [made_by, arguments, state, *(list(one) for one in items if one is not None)]
