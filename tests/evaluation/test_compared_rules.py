"""Rules that group rows alike are not the same rules; differences allow for unseen rows if their intervals do."""

import numpy as np
import pytest

import faithscope as fs

RNG = np.random.default_rng(0)
X = RNG.integers(0, 40, (200, 1)).astype(float)
LABELS = RNG.integers(0, 2, 200)


def rules(width):
    """Of each row, the values from its own on, so many."""
    return fs.Rules.from_conditions([[("k", ">=", x), ("k", "<", x + width)] for x in X[:, 0]], features=["k"])


def differences(one, other, **how):
    return fs.compare(LABELS, {"a": one, "b": other}, X, progress=False, **how).differences().set_index("measure")


def test_rules_that_group_rows_alike_may_differ():
    found = differences(rules(1.0), rules(4.0))
    assert (found.high > found.low).all()


def test_rules_that_say_the_same_differ_by_nothing_though_made_apart():
    found = differences(rules(4.0), rules(4.0))
    assert (found[["low", "high"]] == 0).all(axis=None)


def test_differences_of_sufficiency_allow_for_unseen_rows_if_asked():
    default, widest = (differences(rules(1.0), rules(4.0), interval=how).loc["sufficiency"] for how in (None, "any"))
    assert widest.low < default.low - 0.02
    assert widest.high > default.high + 0.02


@pytest.mark.parametrize("times", [2, 12, 100])
def test_a_certificate_of_rows_logged_again_says_so(times):
    explanations, labels = np.repeat(RNG.integers(0, 10**6, 200), times), np.repeat(RNG.integers(0, 2, 200), times)
    certificate = fs.certify(explanations, labels, [None])
    assert any(f"exactly {times} rows" in note for note in certificate.notes)
    assert certificate.notes[0] in " ".join(str(certificate).split())
    assert certificate.to_dict()["notes"] == list(certificate.notes)
