"""What ordinary code holds: each of these can be told from others, and is the same in any process."""

import abc
import asyncio
import collections
import datetime
import decimal
import enum
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

import joblib
import numpy as np
from numpy.random import default_rng, permutation
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

T = TypeVar("T")
LOG = logging.getLogger(__name__)
LOCKS = threading.Lock(), threading.RLock(), threading.Condition(), threading.Event()
PATTERN, WHEN = re.compile("a|b", re.IGNORECASE), datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
HELD = decimal.Decimal("1.5"), uuid.UUID(int=5), collections.Counter("abc"), collections.deque([1, 2], 3), Path("a")
CHANCE = default_rng(0), np.random.RandomState(0)


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


class Estimator(ClassifierMixin, BaseEstimator):
    def __init__(self, a=1):
        self.a = a

    def fit(self, X, y, sample_weight=None):
        return self


class Flags(enum.Flag):
    A = enum.auto()
    B = enum.auto()


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


TABLES = ColumnTransformer([("n", StandardScaler(), ["d"]), ("c", OneHotEncoder(), lambda rows: ["a"])])
MADE = (Concrete(), Typed(), ByProtocol(), Tupled(), Estimator(), Flags.A, TABLES, LOG, np.dtype("f4"))
THINGS = {one.__class__.__name__: one for one in MADE} | {one.__name__: one for one in (later, many, chance, seeded)}
THINGS |= {"on_disk": on_disk, "a method": Concrete().explain, "a type": int, "an instance's class": Concrete}
THINGS |= {"a ufunc": np.exp, "a method of an array": np.eye(2).dot}
