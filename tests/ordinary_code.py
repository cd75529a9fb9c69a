"""What ordinary code holds: each of these can be told from others, and is the same in any process."""

import abc
import asyncio
import collections
import contextlib
import datetime
import decimal
import enum
import functools
import itertools
import json
import logging
import os
import re
import sys
import threading
import uuid
import warnings
from pathlib import Path
from random import random
from time import time
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, Protocol, TypeVar

import attrs
import joblib
import numpy as np
import pandas as pd
import scipy.stats
from numpy import exp, mean
from numpy.random import permutation
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

T = TypeVar("T")
LOG = logging.getLogger(__name__)
LOCKS = threading.Lock(), threading.RLock(), threading.Condition(), threading.Event()
PATTERN, WHEN = re.compile("a|b", re.IGNORECASE), datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
HELD = decimal.Decimal("1.5"), uuid.UUID(int=5), collections.Counter("abc"), collections.deque([1, 2], 3), Path("a")
CHANCE = np.random.default_rng(0), np.random.RandomState(0)
FRAME = pd.DataFrame(
    {"a": pd.Categorical(["x", "y"]), "b": ["p", None], "c": pd.to_datetime(["2020-01-01", None]), "d": [1.0, None]}
)
SERIES, INDEX = FRAME["a"], FRAME.index


class Abstract(abc.ABC):
    @abc.abstractmethod
    def explain(self, rows): ...


class Concrete(Abstract):
    def explain(self, rows):
        LOG.info("explained")
        return rows


class Typed(Generic[T]):
    items: list[T]

    def explain(self, rows: NDArray[np.float64], how: Literal["a"] = "a") -> Optional[np.ndarray]:  # noqa: UP045
        return rows


class Told(Protocol):
    def explain(self, rows: int | None) -> Annotated[Any, "told"]: ...


class ByProtocol(Told):
    pass


class Tupled(NamedTuple):
    a: int = 3


@attrs.frozen
class Frozen:
    x: int = 3
    f: Any = attrs.field(default=lambda rows: rows)


class Estimator(ClassifierMixin, BaseEstimator):
    def __init__(self, a=1):
        self.a = a

    def fit(self, X, y, sample_weight=None):
        return self


class Flags(enum.Flag):
    A = enum.auto()
    B = enum.auto()


class Methods:
    added = functools.partialmethod(lambda self, a: a, 3)

    @functools.singledispatchmethod
    def one(self, x):
        return x

    @one.register
    def _(self, x: int):
        return 2

    @functools.lru_cache  # noqa: B019
    def remembered(self):
        return 1


class Slots:
    __slots__ = ("__dict__", "a")


@contextlib.contextmanager
def managed():
    yield


@np.errstate(all="ignore")
def decorated(rows):
    return rows


@joblib.Memory(None).cache
def on_disk(rows):
    return rows


async def later(rows):
    return await asyncio.sleep(0)


def many(rows):
    with LOCKS[0]:
        warnings.warn(json.dumps(os.environ.get("A")), stacklevel=2)
    sys.stdout.write("")
    return [*itertools.chain(rows)], Flags.A | Flags.B, Tupled(), PATTERN, WHEN, HELD


def chance(rows):
    return random(), permutation(3), time(), np.random.rand()  # noqa: NPY002


def seeded(rows):
    return CHANCE


def libraries(rows):
    return expit(rows), mean(rows), exp(1), scipy.stats.norm.cdf(1), norm.pdf(1)


def frames(rows):
    return FRAME, SERIES, INDEX


def sets(rows):
    return {Concrete, "a", 3}, frozenset({1.0, None}), {many, chance}


def ping(rows):
    return pong(rows)


def pong(rows):
    return ping(rows)


def unfilled():
    def inner():
        return never

    if not inner:
        never = 1
    return inner


def imports(rows):
    try:
        import no_such_module
    except ImportError:
        no_such_module = None
    import xml.etree.ElementTree

    from scipy import sparse

    return xml.etree.ElementTree, sparse, no_such_module


TABLES = ColumnTransformer([("n", StandardScaler(), ["d"]), ("c", OneHotEncoder(), lambda rows: ["a"])])
THINGS = {
    one.__class__.__name__: one
    for one in (
        *(
            Concrete(),
            Typed(),
            ByProtocol(),
            Tupled(),
            Frozen(),
            Estimator(),
            Flags.A,
            Methods(),
            Slots(),
        ),
        *(TABLES, LOG, np.dtype("f4")),
    )
}
THINGS |= {
    one.__name__: one for one in (managed, decorated, later, many, chance, seeded, libraries, frames, sets, ping)
}
THINGS |= {
    "on_disk": on_disk,
    "unfilled": unfilled(),
    "imports": imports,
    "a method": Concrete().explain,
    "a type": int,
}
THINGS |= {"a ufunc": np.exp, "a method of an array": np.eye(2).dot, "an instance's class": Concrete}
