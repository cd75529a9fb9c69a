"""How much replacing one row can move the estimate: the constants of McDiarmid's inequality, by search."""

import itertools
import math

import numpy as np
import pytest

import brute_numbers
import faithscope as fs

VALUES = (0.0, 0.5, 1.0, 2.0)
AGREEMENTS = {
    "labels": (fs.Same(), lambda a, b: (a == b).astype(float)),
    "close": (fs.Close(1.0), lambda a, b: np.maximum(0, 1 - np.abs(a - b))),
    "tolerance": (fs.Tolerance(1.0), lambda a, b: (np.abs(a - b) <= 1).astype(float)),
}


def moved(agree, rows, new):
    """How far n·M̂ and n·(M̂ + U) move if the last row is replaced; a row is (explanation, prediction)."""
    found = []
    for sample in (rows, [*rows[:-1], new]):
        codes, y = np.array([code for code, _ in sample]), np.array([value for _, value in sample])
        brute = brute_numbers.brute(codes[:, None] == codes[None, :], y, agree, None)
        found.append((len(rows) * brute.value, len(rows) * brute.upper))
    (value, upper), (other, other_upper) = found
    return abs(value - other), abs(upper - other_upper)


def worst(agree, n):
    """The largest moves over all samples of n rows with two explanations and the values above."""
    kinds = list(itertools.product((0, 1), VALUES))
    moves = [
        moved(agree, [*rest, old], new)
        for rest in itertools.combinations_with_replacement(kinds, n - 1)
        for old, new in itertools.combinations(kinds, 2)
    ]
    return tuple(max(column) for column in zip(*moves, strict=True))


@pytest.mark.parametrize("name", AGREEMENTS)
@pytest.mark.slow
def test_replacing_a_row_moves_no_estimate_further_than_the_constants(name):
    agreement, agree = AGREEMENTS[name]
    below, above = (max(column) for column in zip(*(worst(agree, n) for n in (2, 3, 4, 5)), strict=True))
    # Margins are sqrt(constant**2 ln(2 / wrong) / (2 n)).
    estimate = fs.consistency([0, 0, 1, 1], [0, 1, 0, 1], agreement=agreement, interval="mcdiarmid")
    allowed = [
        margin * math.sqrt(2 * 4 / math.log(2 / 0.05)) for margin in (estimate.margins.below, estimate.margins.above)
    ]
    assert below <= allowed[0] + 1e-9
    assert above <= allowed[1] + 1e-9
    assert allowed == pytest.approx([3, 3 if name == "tolerance" else 2])


def test_a_tolerance_moves_the_upper_end_further_than_labels_can():
    # Row 1.0 agrees with 0.0 and 2.0, which disagree: replaced by a row that agrees with another, it takes 3 with it.
    _, agree = AGREEMENTS["tolerance"]
    rows = [(0, 0.0), (0, 2.0), (1, 0.0), (0, 1.0)]
    assert moved(agree, rows, (1, 9.0))[1] == pytest.approx(3)
    _, close = AGREEMENTS["close"]
    assert moved(close, rows, (1, 9.0))[1] <= 2


@pytest.mark.parametrize("name", AGREEMENTS)
def test_groups_of_many_rows_move_no_further(name):
    _, agree = AGREEMENTS[name]
    rng, limit = np.random.default_rng(0), 3 if name == "tolerance" else 2
    for _ in range(300):
        n = int(rng.integers(3, 14))
        rows = [(int(rng.integers(0, 3)), float(rng.choice(VALUES))) for _ in range(n)]
        value, upper = moved(agree, rows, (int(rng.integers(0, 3)), float(rng.choice(VALUES))))
        assert value <= 3 + 1e-9
        assert upper <= limit + 1e-9


@pytest.mark.parametrize("name", ["close", "tolerance"])
def test_the_bound_on_the_mean_squared_error_holds_for_numbers(name):
    agreement, agree = AGREEMENTS[name]
    rng, n = np.random.default_rng(1), 30
    p, y = np.array([0.6, 0.3, 0.1]), np.array([0.0, 0.4, 1.3])  # a prediction is one of y plus the explanation
    truth = np.mean(agree(y[:, None], y[None, :]))
    errors = []
    for _ in range(300):
        codes = rng.choice(3, n, p=p)
        errors.append(fs.consistency(codes, codes + rng.choice(y, n), agreement=agreement).value - truth)
    assert np.mean(np.square(errors)) <= fs.mse_bound(p=p, n=n)
    estimate = fs.consistency(codes, codes + rng.choice(y, n), agreement=agreement)
    assert fs.mse_bound(estimate) > 4 / n
