"""Kinds of edits that change what an explainer answers: files of somebody's own, before and after.

In each, ``PKG`` stands for the package that the files lie in. The system explains by the sign of feature 0, as the
model predicts; the edit makes it another one.
"""

from dataclasses import dataclass
from importlib.util import find_spec

MODEL = """import numpy as np


def predict(rows):
    return rows.T[0] > 0
"""
HELPER = """import numpy as np

SIDE = 0


def side(rows):
    return np.sign(rows[:, 0])
"""


@dataclass(frozen=True)
class Edit:
    """Files, and in one of them what becomes what."""

    files: dict[str, str]
    file: str
    old: str
    new: str


def edit(system, old, new, file="system.py", **others):
    """An edit of the system, or of another file that it reaches."""
    files = {"__init__.py": "", "system.py": MODEL + system, **{f"{name}.py": text for name, text in others.items()}}
    assert files[file].count(old) == 1
    assert old != new
    return Edit(files, file, old, new)


FIRST, SECOND = "np.sign(rows[:, 0])", "np.sign(rows[:, 1])"

EDITS = {
    "explain of one's own class": edit(
        """

class Mine:
    def explain(self, rows):
        return np.sign(rows[:, 0])


explainer = Mine()
""",
        FIRST,
        SECOND,
    ),
    "only a comparison": edit(
        """

class Mine:
    def explain(self, rows):
        return (rows[:, 0] > 0) & (rows[:, 0] != 0)


explainer = Mine()
""",
        "(rows[:, 0] != 0)",
        "(rows[:, 0] == 0)",
    ),
    "a number in it": edit(
        """

class Mine:
    def explain(self, rows):
        return np.sign(rows[:, 0]) * 1 == 1.0


explainer = Mine()
""",
        "* 1 ",
        "* 0 ",
    ),
    "what an exception leads to": edit(
        """

class Mine:
    def explain(self, rows):
        try:
            return np.sign(rows[:, 0])
        finally:
            pass


explainer = Mine()
""",
        "finally:\n            pass",
        "finally:\n            return np.sign(rows[:, 1])",
    ),
    "its base": edit(
        """
from PKG.base import Base


class Mine(Base):
    pass


explainer = Mine()
""",
        "rows[:, 0]",
        "rows[:, 1]",
        "base.py",
        base="""import numpy as np


class Base:
    def explain(self, rows):
        return np.sign(rows[:, 0])
""",
    ),
    "a base of one of our explainers' kind": edit(
        """
import faithscope as fs


class Mine(fs.explainers.Constant):
    def explain(self, rows):
        return np.sign(rows[:, 0])


explainer = Mine()
""",
        FIRST,
        SECOND,
    ),
    "a class attribute": edit(
        """

class Mine:
    side = 0

    def explain(self, rows):
        return np.sign(rows[:, self.side])


explainer = Mine()
""",
        "side = 0",
        "side = 1",
    ),
    "a helper that it calls": edit(
        """

def side(rows):
    return np.sign(rows[:, 0])


class Mine:
    def explain(self, rows):
        return side(rows)


explainer = Mine()
""",
        "rows[:, 0])\n\n\nclass",
        "rows[:, 1])\n\n\nclass",
    ),
    "a helper's helper": edit(
        """

def side(rows):
    return np.sign(rows[:, 0])


def outer(rows):
    return [one for one in side(rows)]


class Mine:
    def explain(self, rows):
        return outer(rows)


explainer = Mine()
""",
        FIRST,
        SECOND,
    ),
    "a module's constant": edit(
        """
SIDE = 0


class Mine:
    def explain(self, rows):
        return np.sign(rows[:, SIDE])


explainer = Mine()
""",
        "SIDE = 0",
        "SIDE = 1",
    ),
    "an array among a module's constants": edit(
        """
WEIGHTS = np.array([1.0, 0.0])


class Mine:
    def explain(self, rows):
        return np.sign(rows @ WEIGHTS)


explainer = Mine()
""",
        "[1.0, 0.0]",
        "[0.0, 1.0]",
    ),
    "a function of an imported module": edit(
        """
from PKG import helper


class Mine:
    def explain(self, rows):
        return helper.side(rows)


explainer = Mine()
""",
        "rows[:, 0]",
        "rows[:, 1]",
        "helper.py",
        helper=HELPER,
    ),
    "a function of a module of a package": edit(
        """
import PKG.helper


class Mine:
    def explain(self, rows):
        return PKG.helper.side(rows)


explainer = Mine()
""",
        "rows[:, 0]",
        "rows[:, 1]",
        "helper.py",
        helper=HELPER,
    ),
    "a function from an imported module": edit(
        """
from PKG.helper import side


class Mine:
    def explain(self, rows):
        return side(rows)


explainer = Mine()
""",
        "rows[:, 0]",
        "rows[:, 1]",
        "helper.py",
        helper=HELPER,
    ),
    "a constant of an imported module": edit(
        """
from PKG import helper


class Mine:
    def explain(self, rows):
        return np.sign(rows[:, helper.SIDE])


explainer = Mine()
""",
        "SIDE = 0",
        "SIDE = 1",
        "helper.py",
        helper=HELPER,
    ),
    "a module imported inside": edit(
        """

class Mine:
    def explain(self, rows):
        from PKG import helper
        return helper.side(rows)


explainer = Mine()
""",
        "rows[:, 0]",
        "rows[:, 1]",
        "helper.py",
        helper=HELPER,
    ),
    "a module imported inside under another name": edit(
        """

class Mine:
    def explain(self, rows):
        import PKG.helper as h
        return h.side(rows)


explainer = Mine()
""",
        "rows[:, 0]",
        "rows[:, 1]",
        "helper.py",
        helper=HELPER,
    ),
    "a function imported inside": edit(
        """

class Mine:
    def explain(self, rows):
        from .helper import side as s
        return s(rows)


explainer = Mine()
""",
        "rows[:, 0]",
        "rows[:, 1]",
        "helper.py",
        helper=HELPER,
    ),
    "an attribute by its name": edit(
        """
from PKG import helper


class Mine:
    def explain(self, rows):
        return getattr(helper, "si" + "de")(rows)


explainer = Mine()
""",
        "rows[:, 0]",
        "rows[:, 1]",
        "helper.py",
        helper=HELPER,
    ),
    "a global by its name": edit(
        """

def side(rows):
    return np.sign(rows[:, 0])


class Mine:
    def explain(self, rows):
        return globals()["si" + "de"](rows)


explainer = Mine()
""",
        "(rows[:, 0])\n\n\nc",
        "(rows[:, 1])\n\n\nc",
    ),
    "code in a text": edit(
        """

def side(rows):
    return np.sign(rows[:, 0])


class Mine:
    def explain(self, rows):
        return eval("side(rows)")


explainer = Mine()
""",
        "(rows[:, 0])\n\n\nc",
        "(rows[:, 1])\n\n\nc",
    ),
    "what a module makes up": edit(
        """
from PKG import helper


class Mine:
    def explain(self, rows):
        return helper.anything(rows)


explainer = Mine()
""",
        "rows[:, 0]",
        "rows[:, 1]",
        "helper.py",
        helper="""import numpy as np


def __getattr__(name):
    if name.startswith('_'):
        raise AttributeError(name)
    return lambda rows: np.sign(rows[:, 0])
""",
    ),
    "what a function closes over": edit(
        """

def made(side):
    def inner(rows):
        return np.sign(rows[:, side])

    return inner


explainer = made(0)
""",
        "made(0)",
        "made(1)",
    ),
    "a default": edit(
        """

def explainer(rows, side=0):
    return np.sign(rows[:, side])
""",
        "side=0",
        "side=1",
    ),
    "a default by keyword": edit(
        """

def explainer(rows, *, side=0):
    return np.sign(rows[:, side])
""",
        "side=0",
        "side=1",
    ),
    "a partial": edit(
        """
from functools import partial


def side(which, rows):
    return np.sign(rows[:, which])


explainer = partial(side, 0)
""",
        "side, 0",
        "side, 1",
    ),
    "the function of a partial": edit(
        """
from functools import partial


def side(which, rows):
    return np.sign(rows[:, which])


explainer = partial(side, 0)
""",
        "rows[:, which]",
        "rows[:, 1 - which]",
    ),
    "a decorated function": edit(
        """
from functools import wraps


def told(f):
    @wraps(f)
    def inner(*args):
        return f(*args)

    return inner


@told
def explainer(rows):
    return np.sign(rows[:, 0])
""",
        FIRST,
        SECOND,
    ),
    "a function decorated by a package": edit(
        """
from contextlib import ContextDecorator


class Quiet(ContextDecorator):
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


@Quiet()
def explainer(rows):
    return np.sign(rows[:, 0])
""",
        FIRST,
        SECOND,
    ),
    "a decorator": edit(
        """

def turned(f):
    return lambda rows: f(rows[:, ::1])


@turned
def explainer(rows):
    return np.sign(rows[:, 0])
""",
        "::1",
        "::-1",
    ),
    "a function that remembers its answers": edit(
        """
from functools import lru_cache


@lru_cache
def side(a, b):
    return np.sign(a)


class Mine:
    def explain(self, rows):
        return np.array([side(*row) for row in rows.tolist()])


explainer = Mine()
""",
        "np.sign(a)",
        "np.sign(b)",
    ),
    "one of several by type": edit(
        """
from functools import singledispatch


@singledispatch
def side(rows):
    return 0


@side.register
def _(rows: np.ndarray):
    return np.sign(rows[:, 0])


class Mine:
    def explain(self, rows):
        return side(rows)


explainer = Mine()
""",
        "rows[:, 0])\n\n\nclass",
        "rows[:, 1])\n\n\nclass",
    ),
    "a compiled function": edit(
        """
from numba import njit


@njit
def side(rows):
    return np.sign(rows[:, 0])


class Mine:
    def explain(self, rows):
        return side(rows)


explainer = Mine()
""",
        "rows[:, 0])\n\n\nclass",
        "rows[:, 1])\n\n\nclass",
    ),
    "a vectorized function": edit(
        """

@np.vectorize
def side(a, b):
    return np.sign(a)


class Mine:
    def explain(self, rows):
        return side(rows[:, 0], rows[:, 1])


explainer = Mine()
""",
        "np.sign(a)",
        "np.sign(b)",
    ),
    "a property": edit(
        """

class Mine:
    @property
    def side(self):
        return 0

    def explain(self, rows):
        return np.sign(rows[:, self.side])


explainer = Mine()
""",
        "return 0",
        "return 1",
    ),
    "a property that remembers": edit(
        """
from functools import cached_property


class Mine:
    @cached_property
    def side(self):
        return 0

    def explain(self, rows):
        return np.sign(rows[:, self.side])


explainer = Mine()
""",
        "return 0",
        "return 1",
    ),
    "a static method": edit(
        """

class Mine:
    @staticmethod
    def side():
        return 0

    def explain(self, rows):
        return np.sign(rows[:, self.side()])


explainer = Mine()
""",
        "return 0",
        "return 1",
    ),
    "a class method": edit(
        """

class Mine:
    @classmethod
    def side(cls):
        return 0

    def explain(self, rows):
        return np.sign(rows[:, self.side()])


explainer = Mine()
""",
        "return 0",
        "return 1",
    ),
    "a descriptor": edit(
        """

class Side:
    def __get__(self, thing, kind):
        return 0


class Mine:
    side = Side()

    def explain(self, rows):
        return np.sign(rows[:, self.side])


explainer = Mine()
""",
        "return 0",
        "return 1",
    ),
    "a field of a dataclass": edit(
        """
from dataclasses import dataclass


@dataclass(frozen=True)
class Mine:
    side: int = 0

    def explain(self, rows):
        return np.sign(rows[:, self.side])


explainer = Mine()
""",
        "side: int = 0",
        "side: int = 1",
    ),
    "what makes a field of a dataclass": edit(
        """
from dataclasses import dataclass, field


@dataclass
class Inner:
    side: int = 0


@dataclass
class Mine:
    inner: Inner = field(default_factory=lambda: Inner())

    def explain(self, rows):
        return np.sign(rows[:, self.inner.side])


explainer = Mine()
""",
        "Inner())",
        "Inner(1))",
    ),
    "slots": edit(
        """

class Mine:
    __slots__ = ('side',)

    def __init__(self):
        self.side = 0

    def explain(self, rows):
        return np.sign(rows[:, self.side])


explainer = Mine()
""",
        "self.side = 0",
        "self.side = 1",
    ),
    "a lambda that is an attribute": edit(
        """

class Mine:
    def __init__(self, side):
        self.side = side

    def explain(self, rows):
        return self.side(rows)


explainer = Mine(lambda rows: np.sign(rows[:, 0]))
""",
        FIRST,
        SECOND,
    ),
    "a metaclass": edit(
        """

class Meta(type):
    @property
    def side(cls):
        return 0


class Mine(metaclass=Meta):
    def explain(self, rows):
        return np.sign(rows[:, type(self).side])


explainer = Mine()
""",
        "return 0",
        "return 1",
    ),
    "a nested class": edit(
        """

class Mine:
    class Side:
        def __call__(self, rows):
            return np.sign(rows[:, 0])

    def explain(self, rows):
        return self.Side()(rows)


explainer = Mine()
""",
        FIRST,
        SECOND,
    ),
    "a class that is made inside": edit(
        """

class Mine:
    def explain(self, rows):
        class Side:
            which = 0

        return np.sign(rows[:, Side.which])


explainer = Mine()
""",
        "which = 0",
        "which = 1",
    ),
    "an object that can be called": edit(
        """

class Mine:
    def __call__(self, rows):
        return np.sign(rows[:, 0])


explainer = Mine()
""",
        FIRST,
        SECOND,
    ),
    "an object among a module's constants": edit(
        """
from types import SimpleNamespace

SETTINGS = SimpleNamespace(side=0)


class Mine:
    def explain(self, rows):
        return np.sign(rows[:, SETTINGS.side])


explainer = Mine()
""",
        "side=0",
        "side=1",
    ),
    "a member of an enumeration": edit(
        """
from enum import IntEnum


class Side(IntEnum):
    FIRST = 0


class Mine:
    def explain(self, rows):
        return np.sign(rows[:, Side.FIRST])


explainer = Mine()
""",
        "FIRST = 0",
        "FIRST = 1",
    ),
    "a method of an enumeration": edit(
        """
from enum import IntEnum


class Side(IntEnum):
    FIRST = 0

    def place(self):
        return 0


FIRST = Side.FIRST


class Mine:
    def explain(self, rows):
        return np.sign(rows[:, FIRST.place()])


explainer = Mine()
""",
        "return 0",
        "return 1",
    ),
    "a method of a kind of list": edit(
        """

class Sides(list):
    def first(self):
        return 0


SIDES = Sides()


class Mine:
    def explain(self, rows):
        return np.sign(rows[:, SIDES.first()])


explainer = Mine()
""",
        "return 0",
        "return 1",
    ),
    "what a dictionary makes up": edit(
        """
from collections import defaultdict

SIDES = defaultdict(lambda: 0)


class Mine:
    def explain(self, rows):
        return np.sign(rows[:, SIDES['x']])


explainer = Mine()
""",
        "lambda: 0",
        "lambda: 1",
    ),
    "a method of a dictionary": edit(
        """
which = {'x': 0}.get


class Mine:
    def explain(self, rows):
        return np.sign(rows[:, which('x')])


explainer = Mine()
""",
        "'x': 0",
        "'x': 1",
    ),
    "a method of an array": edit(
        """
side = np.array([[1.0, 0.0]]).dot


class Mine:
    def explain(self, rows):
        return np.sign(side(rows.T)[0])


explainer = Mine()
""",
        "[1.0, 0.0]",
        "[0.0, 1.0]",
    ),
    "a pattern": edit(
        """
import re

PATTERN = re.compile('a+')


class Mine:
    def explain(self, rows):
        return np.sign(rows[:, 0 if PATTERN.match('a') else 1])


explainer = Mine()
""",
        "'a+'",
        "'b+'",
    ),
    "a function inside a package's object": edit(
        """
from sklearn.preprocessing import FunctionTransformer


def side(rows):
    return rows[:, 0]


transform = FunctionTransformer(side)


class Mine:
    def explain(self, rows):
        return np.sign(transform.transform(rows))


explainer = Mine()
""",
        "return rows[:, 0]",
        "return rows[:, 1]",
    ),
    "a package's class, patched": edit(
        """
from sklearn.preprocessing import FunctionTransformer


def side(self, rows):
    return rows[:, 0]


FunctionTransformer.side = side
transform = FunctionTransformer()


class Mine:
    def explain(self, rows):
        return np.sign(transform.side(rows))


explainer = Mine()
""",
        "return rows[:, 0]",
        "return rows[:, 1]",
    ),
    "a package's function, patched": edit(
        """
import textwrap


def side(rows):
    return rows[:, 0]


textwrap.side = side


class Mine:
    def explain(self, rows):
        return np.sign(textwrap.side(rows))


explainer = Mine()
""",
        "return rows[:, 0]",
        "return rows[:, 1]",
    ),
    "a torch module's forward": edit(
        """
import torch


class Net(torch.nn.Module):
    def forward(self, rows):
        return torch.sign(rows[:, 0])


net = Net()


class Mine:
    def explain(self, rows):
        return net(torch.tensor(rows)).numpy()


explainer = Mine()
""",
        "torch.sign(rows[:, 0])",
        "torch.sign(rows[:, 1])",
    ),
    "the model that one of our explainers asks": edit(
        """
import faithscope as fs


def chance(rows):
    return 1 / (1 + np.exp(-9 * rows[:, 0]))


grid = np.random.default_rng(1).normal(size=(50, 2))
explainer = fs.explainers.Lime(chance, grid, samples=200)
""",
        "rows[:, 0]))\n\n\ngrid",
        "rows[:, 1]))\n\n\ngrid",
    ),
    "the class's own word for its state does not hide its code": edit(
        """

class Mine:
    def __fingerprint__(self):
        return 'mine'

    def explain(self, rows):
        return np.sign(rows[:, 0])


explainer = Mine()
""",
        FIRST,
        SECOND,
    ),
}

NEEDED = {"a compiled function": "numba", "a torch module's forward": "torch"}
EDITS = {name: one for name, one in EDITS.items() if name not in NEEDED or find_spec(NEEDED[name])}
