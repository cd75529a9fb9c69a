"""What is clean is answered, whatever it comes in, and the answer is brute force's."""

import datetime
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import brute
import faithscope as fs
from fuzz.outcomes import REFUSED, budget, survives

FAMILY = "answers against brute force"
EXAMPLES = pytest.mark.parametrize("examples", [15, pytest.param(60, marks=pytest.mark.thorough)])
VALUES = {
    "integers": [0, 1, -1, 2**53, 2**53 + 1],
    "integers beyond 64 bits": [2**64, 2**64 + 1, -(2**70)],
    "floats": [0.0, -0.0, 0.5, 1e308, 5e-324, 0.1 + 0.2, 0.3],
    "booleans": [True, False],
    "texts": ["", "a", "\0", "a\0", "😀", "\u202e", "</script>", "two\nlines", "x" * 2000, "nan", "None"],
    "dates": [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)],
    "moments": [datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 1, 0, 0, 1)],
    "tuples": [(1, 2), (1, 2.0), ("a", None), ()],
    "sets": [frozenset(), frozenset({"a", "b"}), frozenset({"b"})],
}
ANY = (
    list,
    tuple,
    iter,
    lambda v: np.fromiter(v, object, len(v)),
    lambda v: pd.Series(v, dtype=object, index=[7] * len(v)),
)
LIBRARIES = (*ANY, pd.Series, pl.Series, pa.array, lambda v: pa.chunked_array([pa.array(v)[:1], pa.array(v)[1:]]))
CODED = (*LIBRARIES, lambda v: pd.Series(pd.Categorical(v)), lambda v: pa.array(v).dictionary_encode())
CONTAINERS = {
    **dict.fromkeys(("integers", "floats", "booleans", "moments"), LIBRARIES),
    **dict.fromkeys(("integers beyond 64 bits", "dates", "tuples", "sets"), ANY),
    "texts": CODED,
}


@st.composite
def columns(draw, n):
    """Values of one family in some container, and the values themselves."""
    family = draw(st.sampled_from(sorted(VALUES)))
    values = draw(st.lists(st.sampled_from(VALUES[family]), min_size=n, max_size=n))
    container = draw(st.sampled_from(CONTAINERS[family]))(values)
    return container, container.tolist() if isinstance(
        container, pd.Series
    ) else values  # pandas' categories merge "" and NUL


def answered(name, call):
    answer = survives(FAMILY, name, call)
    assert answer is not REFUSED, "what is clean was refused"
    return answer


@EXAMPLES
def test_consistency_is_brute_force_s_in_whatever_input_comes(examples):
    @budget(examples)
    @given(st.data())
    def fuzzed(data):
        n = data.draw(st.sampled_from([1, 2, 3, 5, 9]))
        (given_e, keys), (given_y, labels) = data.draw(columns(n)), data.draw(columns(n))
        estimate = answered("consistency", lambda: fs.consistency(given_e, given_y))
        assert math.isclose(estimate.value, brute.consistency(keys, labels), abs_tol=1e-9)
        assert math.isclose(estimate.unverifiable, brute.unverifiable(keys), abs_tol=1e-9)

    fuzzed()
