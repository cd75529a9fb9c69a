"""Kinds of edits that change what an explainer answers: files of somebody's own, before and after.

In each, ``PKG`` stands for the package that the files lie in. The system explains by the sign of feature 0, as the
model predicts; the edit makes it feature 1, so that consistency falls from 1 to about one half.
"""

from dataclasses import dataclass
from importlib.util import find_spec

MODEL = "import numpy as np\n\n\ndef predict(rows):\n    return rows.T[0] > 0\n"


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
    assert old in files[file]
    assert old != new
    return Edit(files, file, old, new)


def mine(body, before=""):
    """A class whose ``explain`` has this body."""
    return f"{before}\n\nclass Mine:\n    def explain(self, rows):\n        {body}\n\n\nexplainer = Mine()\n"


SIGN = "def side(rows):\n    return np.sign(rows[:, 0])\n"
HELPER = "import numpy as np\n\nSIDE = 0\n\n\n" + SIGN

EDITS = {
    "explain of one's own class": edit(mine("return np.sign(rows[:, 0])"), "np.sign(rows[:, 0])", "np.sign(rows[:, 1])"),
    "only a comparison": edit(
        mine("return (rows[:, 0] > 0) & (rows[:, 0] != 0)"), "(rows[:, 0] != 0)", "(rows[:, 0] == 0)"
    ),
    "a constant's type": edit(mine("return np.sign(rows[:, 0]) * 1 == 1.0"), "* 1 ", "* 0 "),
    "what an exception leads to": edit(
        mine("try:\n            return np.sign(rows[:, 0])\n        finally:\n            pass"),
        "finally:\n            pass",
        "finally:\n            return np.sign(rows[:, 1])",
    ),
    "its base": edit(
        "from PKG.base import Base\n\n\nclass Mine(Base):\n    pass\n\n\nexplainer = Mine()\n",
        "rows[:, 0]",
        "rows[:, 1]",
        "base.py",
        base="import numpy as np\n\n\nclass Base:\n    def explain(self, rows):\n        return np.sign(rows[:, 0])\n",
    ),
    "a base of one of our explainers' kind": edit(
        "import faithscope as fs\n\n\nclass Mine(fs.explainers.Constant):\n    def explain(self, rows):\n"
        "        return np.sign(rows[:, 0])\n\n\nexplainer = Mine()\n",
        "np.sign(rows[:, 0])",
        "np.sign(rows[:, 1])",
    ),
    "a class attribute": edit(
        "\n\nclass Mine:\n    side = 0\n\n    def explain(self, rows):\n        return np.sign(rows[:, self.side])\n\n\n"
        "explainer = Mine()\n",
        "side = 0",
        "side = 1",
    ),
    "a helper that it calls": edit(mine("return side(rows)", SIGN), "rows[:, 0])\n\n\nclass", "rows[:, 1])\n\n\nclass"),
    "a helper's helper": edit(
        mine("return outer(rows)", SIGN + "\n\ndef outer(rows):\n    return [one for one in side(rows)]\n"),
        "np.sign(rows[:, 0])",
        "np.sign(rows[:, 1])",
    ),
    "a module's constant": edit(mine("return np.sign(rows[:, SIDE])", "SIDE = 0\n"), "SIDE = 0", "SIDE = 1"),
    "an array among a module's constants": edit(
        mine("return np.sign(rows @ WEIGHTS)", "WEIGHTS = np.array([1.0, 0.0])\n"), "[1.0, 0.0]", "[0.0, 1.0]"
    ),
    "a function of an imported module": edit(
        mine("return helper.side(rows)", "from PKG import helper\n"), "rows[:, 0]", "rows[:, 1]", "helper.py", helper=HELPER
    ),
    "a function of a module of a package": edit(
        mine("return PKG.helper.side(rows)", "import PKG.helper\n"), "rows[:, 0]", "rows[:, 1]", "helper.py", helper=HELPER
    ),
    "a function from an imported module": edit(
        mine("return side(rows)", "from PKG.helper import side\n"), "rows[:, 0]", "rows[:, 1]", "helper.py", helper=HELPER
    ),
    "a constant of an imported module": edit(
        mine("return np.sign(rows[:, helper.SIDE])", "from PKG import helper\n"),
        "SIDE = 0",
        "SIDE = 1",
        "helper.py",
        helper=HELPER,
    ),
    "a module imported inside": edit(
        mine("from PKG import helper\n        return helper.side(rows)"), "rows[:, 0]", "rows[:, 1]", "helper.py", helper=HELPER
    ),
    "a module imported inside under another name": edit(
        mine("import PKG.helper as h\n        return h.side(rows)"), "rows[:, 0]", "rows[:, 1]", "helper.py", helper=HELPER
    ),
    "a function imported inside": edit(
        mine("from .helper import side as s\n        return s(rows)"), "rows[:, 0]", "rows[:, 1]", "helper.py", helper=HELPER
    ),
    "an attribute by its name": edit(
        mine('return getattr(helper, "si" + "de")(rows)', "from PKG import helper\n"),
        "rows[:, 0]",
        "rows[:, 1]",
        "helper.py",
        helper=HELPER,
    ),
    "a global by its name": edit(mine('return globals()["si" + "de"](rows)', SIGN), "(rows[:, 0])\n\n\nc", "(rows[:, 1])\n\n\nc"),
    "code in a text": edit(mine('return eval("side(rows)")', SIGN), "(rows[:, 0])\n\n\nc", "(rows[:, 1])\n\n\nc"),
    "what a module makes up": edit(
        mine("return helper.anything(rows)", "from PKG import helper\n"),
        "rows[:, 0]",
        "rows[:, 1]",
        "helper.py",
        helper="import numpy as np\n\n\ndef __getattr__(name):\n    if name.startswith('_'):\n"
        "        raise AttributeError(name)\n    return lambda rows: np.sign(rows[:, 0])\n",
    ),
    "what a function closes over": edit(
        "\n\ndef made(side):\n    def inner(rows):\n        return np.sign(rows[:, side])\n\n    return inner\n\n\n"
        "explainer = made(0)\n",
        "made(0)",
        "made(1)",
    ),
    "a default": edit(
        "\n\ndef explainer(rows, side=0):\n    return np.sign(rows[:, side])\n", "side=0", "side=1"
    ),
    "a default by keyword": edit(
        "\n\ndef explainer(rows, *, side=0):\n    return np.sign(rows[:, side])\n", "side=0", "side=1"
    ),
    "a partial": edit(
        "from functools import partial\n\n\ndef side(which, rows):\n    return np.sign(rows[:, which])\n\n\n"
        "explainer = partial(side, 0)\n",
        "side, 0",
        "side, 1",
    ),
    "the function of a partial": edit(
        "from functools import partial\n\n\ndef side(which, rows):\n    return np.sign(rows[:, which])\n\n\n"
        "explainer = partial(side, 0)\n",
        "rows[:, which]",
        "rows[:, 1 - which]",
    ),
    "a decorated function": edit(
        "from functools import wraps\n\n\ndef told(f):\n    @wraps(f)\n    def inner(*args):\n        return f(*args)\n\n"
        "    return inner\n\n\n@told\ndef explainer(rows):\n    return np.sign(rows[:, 0])\n",
        "np.sign(rows[:, 0])",
        "np.sign(rows[:, 1])",
    ),
    "a function decorated by a package": edit(
        "from contextlib import ContextDecorator\n\n\nclass Quiet(ContextDecorator):\n    def __enter__(self):\n"
        "        return self\n\n    def __exit__(self, *_):\n        return False\n\n\n@Quiet()\ndef explainer(rows):\n"
        "    return np.sign(rows[:, 0])\n",
        "np.sign(rows[:, 0])",
        "np.sign(rows[:, 1])",
    ),
    "a decorator": edit(
        "def turned(f):\n    return lambda rows: f(rows[:, ::1])\n\n\n@turned\ndef explainer(rows):\n"
        "    return np.sign(rows[:, 0])\n",
        "::1",
        "::-1",
    ),
    "a function that remembers its answers": edit(
        mine(
            "return np.array([side(*row) for row in rows.tolist()])",
            "from functools import lru_cache\n\n\n@lru_cache\ndef side(a, b):\n    return np.sign(a)\n",
        ),
        "np.sign(a)",
        "np.sign(b)",
    ),
    "one of several by type": edit(
        mine(
            "return side(rows)",
            "from functools import singledispatch\n\n\n@singledispatch\ndef side(rows):\n    return 0\n\n\n"
            "@side.register\ndef _(rows: np.ndarray):\n    return np.sign(rows[:, 0])\n",
        ),
        "rows[:, 0])\n\n\nclass",
        "rows[:, 1])\n\n\nclass",
    ),
    "a compiled function": edit(
        mine(
            "return side(rows)", "from numba import njit\n\n\n@njit\ndef side(rows):\n    return np.sign(rows[:, 0])\n"
        ),
        "rows[:, 0])\n\n\nclass",
        "rows[:, 1])\n\n\nclass",
    ),
    "a vectorized function": edit(
        mine(
            "return side(rows[:, 0], rows[:, 1])",
            "@np.vectorize\ndef side(a, b):\n    return np.sign(a)\n",
        ),
        "np.sign(a)",
        "np.sign(b)",
    ),
    "a property": edit(
        mine("return np.sign(rows[:, self.side])").replace(
            "    def explain", "    @property\n    def side(self):\n        return 0\n\n    def explain"
        ),
        "return 0",
        "return 1",
    ),
    "a property that remembers": edit(
        "from functools import cached_property\n"
        + mine("return np.sign(rows[:, self.side])").replace(
            "    def explain", "    @cached_property\n    def side(self):\n        return 0\n\n    def explain"
        ),
        "return 0",
        "return 1",
    ),
    "a static method": edit(
        mine("return np.sign(rows[:, self.side()])").replace(
            "    def explain", "    @staticmethod\n    def side():\n        return 0\n\n    def explain"
        ),
        "return 0",
        "return 1",
    ),
    "a class method": edit(
        mine("return np.sign(rows[:, self.side()])").replace(
            "    def explain", "    @classmethod\n    def side(cls):\n        return 0\n\n    def explain"
        ),
        "return 0",
        "return 1",
    ),
    "a descriptor": edit(
        "\n\nclass Side:\n    def __get__(self, thing, kind):\n        return 0\n"
        + mine("return np.sign(rows[:, self.side])").replace("    def explain", "    side = Side()\n\n    def explain"),
        "return 0",
        "return 1",
    ),
    "a field of a dataclass": edit(
        "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass Mine:\n    side: int = 0\n\n"
        "    def explain(self, rows):\n        return np.sign(rows[:, self.side])\n\n\nexplainer = Mine()\n",
        "side: int = 0",
        "side: int = 1",
    ),
    "what makes a field of a dataclass": edit(
        "from dataclasses import dataclass, field\n\n\n@dataclass\nclass Inner:\n    side: int = 0\n\n\n@dataclass\nclass Mine:\n"
        "    inner: Inner = field(default_factory=lambda: Inner())\n\n    def explain(self, rows):\n"
        "        return np.sign(rows[:, self.inner.side])\n\n\nexplainer = Mine()\n",
        "Inner())",
        "Inner(1))",
    ),
    "slots": edit(
        "\n\nclass Mine:\n    __slots__ = ('side',)\n\n    def __init__(self):\n        self.side = 0\n\n"
        "    def explain(self, rows):\n        return np.sign(rows[:, self.side])\n\n\nexplainer = Mine()\n",
        "self.side = 0",
        "self.side = 1",
    ),
    "a lambda that is an attribute": edit(
        "\n\nclass Mine:\n    def __init__(self, side):\n        self.side = side\n\n    def explain(self, rows):\n"
        "        return self.side(rows)\n\n\nexplainer = Mine(lambda rows: np.sign(rows[:, 0]))\n",
        "np.sign(rows[:, 0])",
        "np.sign(rows[:, 1])",
    ),
    "a metaclass": edit(
        "\n\nclass Meta(type):\n    @property\n    def side(cls):\n        return 0\n\n\nclass Mine(metaclass=Meta):\n"
        "    def explain(self, rows):\n        return np.sign(rows[:, type(self).side])\n\n\nexplainer = Mine()\n",
        "return 0",
        "return 1",
    ),
    "a nested class": edit(
        "\n\nclass Mine:\n    class Side:\n        def __call__(self, rows):\n            return np.sign(rows[:, 0])\n\n"
        "    def explain(self, rows):\n        return self.Side()(rows)\n\n\nexplainer = Mine()\n",
        "np.sign(rows[:, 0])",
        "np.sign(rows[:, 1])",
    ),
    "a class that is made inside": edit(
        mine(
            "class Side:\n            which = 0\n\n        return np.sign(rows[:, Side.which])",
        ),
        "which = 0",
        "which = 1",
    ),
    "an object that can be called": edit(
        "\n\nclass Mine:\n    def __call__(self, rows):\n        return np.sign(rows[:, 0])\n\n\nexplainer = Mine()\n",
        "np.sign(rows[:, 0])",
        "np.sign(rows[:, 1])",
    ),
    "an object among a module's constants": edit(
        mine(
            "return np.sign(rows[:, SETTINGS.side])",
            "from types import SimpleNamespace\n\nSETTINGS = SimpleNamespace(side=0)\n",
        ),
        "side=0",
        "side=1",
    ),
    "a member of an enumeration": edit(
        "from enum import IntEnum\n\n\nclass Side(IntEnum):\n    FIRST = 0\n" + mine("return np.sign(rows[:, Side.FIRST])"),
        "FIRST = 0",
        "FIRST = 1",
    ),
    "a method of an enumeration": edit(
        "from enum import IntEnum\n\n\nclass Side(IntEnum):\n    FIRST = 0\n\n    def place(self):\n        return 0\n\n\n"
        "FIRST = Side.FIRST\n" + mine("return np.sign(rows[:, FIRST.place()])"),
        "return 0",
        "return 1",
    ),
    "a method of a kind of list": edit(
        "\n\nclass Sides(list):\n    def first(self):\n        return 0\n\n\nSIDES = Sides()\n"
        + mine("return np.sign(rows[:, SIDES.first()])"),
        "return 0",
        "return 1",
    ),
    "what a dictionary makes up": edit(
        "from collections import defaultdict\n\nSIDES = defaultdict(lambda: 0)\n" + mine("return np.sign(rows[:, SIDES['x']])"),
        "lambda: 0",
        "lambda: 1",
    ),
    "a method of a dictionary": edit(
        "which = {'x': 0}.get\n" + mine("return np.sign(rows[:, which('x')])"), "'x': 0", "'x': 1"
    ),
    "a method of an array": edit(
        "side = np.array([[1.0, 0.0]]).dot\n" + mine("return np.sign(side(rows.T)[0])"), "[1.0, 0.0]", "[0.0, 1.0]"
    ),
    "a pattern": edit(
        "import re\n\nPATTERN = re.compile('a+')\n" + mine("return np.sign(rows[:, 0 if PATTERN.match('a') else 1])"),
        "'a+'",
        "'b+'",
    ),
    "a function inside a package's object": edit(
        "from sklearn.preprocessing import FunctionTransformer\n\n\ndef side(rows):\n    return rows[:, 0]\n\n\n"
        "transform = FunctionTransformer(side)\n" + mine("return np.sign(transform.transform(rows))"),
        "return rows[:, 0]",
        "return rows[:, 1]",
    ),
    "a package's class, patched": edit(
        "from sklearn.preprocessing import FunctionTransformer\n\n\ndef side(self, rows):\n    return rows[:, 0]\n\n\n"
        "FunctionTransformer.side = side\ntransform = FunctionTransformer()\n" + mine("return np.sign(transform.side(rows))"),
        "return rows[:, 0]",
        "return rows[:, 1]",
    ),
    "a package's function, patched": edit(
        "import textwrap\n\n\ndef side(rows):\n    return rows[:, 0]\n\n\ntextwrap.side = side\n"
        + mine("return np.sign(textwrap.side(rows))"),
        "return rows[:, 0]",
        "return rows[:, 1]",
    ),
    "a torch module's forward": edit(
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, rows):\n        return torch.sign(rows[:, 0])\n\n\n"
        "net = Net()\n" + mine("return net(torch.tensor(rows)).numpy()"),
        "torch.sign(rows[:, 0])",
        "torch.sign(rows[:, 1])",
    ),
    "the model that one of our explainers asks": edit(
        "import faithscope as fs\n\n\ndef chance(rows):\n    return 1 / (1 + np.exp(-9 * rows[:, 0]))\n\n\n"
        "grid = np.random.default_rng(1).normal(size=(50, 2))\n"
        "explainer = fs.explainers.Lime(chance, grid, samples=200)\n",
        "rows[:, 0]))\n\n\ngrid",
        "rows[:, 1]))\n\n\ngrid",
    ),
    "the class's own word for its state does not hide its code": edit(
        mine("return np.sign(rows[:, 0])").replace(
            "    def explain", "    def __fingerprint__(self):\n        return 'mine'\n\n    def explain"
        ),
        "np.sign(rows[:, 0])",
        "np.sign(rows[:, 1])",
    ),
}

NEEDED = {"a compiled function": "numba", "a torch module's forward": "torch"}
EDITS = {name: one for name, one in EDITS.items() if name not in NEEDED or find_spec(NEEDED[name])}
