"""Hostile settings: seeds, shares, counts, distances, words, metrics, discretizers and relations."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

import faithscope as fs

SEEDS = st.sampled_from(
    [0, 0, 1, -1, 2**31, 2**32, 2**64, 2**127, 2**200, -(2**200), 1.5, math.nan, None, "0", True, np.int64(3)]
)
SHARES = st.sampled_from(
    (
        *(0.95, 0.95, 0.5, 0, 1, -1, 2, math.nan, math.inf, 1e-300, 5e-324, 1 - 1e-16, "0.95", None, True),
        *(np.float32(0.9), np.float16(0.5), Decimal("0.9"), Fraction(9, 10), 10**400, 1j, [0.9], np.array(0.9), np.nan),
    )
)
COUNTS = st.sampled_from(
    [1, 1, 2, 10, 0, -1, 2**31, 2**63, 10**400, 1.5, 3.0, math.nan, math.inf, "3", None, True, [1], np.int8(2)]
)
DISTANCES = st.sampled_from(
    [
        0,
        0.5,
        1.0,
        3,
        -1,
        -0.0,
        math.nan,
        math.inf,
        1e308,
        5e-324,
        2**70,
        10**400,
        "1",
        None,
        True,
        [1.0],
        Decimal(1),
        np.float32(0.5),
    ]
)
WORDS = st.sampled_from(
    (
        *(
            "jackknife",
            "mcdiarmid",
            "bootstrap",
            "auto",
            "cpu",
            "cuda",
            "tpu",
            "error",
            "drop",
            "key",
            "1d",
            "0d",
            "1mo",
            "-1d",
            "",
        ),
        *(None, 3, b"cpu", ["jackknife"], "x" * 5000, "\0", "consistency", "sufficiency"),
    )
)
METRICS = st.sampled_from(
    (
        *(
            "euclidean",
            "euclidean",
            "manhattan",
            "cosine",
            "hamming",
            "chebyshev",
            "canberra",
            "correlation",
            "jaccard",
        ),
        *(
            "haversine",
            "minkowski",
            "gower",
            "mahalanobis",
            "seuclidean",
            "nan_euclidean",
            "precomputed",
            "nonsense",
            "",
        ),
        *(None, 3, "x" * 5000, lambda a, b: 0.0, lambda a, b: math.nan, dict),
    )
)
DISCRETIZERS = st.sampled_from(
    (
        *(
            None,
            None,
            fs.Sign(),
            fs.Floor(1),
            fs.Truncate(2),
            fs.Floor(300),
            fs.Floor(-300),
            fs.Rank(),
            fs.SignOfTop(2),
            fs.TopFeatures(2),
            fs.ReasonCodes(2, against="a"),
            fs.ReasonCodes(1, ordered=True),
            fs.Pool(2),
            fs.Pool((1, 2)) | fs.TopRegions(1),
            fs.Grouped({"g": ["a", "b"]}),
            fs.Template(),
            fs.Codebook({"not": r"\bnot?\b", "long": "x.{0,9}x"}),
            fs.CommonPhrases(2),
            fs.Template() | fs.CommonPhrases(1),
            fs.Phrases(["not so"]),
            fs.Clusters([[0.0], [1.0], [5.0]], 2),
        ),
        *(
            fs.Delta(),
            fs.DeltaSign(),
            fs.Modified(),
            fs.Delta() | fs.Floor(1),
            fs.Sign() | fs.Rank(),
            fs.Rank() | fs.Sign(),
        ),
        *(fs.Sign, "sign", 3, [], lambda e: e, lambda e: [1], lambda e: None, lambda e: [[]] * len(e)),
    )
)
RELATIONS = st.sampled_from(
    (
        *(None, None, fs.Nearest(), fs.Ball(1.0), fs.Nearest, "nearest", 3),
        *(fs.Judged([[1]]), fs.Judged({"row": [0, 1], "explanation": [0, 0], "applies": [True, None]}), fs.Judged),
        *(lambda X, e: np.ones(len(X), bool), lambda X, e: [1], lambda X, e: None, lambda X, e: [True] * len(X)),
    )
)

POPULATIONS = st.sampled_from(
    (
        *(fs.RealRows(), fs.RealRows, fs.Perturbed, "real", 3, fs.Perturbed(draws=2), fs.Perturbed(draws=1, keep=0)),
        *(fs.Perturbed([[0.0, 1.0], [2.0, 0.5]], draws=3), fs.Perturbed([[1.0]], 2), fs.Perturbed(["a not b", ""], 2)),
        *(fs.Product([[0.0, 1.0], [math.nan, 0.5]], draws=3), fs.Product(["not so", "x"], draws=2), fs.Product([], 2)),
        *(fs.Conditional([[0.0, 1.0], [2.0, math.nan]], k=1), fs.Conditional(["not so", "a b"]), fs.Conditional(None)),
        fs.Perturbed([[0.0, 1.0]], draws=2, model=lambda rows: ["a"] * len(rows)),
        fs.Product([["a", "b"], [None, "c"]], draws=2, model=lambda rows: [1] * len(rows)),
        fs.drawn(["a"], [[0.0]], ["a"]),
    )
)

AGREEMENTS = st.one_of(
    st.sampled_from([fs.Same(), fs.Spread(), fs.Close(1.0), fs.Close(1e-300), fs.Close(1e300), fs.Tolerance(0.5)]),
    st.sampled_from([None, "spread", "close:0.5", "tolerance:", "close:nan", "", fs.Close, 3, [], math.nan]),
    st.sampled_from([lambda a, b: a == b, lambda a, b: 2.0, lambda a, b: a - b]),
)
