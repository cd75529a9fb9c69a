"""The law of hostile input: a valid answer, or one sentence of the project's own; and a tally of both."""

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

import faithscope
from faithscope.errors import FaithscopeError

OURS = str(Path(faithscope.__file__).parent)
PATIENCE = 30.0  # seconds after which a call counts as hung
LONGEST = 400  # characters of a sentence
MORE = float(os.environ.get("FAITHSCOPE_FUZZ_EXAMPLES", "1"))  # times as many examples, for long runs

TRIED: Counter[tuple[str, str, str]] = Counter()  # (family, what was called, how it ended)
ENGINES: defaultdict[tuple[str, str, str], dict[str, bool]] = defaultdict(
    dict
)  # (type, extreme, engine): part, answered
INJECTED: Counter[tuple[str, str]] = Counter()  # (fault, how it ended)


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


def share(value):
    assert value is None or -1e-9 <= value <= 1 + 1e-9, value


def _estimate(estimate):
    below_zero = isinstance(estimate.agreement, faithscope.Spread)  # worse than the mean of all predictions
    for value in (estimate.low, estimate.verified):
        share(None if below_zero and value is not None and value < 0 else value)
    for value in (estimate.high, estimate.unverifiable, estimate.chance):
        share(value)
    least, most = estimate.bracket
    assert estimate.limit <= estimate.low <= least <= most + 1e-12, estimate
    assert min(1.0, most) <= estimate.high + 1e-12, estimate
    assert estimate.low <= estimate.upper, estimate
    assert estimate.value <= estimate.high, estimate
    assert estimate.n >= 1
    assert 1 <= estimate.distinct <= estimate.n
    assert math.isfinite(estimate.effective_n)
    assert "\n" not in estimate.sentence
    assert max(map(len, str(estimate).splitlines())) <= 100
    assert "<script" not in estimate._repr_html_()
    json.dumps(estimate.to_dict(), allow_nan=False)


def _evaluation(evaluation):
    _estimate(evaluation.consistency)
    share(evaluation.uniqueness)
    for estimate in (evaluation.sufficiency, evaluation.necessity):
        if estimate is not None:
            _estimate(estimate)
    json.dumps(evaluation.to_dict(), allow_nan=False, default=str)


def _comparison(comparison):
    for evaluation in comparison.evaluations.values():
        _evaluation(evaluation)
    for pair in comparison.pairs:
        assert -1 <= pair.low <= pair.high <= 1
    for populations in (*comparison.populations.values(), *comparison.sufficiency_populations.values()):
        valid(populations)


def _populations(populations):
    for estimate in populations.estimates.values():
        _estimate(estimate)


def _local(local):
    if local.low is None:  # squared distances have no bound
        assert isinstance(local.agreement, faithscope.Spread)
        assert local.value is None or local.value <= 1
        return
    share(local.value)
    assert local.low <= local.high
    assert local.value is None or local.low <= local.value <= local.high
    assert local.agreeing <= local.others + 1e-9


def _simulatability(told):
    by_spread = isinstance(told.agreement, faithscope.Spread)  # an R² may be below 0
    for value in (told.value, told.low, told.high, told.chance, told.seen, told.unseen):
        share(None if by_spread and value is not None and value < 0 else value)
    assert told.low <= told.value + 1e-9 <= told.high + 2e-9, told
    assert told.gain_low <= told.gain + 1e-9 <= told.gain_high + 2e-9, told
    assert abs(told.value - told.chance - told.gain) < 1e-6 * max(1.0, abs(told.chance)), told
    assert told.n >= 1
    assert max(map(len, str(told).splitlines())) <= 100
    json.dumps(told.to_dict(), allow_nan=False)


def _certificate(certificate):
    share(certificate.low)
    for estimate in certificate.estimates:
        _estimate(estimate)
    json.dumps(certificate.to_dict(), allow_nan=False)


def _repeatability(repeated):
    for value in (repeated.low, repeated.value, repeated.high, repeated.chance):
        share(value)
    assert repeated.low <= repeated.rows_low <= repeated.value <= repeated.rows_high <= repeated.high
    assert repeated.runs >= 2
    assert 1 <= repeated.distinct <= repeated.n * repeated.runs
    assert max(map(len, str(repeated).splitlines())) <= 100
    assert "<script" not in repeated._repr_html_()
    json.dumps(repeated.to_dict(), allow_nan=False)


def _encoding(encoding):
    assert -1 <= encoding.low <= encoding.high <= 1
    assert encoding.value is None or encoding.low <= encoding.value <= encoding.high
    assert (encoding.encodes is None) == (encoding.tested == 0) == (encoding.value is None)
    for value in (encoding.unverifiable, encoding.alone, encoding.exclusive):
        share(value)
    assert 0 <= encoding.flagged <= encoding.tested <= encoding.distinct <= encoding.n
    assert max(map(len, str(encoding).splitlines())) <= 100
    assert "<script" not in encoding._repr_html_()
    assert encoding.table()["p_adjusted"].between(0, 1).all()
    json.dumps(encoding.to_dict(), allow_nan=False)


def _leakage(leakage):
    share(leakage.share)
    assert leakage.own <= leakage.share + 1e-9
    assert leakage.low <= leakage.share <= leakage.high
    for estimate in (leakage.consistency, leakage.masked):
        _estimate(estimate)
    assert "<script" not in leakage._repr_html_()
    json.dumps(leakage.to_dict(), allow_nan=False)


def _plan(plan):
    share(plan.unverifiable)
    assert plan.rows_needed is None or plan.rows_needed >= 1
    json.dumps(plan.to_dict(), allow_nan=False)


def _explainer_agreement(agreement):
    assert len(agreement.pairs) == len(agreement.explainers) * (len(agreement.explainers) - 1) // 2
    for pair in agreement.pairs:
        assert pair.comparable or pair.notes
        share(pair.chance)
        for name in ("same", "feature_agreement", "rank_agreement", "sign_agreement", "signed_rank_agreement"):
            told = getattr(pair, name)
            assert told is None or -1e-9 <= told.low <= told.value <= told.high <= 1 + 1e-9, name
        assert pair.kappa is None or pair.kappa.low <= pair.kappa.value <= pair.kappa.high <= 1 + 1e-9
    assert max(map(len, str(agreement).splitlines())) <= 100
    assert "<script" not in agreement._repr_html_()
    json.dumps(agreement.to_dict(), allow_nan=False)


def _frame(frame):
    for name in frame.columns:
        if str(name) in {"value", "low", "high", "unverifiable", "verified", "chance", "purity"}:
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


def _checks():
    from faithscope.explanations import Explanations
    from faithscope.measures.certify import Certificate
    from faithscope.measures.comparing.populations import Populations
    from faithscope.measures.decoding.simulatability import Simulatability
    from faithscope.measures.explainer_agreement.result import ExplainerAgreement
    from faithscope.measures.local import Local
    from faithscope.measures.numbers.tolerance import ToleranceCurve
    from faithscope.measures.planning.plan import Plan
    from faithscope.measures.repeatability.result import Repeatability
    from faithscope.measures.within import WithinCurve
    from faithscope.tables.audit import Audit

    return (
        (faithscope.Estimate, _estimate),
        ((faithscope.Evaluation, Audit), _evaluation),
        (faithscope.Comparison, _comparison),
        (Populations, _populations),
        ((WithinCurve, ToleranceCurve), lambda curve: [_estimate(estimate) for estimate in curve.estimates]),
        (Local, _local),
        (Certificate, _certificate),
        (faithscope.Encoding, _encoding),
        (faithscope.Leakage, _leakage),
        (Plan, _plan),
        (Simulatability, _simulatability),
        (ExplainerAgreement, _explainer_agreement),
        (Repeatability, _repeatability),
        (pd.DataFrame, _frame),
        (Explanations, _explanations),
        (faithscope.Rationales, _rationales),
        ((float, np.floating), _number),
    )


_CHECKS = _checks()
