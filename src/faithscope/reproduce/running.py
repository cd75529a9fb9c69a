"""The parts of the paper, and how they are run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from types import MappingProxyType

from faithscope.errors import BadInput
from faithscope.reproduce.records import Outcome
from faithscope.reproduce.settings import Settings

# In the order of the paper; each is a module that has ID, TITLE and run.
PARTS = (
    "table1",
    "figure1",
    "figure2",
    "figure3",
    "table5",
    "figure4",
    "figure5",
    "table3",
    "table4",
    "figure7",
    "table6",
    "table7",
)
# What else the paper calls them: one part has the numbers of both.
ALSO = MappingProxyType({"table2": "table5", "figure6": "figure1", "figure8": "figure3"})


@dataclass(frozen=True)
class Part:
    """A part of the paper that was run."""

    name: str
    title: str
    outcome: Outcome


def chosen(names: Iterable[str]) -> list[str]:
    """Parts by name, each once and in the paper's order; all of them where none is named."""
    asked = [ALSO.get(name.strip().lower(), name.strip().lower()) for name in names]
    for name in asked:
        if name not in PARTS:
            near = get_close_matches(name, [*PARTS, *ALSO], 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise BadInput(f"The paper has no {name!r}; choose among {', '.join([*PARTS, *ALSO])}.{hint}")
    return [name for name in PARTS if name in asked or not asked]


def run(names: Iterable[str], settings: Settings, told: Callable[[str], None] = lambda _: None) -> list[Part]:
    """Run parts of the paper, one after the other.

    Parameters
    ----------
    names : iterable of str
        As in `PARTS` or `ALSO`; all where there are none.
    settings : Settings
    told : callable
        Called with a line before each part.
    """
    done = []
    for name in chosen(names):
        module = import_module(f"faithscope.reproduce.{name}")
        told(f"{name}: {module.TITLE}")
        done.append(Part(name, module.TITLE, module.run(settings)))
    return done
