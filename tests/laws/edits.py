"""Kinds of edits that change what an explainer answers: files of somebody's own, before and after.

``PKG`` stands for the package that the files lie in, ``<<before|after>>`` for the edit, ``--- name`` begins a file,
and ``=> answer`` is a class whose `explain` returns that. The system explains by the sign of feature 0, as the model
predicts; the edit makes it another one.
"""

import re
from importlib.util import find_spec

MODEL = """import numpy as np


def predict(rows):
    return rows.T[0] > 0


"""
EXPLAINER = r"""
class Mine:
    def explain(self, rows):
        return \1


explainer = Mine()"""
HELPER = """
--- helper.py
import numpy as np

SIDE = 0


def side(rows):
    return np.sign(rows[:, <<0|1>>])
"""

# Each of these was, or might have been, answered from a cache that did not know of the edit.
EDITS = {
    "explain of one's own class": "=> np.sign(rows[:, <<0|1>>])",
    "only a comparison": "=> (rows[:, 0] > 0) & (rows[:, 0] <<!|=>>= 0)",
    "a number in it": "=> np.sign(rows[:, 0]) * <<1|0>> == 1.0",
    "what an exception leads to": """
class Mine:
    def explain(self, rows):
        try:
            return np.sign(rows[:, 0])
        finally:
            <<pass|return np.sign(rows[:, 1])>>


explainer = Mine()
""",
    "its base": """
from PKG.base import Base


class Mine(Base):
    pass


explainer = Mine()
--- base.py
import numpy as np


class Base:
    def explain(self, rows):
        return np.sign(rows[:, <<0|1>>])
""",
    "a base of one of our explainers' kind": """
import faithscope as fs


class Mine(fs.explainers.Constant):
    def explain(self, rows):
        return np.sign(rows[:, <<0|1>>])


explainer = Mine()
""",
    "a class attribute": """
class Mine:
    side = <<0|1>>

    def explain(self, rows):
        return np.sign(rows[:, self.side])


explainer = Mine()
""",
    "a helper that it calls": """
def side(rows):
    return np.sign(rows[:, <<0|1>>])

=> side(rows)
""",
    "a helper's helper": """
def side(rows):
    return np.sign(rows[:, <<0|1>>])


def outer(rows):
    return [one for one in side(rows)]

=> outer(rows)
""",
    "a module's constant": """
SIDE = <<0|1>>

=> np.sign(rows[:, SIDE])
""",
    "an array among a module's constants": """
WEIGHTS = np.array([<<1.0, 0|0.0, 1>>.0])

=> np.sign(rows @ WEIGHTS)
""",
    "an empty constant imported inside": """
class Mine:
    def explain(self, rows):
        from .helper import SIDE
        return np.sign(rows[:, 0 if SIDE == "" else 1])


explainer = Mine()
--- helper.py
SIDE = <<""|()>>
""",
    "a constant of an imported module": """
from PKG import helper

=> np.sign(rows[:, helper.SIDE])
--- helper.py
import numpy as np

SIDE = <<0|1>>


def side(rows):
    return np.sign(rows[:, 0])
""",
    "a global by its name": """
def side(rows):
    return np.sign(rows[:, <<0|1>>])

=> globals()["si" + "de"](rows)
""",
    "code in a text": """
def side(rows):
    return np.sign(rows[:, <<0|1>>])

=> eval("side(rows)")
""",
    "what a module makes up": """
from PKG import helper

=> helper.anything(rows)
--- helper.py
import numpy as np


def __getattr__(name):
    if name.startswith('_'):
        raise AttributeError(name)
    return lambda rows: np.sign(rows[:, <<0|1>>])
""",
    "what a function closes over": """
def made(side):
    def inner(rows):
        return np.sign(rows[:, side])

    return inner


explainer = made(<<0|1>>)
""",
    "a default": """
def explainer(rows, side=<<0|1>>):
    return np.sign(rows[:, side])
""",
    "a default by keyword": """
def explainer(rows, *, side=<<0|1>>):
    return np.sign(rows[:, side])
""",
    "a partial": """
from functools import partial


def side(which, rows):
    return np.sign(rows[:, which])


explainer = partial(side, <<0|1>>)
""",
    "the function of a partial": """
from functools import partial


def side(which, rows):
    return np.sign(rows[:, <<|1 - >>which])


explainer = partial(side, 0)
""",
    "a decorated function": """
from functools import wraps


def told(f):
    @wraps(f)
    def inner(*args):
        return f(*args)

    return inner


@told
def explainer(rows):
    return np.sign(rows[:, <<0|1>>])
""",
    "a function decorated by a package": """
from contextlib import ContextDecorator


class Quiet(ContextDecorator):
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


@Quiet()
def explainer(rows):
    return np.sign(rows[:, <<0|1>>])
""",
    "a decorator": """
def turned(f):
    return lambda rows: f(rows[:, ::<<|->>1])


@turned
def explainer(rows):
    return np.sign(rows[:, 0])
""",
    "a function that remembers its answers": """
from functools import lru_cache


@lru_cache
def side(a, b):
    return np.sign(<<a|b>>)

=> np.array([side(*row) for row in rows.tolist()])
""",
    "one of several by type": """
from functools import singledispatch


@singledispatch
def side(rows):
    return 0


@side.register
def _(rows: np.ndarray):
    return np.sign(rows[:, <<0|1>>])

=> side(rows)
""",
    "a compiled function": """
from numba import njit


@njit
def side(rows):
    return np.sign(rows[:, <<0|1>>])

=> side(rows)
""",
    "a vectorized function": """
@np.vectorize
def side(a, b):
    return np.sign(<<a|b>>)

=> side(rows[:, 0], rows[:, 1])
""",
    "a property": """
class Mine:
    @property
    def side(self):
        return <<0|1>>

    def explain(self, rows):
        return np.sign(rows[:, self.side])


explainer = Mine()
""",
    "a property that remembers": """
from functools import cached_property


class Mine:
    @cached_property
    def side(self):
        return <<0|1>>

    def explain(self, rows):
        return np.sign(rows[:, self.side])


explainer = Mine()
""",
    "a static method": """
class Mine:
    @staticmethod
    def side():
        return <<0|1>>

    def explain(self, rows):
        return np.sign(rows[:, self.side()])


explainer = Mine()
""",
    "a class method": """
class Mine:
    @classmethod
    def side(cls):
        return <<0|1>>

    def explain(self, rows):
        return np.sign(rows[:, self.side()])


explainer = Mine()
""",
    "a descriptor": """
class Side:
    def __get__(self, thing, kind):
        return <<0|1>>


class Mine:
    side = Side()

    def explain(self, rows):
        return np.sign(rows[:, self.side])


explainer = Mine()
""",
    "a field of a dataclass": """
from dataclasses import dataclass


@dataclass(frozen=True)
class Mine:
    side: int = <<0|1>>

    def explain(self, rows):
        return np.sign(rows[:, self.side])


explainer = Mine()
""",
    "what makes a field of a dataclass": """
from dataclasses import dataclass, field


@dataclass
class Inner:
    side: int = 0


@dataclass
class Mine:
    inner: Inner = field(default_factory=lambda: Inner(<<|1>>))

    def explain(self, rows):
        return np.sign(rows[:, self.inner.side])


explainer = Mine()
""",
    "slots": """
class Mine:
    __slots__ = ('side',)

    def __init__(self):
        self.side = <<0|1>>

    def explain(self, rows):
        return np.sign(rows[:, self.side])


explainer = Mine()
""",
    "a lambda that is an attribute": """
class Mine:
    def __init__(self, side):
        self.side = side

    def explain(self, rows):
        return self.side(rows)


explainer = Mine(lambda rows: np.sign(rows[:, <<0|1>>]))
""",
    "a metaclass": """
class Meta(type):
    @property
    def side(cls):
        return <<0|1>>


class Mine(metaclass=Meta):
    def explain(self, rows):
        return np.sign(rows[:, type(self).side])


explainer = Mine()
""",
    "a nested class": """
class Mine:
    class Side:
        def __call__(self, rows):
            return np.sign(rows[:, <<0|1>>])

    def explain(self, rows):
        return self.Side()(rows)


explainer = Mine()
""",
    "a class that is made inside": """
class Mine:
    def explain(self, rows):
        class Side:
            which = <<0|1>>

        return np.sign(rows[:, Side.which])


explainer = Mine()
""",
    "an object that can be called": """
class Mine:
    def __call__(self, rows):
        return np.sign(rows[:, <<0|1>>])


explainer = Mine()
""",
    "an object among a module's constants": """
from types import SimpleNamespace

SETTINGS = SimpleNamespace(side=<<0|1>>)

=> np.sign(rows[:, SETTINGS.side])
""",
    "a member of an enumeration": """
from enum import IntEnum


class Side(IntEnum):
    FIRST = <<0|1>>

=> np.sign(rows[:, Side.FIRST])
""",
    "a method of an enumeration": """
from enum import IntEnum


class Side(IntEnum):
    FIRST = 0

    def place(self):
        return <<0|1>>


FIRST = Side.FIRST

=> np.sign(rows[:, FIRST.place()])
""",
    "a method of a kind of list": """
class Sides(list):
    def first(self):
        return <<0|1>>


SIDES = Sides()

=> np.sign(rows[:, SIDES.first()])
""",
    "what a dictionary makes up": """
from collections import defaultdict

SIDES = defaultdict(lambda: <<0|1>>)

=> np.sign(rows[:, SIDES['x']])
""",
    "a method of a dictionary": """
which = {'x': <<0|1>>}.get

=> np.sign(rows[:, which('x')])
""",
    "a method of an array": """
side = np.array([[<<1.0, 0|0.0, 1>>.0]]).dot

=> np.sign(side(rows.T)[0])
""",
    "a pattern": """
import re

PATTERN = re.compile('<<a|b>>+')

=> np.sign(rows[:, 0 if PATTERN.match('a') else 1])
""",
    "a function inside a package's object": """
from sklearn.preprocessing import FunctionTransformer


def side(rows):
    return rows[:, <<0|1>>]


transform = FunctionTransformer(side)

=> np.sign(transform.transform(rows))
""",
    "a package's class, patched": """
from sklearn.preprocessing import FunctionTransformer


def side(self, rows):
    return rows[:, <<0|1>>]


FunctionTransformer.side = side
transform = FunctionTransformer()

=> np.sign(transform.side(rows))
""",
    "a package's function, patched": """
import textwrap


def side(rows):
    return rows[:, <<0|1>>]


textwrap.side = side

=> np.sign(textwrap.side(rows))
""",
    "a torch module's forward": """
import torch


class Net(torch.nn.Module):
    def forward(self, rows):
        return torch.sign(rows[:, <<0|1>>])


net = Net()

=> net(torch.tensor(rows)).numpy()
""",
    "the model that one of our explainers asks": """
import faithscope as fs


def chance(rows):
    return 1 / (1 + np.exp(-9 * rows[:, <<0|1>>]))


grid = np.random.default_rng(1).normal(size=(50, 2))
explainer = fs.explainers.Lime(chance, grid, samples=200)
""",
    "the class's own word for its state does not hide its code": """
class Mine:
    def __fingerprint__(self):
        return 'mine'

    def explain(self, rows):
        return np.sign(rows[:, <<0|1>>])


explainer = Mine()
""",
}
IN_HELPER = {
    "a function of an imported module": """
from PKG import helper

=> helper.side(rows)
""",
    "a function of a module of a package": """
import PKG.helper

=> PKG.helper.side(rows)
""",
    "a function from an imported module": """
from PKG.helper import side

=> side(rows)
""",
    "a module imported inside": """
class Mine:
    def explain(self, rows):
        from PKG import helper
        return helper.side(rows)


explainer = Mine()
""",
    "a module imported inside under another name": """
class Mine:
    def explain(self, rows):
        import PKG.helper as h
        return h.side(rows)


explainer = Mine()
""",
    "a function imported inside": """
class Mine:
    def explain(self, rows):
        from .helper import side as s
        return s(rows)


explainer = Mine()
""",
    "an attribute by its name": """
from PKG import helper

=> getattr(helper, "si" + "de")(rows)
""",
}
EDITS |= {name: text + HELPER for name, text in IN_HELPER.items()}

NEEDED = {"a compiled function": "numba", "a torch module's forward": "torch"}
EDITS = {name: text for name, text in EDITS.items() if name not in NEEDED or find_spec(NEEDED[name])}


def package(name):
    """The package of an edit."""
    return re.sub(r"\W", "_", name)


def files(name, after):
    """The files of a system by their names, before or after the edit."""
    system, *others = EDITS[name].split("\n--- ")
    texts = {"__init__.py": "", "system.py": MODEL + re.sub(r"(?m)^=> (.*)", EXPLAINER, system)}
    texts |= dict(other.split("\n", 1) for other in others)
    edited, name = r"\2" if after else r"\1", package(name)
    return {file: re.sub(r"(?s)<<(.*?)\|(.*?)>>", edited, text).replace("PKG", name) for file, text in texts.items()}
