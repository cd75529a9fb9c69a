"""The law of hostile input: a valid answer, or one sentence of the project's own; and a tally of both."""

import itertools
import json
import math
import os
import signal
import threading
import warnings
from collections import Counter, defaultdict
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, Phase, settings

import faithscope
from faithscope.errors import FaithscopeError
from faithscope.measures.certify import Certificate
from faithscope.measures.comparing.populations import Populations
from faithscope.measures.decoders import Simulatability
from faithscope.measures.explainer_agreement import ExplainerAgreement
from faithscope.measures.local import Local
from faithscope.measures.planning import Plan
from faithscope.measures.repeatability import Repeatability
from faithscope.measures.tolerance import ToleranceCurve
from faithscope.measures.within import WithinCurve
from faithscope.tables.audit import Audit

OURS = str(Path(faithscope.__file__).parent)
PATIENCE = 120.0  # seconds after which a call counts as hung, on a machine however busy
LONGEST = 400  # characters of a sentence
MORE = float(os.environ.get("FAITHSCOPE_FUZZ_EXAMPLES", "1"))  # times as many examples, for long runs

TRIED = Counter()  # (family, what was called, how it ended)
ENGINES = defaultdict(dict)  # (type, extreme, engine): part, answered
INJECTED = Counter()  # (fault, how it ended)


class Refused:
    """What stands for an answer where input was refused."""


REFUSED = Refused()


class Hung(BaseException):
    """A call took too long; no handler of ours may catch it."""


@contextmanager
def within_patience(seconds=PATIENCE):
    """Raise in the middle of a call that hangs; only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def hung(*_):
        raise Hung(f"no answer after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, hung)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def survives(family, name, call):
    """The valid answer of a call, or `REFUSED` where it refused its input as it should; anything else raises."""
    ended = "anything else"
    try:
        with within_patience(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                answer = call()
                valid(answer)
            except FaithscopeError as error:
                one_sentence(str(error))
                answer = REFUSED
        ours = [str(warning.message) for warning in caught if warning.filename.startswith(OURS)]
        assert not ours, f"our own code warned: {ours[0]}"
        ended = "refused" if answer is REFUSED else "answered"
    finally:
        TRIED[family, name, ended] += 1
    return answer


def budget(examples):
    """Settings for so many examples, always the same ones but in long runs."""
    return settings(
        max_examples=max(1, round(examples * MORE)),
        derandomize=MORE == 1,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


def injected(fault, ended="nothing lost"):
    """One more fault was injected, and this is how it ended."""
    INJECTED[fault, ended] += 1


def one_sentence(message):
    """Raise unless a message is one line that can be read."""
    assert message.strip(), "an error without words"
    assert len(message.splitlines()) == 1, f"more than one line: {message!r}"
    assert len(message) <= LONGEST, f"{len(message)} characters: {message[:LONGEST]!r}"


def valid(answer):
    """Raise unless an answer is one that a caller can use."""
    for kinds, check in _CHECKS:
        if isinstance(answer, kinds):
            return check(answer)
    return None


def share(*values):
    for value in values:
        assert value is None or -1e-9 <= value <= 1 + 1e-9, value


def told(result):
    """What a result says is JSON, narrow enough for a terminal, and no code in a notebook."""
    json.dumps(result.to_dict(), allow_nan=False)
    assert max(map(len, str(result).splitlines())) <= 100
    assert "<script" not in result._repr_html_()


def in_order(*values, slack=0.0):
    """Raise unless each value is at least the one before it; None stands for a value that there is not."""
    there = [value for value in values if value is not None]
    assert all(a <= b + slack for a, b in itertools.pairwise(there)), values


def above_zero(result, *values):
    """Shares, but that an R² may be below 0: worse than the mean of all predictions."""
    spread = isinstance(result.agreement, faithscope.Spread)
    share(*(None if spread and value is not None and value < 0 else value for value in values))


def _estimate(estimate):
    above_zero(estimate, estimate.low, estimate.verified)
    share(estimate.high, estimate.unverifiable, estimate.chance)
    least, most = estimate.bracket
    in_order(estimate.low, least)
    in_order(least, most, slack=1e-12)
    in_order(min(1.0, most), estimate.high, slack=1e-12)
    in_order(estimate.low, estimate.upper)
    in_order(estimate.value, estimate.high)
    in_order(1, estimate.distinct, estimate.n)
    assert math.isfinite(estimate.effective_n)
    assert "\n" not in estimate.sentence
    told(estimate)


def _evaluation(evaluation):
    share(evaluation.uniqueness)
    for estimate in (evaluation.consistency, evaluation.sufficiency, evaluation.necessity):
        valid(estimate)
    json.dumps(evaluation.to_dict(), allow_nan=False, default=str)


def _comparison(comparison):
    for evaluation in comparison.values():
        for result in (evaluation, *evaluation._populations()):
            valid(result)
    for pair in comparison.pairs:
        in_order(-1, pair.low, pair.high, 1)


def _local(local):
    if local.low is None:  # squared distances have no bound
        assert isinstance(local.agreement, faithscope.Spread)
        in_order(local.value, 1)
        return
    share(local.value)
    in_order(local.low, local.value, local.high)
    in_order(local.agreeing, local.others, slack=1e-9)


def _simulatability(result):
    share(result.value, result.low, result.high, result.chance, result.seen, result.unseen)
    in_order(result.low, result.value, result.high, slack=1e-9)
    in_order(result.gain_low, result.gain, result.gain_high, slack=1e-9)
    assert abs(result.value - result.chance - result.gain) < 1e-6 * max(1.0, abs(result.chance)), result
    in_order(1, result.n)
    told(result)


def _certificate(certificate):
    share(certificate.low)
    _estimates(certificate)
    json.dumps(certificate.to_dict(), allow_nan=False)


def _estimates(several):
    held = several.estimates
    for estimate in held.values() if hasattr(held, "values") else held:
        _estimate(estimate)


def _repeatability(repeated):
    share(repeated.low, repeated.high, repeated.chance)
    in_order(repeated.low, repeated.rows_low, repeated.value, repeated.rows_high, repeated.high)
    in_order(2, repeated.runs)
    in_order(1, repeated.distinct, repeated.n * repeated.runs)
    told(repeated)


def _encoding(encoding):
    in_order(-1, encoding.low, encoding.value, encoding.high, 1)
    assert (encoding.encodes is None) == (encoding.tested == 0) == (encoding.value is None)
    share(encoding.unverifiable, encoding.alone, encoding.exclusive)
    in_order(0, encoding.flagged, encoding.tested, encoding.distinct, encoding.n)
    assert encoding.table()["p_adjusted"].between(0, 1).all()
    told(encoding)


def _leakage(leakage):
    share(leakage.share)
    in_order(leakage.own, leakage.share, slack=1e-9)
    in_order(leakage.low, leakage.share, leakage.high)
    _estimate(leakage.consistency)
    _estimate(leakage.masked)
    told(leakage)


def _plan(plan):
    share(plan.unverifiable)
    in_order(1, plan.rows_needed)
    json.dumps(plan.to_dict(), allow_nan=False)


def _explainer_agreement(agreement):
    many = len(agreement.explainers)
    assert len(agreement.pairs) == many * (many - 1) // 2
    for pair in agreement.pairs:
        assert pair.same is not None or pair.feature_agreement is not None or pair.notes
        share(pair.chance)
        for name in ("same", "feature_agreement", "sign_agreement"):
            if (found := getattr(pair, name)) is not None:
                share(found.low, found.high)
                in_order(found.low, found.value, found.high)
        assert pair.kappa is None or pair.kappa.low <= pair.kappa.value <= pair.kappa.high <= 1 + 1e-9
    told(agreement)


def _direction(direction):
    share(direction.right, direction.wrong, direction.still)
    assert math.isclose(direction.right + direction.wrong + direction.still, 1)
    if direction.value is not None:
        share(direction.low, direction.high)
        in_order(direction.low, direction.value, direction.high)
    told(direction)


def _frame(frame):
    for name in frame.columns:
        if "low" in frame and str(name) in {"value", "low", "high", "unverifiable", "verified", "chance", "purity"}:
            numbers = pd.to_numeric(frame[name]).dropna()
            assert numbers.between(-1 - 1e-9, 1 + 1e-9).all(), name


def _explanations(explanations):
    codes, first = explanations.group()
    assert len(codes) == len(explanations)
    assert sorted(set(codes.tolist())) == list(range(len(first)))
    for row in range(min(3, len(explanations))):
        assert isinstance(explanations.describe(row), str)


def _rationales(rationales):
    _explanations(rationales.reasons)
    assert len(rationales) == len(rationales.reasons) == len(rationales.inputs) == len(rationales.ids) > 0
    assert len(rationales.to_frame()) == len(rationales)
    assert "\n" not in repr(rationales)


def _number(number):
    assert math.isfinite(number), number


_CHECKS = (
    (faithscope.Estimate, _estimate),
    ((faithscope.Evaluation, Audit), _evaluation),
    (faithscope.Comparison, _comparison),
    ((Populations, WithinCurve, ToleranceCurve), _estimates),
    (Local, _local),
    (Certificate, _certificate),
    (faithscope.Encoding, _encoding),
    (faithscope.Leakage, _leakage),
    (Plan, _plan),
    (Simulatability, _simulatability),
    (ExplainerAgreement, _explainer_agreement),
    (faithscope.Direction, _direction),
    (Repeatability, _repeatability),
    (pd.DataFrame, _frame),
    (faithscope.Explanations, _explanations),
    (faithscope.Rationales, _rationales),
    ((float, np.floating), _number),
)
