"""What a function's code refers to outside itself, read from its bytecode."""

import dis
import types
from collections.abc import Iterator
from dataclasses import dataclass

_GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}


@dataclass(frozen=True, order=True)
class Reference:
    """A name that code looks up, or a module that it imports while it runs.

    Attributes
    ----------
    name : str
        Of a global, or of a module as an import statement has it.
    attributes : tuple of str
        The attributes that are read from it in turn: ``("f",)`` for ``helper.f``. Empty if it is used in any other
        way.
    level : int
        -1 for a global; otherwise the number of leading dots of the module's name.
    """

    name: str
    attributes: tuple[str, ...] = ()
    level: int = -1


def references(code: types.CodeType) -> list[Reference]:
    """Everything that code and the functions inside it look up by name, sorted."""
    return sorted(set(_references(code)))


def names_in(code: types.CodeType) -> set[str]:
    """All global names and attributes in code and in the functions inside it."""
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*map(names_in, inner))


def _references(code: types.CodeType) -> Iterator[Reference]:
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("EXTENDED_ARG", "CACHE")]
    for place, step in enumerate(steps):
        if step.opname in _GLOBALS:
            yield Reference(step.argval, tuple(_attributes(steps, place + 1)))
        elif step.opname == "IMPORT_NAME":
            level, names = steps[place - 2].argval, steps[place - 1].argval
            yield from (Reference(step.argval, (name,), level) for name in names or ())
            yield from () if names else (Reference(step.argval, (), level),)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _references(constant)


def _attributes(steps: list[dis.Instruction], place: int) -> Iterator[str]:
    """Names of the attributes that are read next from what was looked up last."""
    while place < len(steps) and steps[place].opname in _ATTRIBUTES:
        yield steps[place].argval
        place += 1
