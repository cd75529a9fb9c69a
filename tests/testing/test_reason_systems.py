"""Planted systems that give reasons in words: their truths are those of enumeration, and their rows what they say."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithscope.explanations.reasons import Reasons
from faithscope.inputs.documents import fold
from reason_systems import CLAUSES, WORDINGS, ReasonSystem

SAYS = ("policy", "decision", "answer", "hint", "chance")
SHARES = st.sampled_from([0.0, 0.1, 0.5, 1.0])


@st.composite
def systems(draw, details=False):
    wordings = draw(st.integers(1, WORDINGS))
    return ReasonSystem(
        says=draw(st.sampled_from(SAYS)),
        shortcut=draw(SHARES),
        tied=draw(SHARES),
        online_only=draw(st.booleans()),
        noise=draw(SHARES),
        wordings=wordings,
        details=details,
        style=draw(SHARES) if wordings > 1 else 0.0,
        names_label=draw(SHARES),
    )


def by_pairs(system):
    """Over all pairs of kinds of rows, of which the first covers the second: sufficiency and necessity."""
    merged = Counter()
    for kind, mass in zip(system._kinds, system._masses[0], strict=True):
        merged[kind.applicant, kind.facts, kind.label] += mass
    sufficiency = necessity = 0.0
    for (_, facts, label), mass in merged.items():
        others = [(other, weight) for other, weight in merged.items() if other[0].has(facts)]
        agreeing = sum(weight for other, weight in others if other[2] == label)
        sufficiency += mass * agreeing / sum(weight for _, weight in others)
        necessity += mass * agreeing / sum(weight for other, weight in merged.items() if other[2] == label)
    return sufficiency, necessity


def test_every_wording_is_as_folding_leaves_it_and_no_two_facts_share_a_word_sequence():
    for fact, clauses in CLAUSES.items():
        assert len(set(clauses)) == WORDINGS
        for clause in clauses:
            plain = clause.partition("[")[0]
            assert fold(plain) == plain
            others = (other for another, other in CLAUSES.items() if another != fact)
            assert not any(plain in other for row in others for other in row), plain


def test_the_codebook_finds_the_facts_of_every_wording():
    for detailed in [False, True]:
        facts = [(fact,) for fact in CLAUSES] + [
            (("payments", True), ("debt", True)),
            (("debt", False), ("income", False)),
        ]
        cases = [(each, voice, closing) for each in facts for voice in range(WORDINGS) for closing in (False, True)]
        system = ReasonSystem(details=detailed)
        texts = [system._worded(each, voice, 0, closing=closing) for each, voice, closing in cases]
        expected = [
            frozenset(f"{factor} {'for' if good else 'against'}" for factor, good in each) for each, _, _ in cases
        ]
        assert ReasonSystem().codebook(Reasons(texts)).values.tolist() == expected


@given(systems())
def test_the_truth_is_what_discretizers_make_of_all_kinds_of_rows(system):
    truth, told = system.truth, [kind.text for kind in system._kinds]
    given = Reasons(told)
    assert system._consistency(given.folded.tolist()) == pytest.approx(truth.text)
    assert system._consistency(system.codebook(given).values.tolist()) == pytest.approx(truth.codebook)
    hidden = Reasons([text.replace("approved", "X").replace("denied", "X") for text in told])
    assert system._consistency(hidden.folded.tolist()) == pytest.approx(truth.masked_text)


@given(systems(details=True))
def test_rules_are_measured_as_all_pairs_of_rows_say(system):
    assert by_pairs(system) == pytest.approx((system.truth.sufficiency, system.truth.necessity))


def test_a_shortcut_of_strength_s_leaves_a_consistency_of_1_minus_s_plus_half_its_square():
    for shortcut in [0.0, 0.2, 0.6, 1.0]:
        policy, decision = (ReasonSystem(says, shortcut=shortcut).truth for says in ("policy", "decision"))
        assert (policy.codebook, policy.sufficiency) == pytest.approx((1 - shortcut + shortcut**2 / 2,) * 2)
        # Facts that suit the decision are perfectly consistent, and no longer sufficient.
        assert decision.codebook == pytest.approx(1)
        assert (decision.sufficiency < 0.999) == (shortcut > 0)
