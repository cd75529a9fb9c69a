"""What necessity must obey, whatever says where explanations apply; its value is among the measures of brute force."""

from dataclasses import replace

import numpy as np
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import NotProven, NotScoped
from refused import refused
from small_systems import System


def test_covering_more_never_lowers_necessity():
    for seed in range(6):
        system = System.random("labels", seed)
        wider = replace(system, masks=system.masks | (default_rng(seed).random(system.masks.shape) < 0.2))
        before, after = (one.measured("necessity", "labels").value for one in (system, wider))
        assert after >= before - 1e-12


def test_predictions_that_nobody_else_gets_cannot_be_checked():
    for n in [1, 2, 5]:
        rules = fs.Rules.from_conditions([[]] * n, features=["a"])
        estimate = fs.necessity(rules, np.arange(n), np.zeros((n, 1)))
        assert (estimate.value, estimate.unverifiable, estimate.low, estimate.high) == (0.0, 1.0, 0.0, 1.0)
        assert (estimate.verified, estimate.chance, estimate.above_chance) == (None, None, None)


def test_what_has_no_necessity_is_refused_and_an_evaluation_goes_without():
    system, vectors = System.random("normal", 1), fs.Importances([[1.0], [2.0]])
    refused(NotProven, r"Close\(eps\) or Tolerance", system.measured, "necessity", "spread")
    rules, rows, _ = system.given("rules")
    assert fs.evaluate(system.predictions, rules, rows, agreement=fs.Spread()).necessity is None
    refused(NotScoped, "encoding are undefined.*pass relation=", fs.necessity, vectors, [0, 1], [[1.0], [2.0]])
    assert fs.evaluate([0, 1], vectors, [[1.0], [2.0]]).necessity is None
