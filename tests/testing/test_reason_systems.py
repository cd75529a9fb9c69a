"""Planted systems that give reasons in words: their truths are those of enumeration, and their rows what they say."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.explanations.reasons import Reasons
from faithscope.inputs.folding import fold
from faithscope.testing import REASON_SYSTEMS, ReasonSystem
from faithscope.testing.reasons.truth import consistency
from faithscope.testing.reasons.wordings import CLAUSES, FIRST_NAMES, INPUT_WORDS, LAST_NAMES, WORDINGS, wording
from refused import refused

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
    kinds, p = system._kinds.kinds, system._kinds.p
    merged = Counter()
    for kind, mass in zip(kinds, p, strict=True):
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


@pytest.mark.parametrize("detailed", [False, True])
def test_the_codebook_finds_the_facts_of_every_wording(detailed):
    facts = [(fact,) for fact in CLAUSES] + [(("payments", True), ("debt", True)), (("debt", False), ("income", False))]
    cases = [(each, voice, closing) for each in facts for voice in range(WORDINGS) for closing in (False, True)]
    texts = [
        wording("policy", each, voice, detailed=detailed, closing=closing, label=0) for each, voice, closing in cases
    ]
    expected = [frozenset(f"{factor} {'for' if good else 'against'}" for factor, good in each) for each, _, _ in cases]
    assert ReasonSystem().codebook(Reasons(texts)).values.tolist() == expected


def test_names_of_applicants_are_no_words_of_reasons():
    rows = [ReasonSystem(says, wordings=8, shortcut=0.5, names_label=0.5).draw(500) for says in SAYS]
    words = {word for each in rows for text in each.reasons.folded for word in text.split()}
    assert words.isdisjoint(fold(name) for name in (*FIRST_NAMES, *LAST_NAMES, "north", "south", "online", "branch"))


def test_words_of_every_input_are_those_that_templates_blank():
    inputs = ReasonSystem().draw(500).reasons.inputs
    common = set.intersection(*(set(fold(text).split()) for text in inputs))
    assert common >= INPUT_WORDS
    assert common - INPUT_WORDS <= {"of", "the", "has", "and", "an"}


@given(systems())
def test_the_truth_is_what_discretizers_make_of_all_kinds_of_rows(system):
    truth, kinds = system.truth, system._kinds
    assert system.consistency_by(None) == pytest.approx(truth.text)
    assert system.consistency_by(system.codebook) == pytest.approx(truth.codebook)
    about = ReasonSystem().draw(1).reasons.inputs[0]
    listed = Reasons(list(kinds.texts), [about] * len(kinds.texts))
    templates = fs.Template(["approved", "denied"])(listed).folded.tolist()
    assert consistency(kinds, templates) == pytest.approx(truth.template)
    hidden = Reasons([text.replace("approved", "X").replace("denied", "X") for text in kinds.texts])
    assert consistency(kinds, hidden.folded.tolist()) == pytest.approx(truth.masked_text)
    assert consistency(kinds, system.codebook(hidden).values.tolist()) == pytest.approx(truth.masked_codebook)


@given(systems(details=True))
def test_rules_are_measured_as_all_pairs_of_rows_say(system):
    assert by_pairs(system) == pytest.approx((system.truth.sufficiency, system.truth.necessity))


@given(systems(details=True))
def test_details_change_no_codebook_and_coarser_reasons_are_never_more_consistent(system):
    plain = ReasonSystem(**{name: getattr(system, name) for name in system.__dataclass_fields__ if name != "details"})
    assert plain.truth.codebook == pytest.approx(system.truth.codebook)
    assert system.truth.codebook <= system.truth.text + 1e-12
    assert system.truth.masked_text <= system.truth.text + 1e-12
    assert system.truth.chance <= system.truth.codebook + 1e-12


@pytest.mark.parametrize("shortcut", [0.0, 0.2, 0.6, 1.0])
def test_a_shortcut_of_strength_s_leaves_a_consistency_of_1_minus_s_plus_half_its_square(shortcut):
    policy, decision = (ReasonSystem(says, shortcut=shortcut).truth for says in ("policy", "decision"))
    assert (policy.codebook, policy.sufficiency) == pytest.approx((1 - shortcut + shortcut**2 / 2,) * 2)
    # Facts that suit the decision are perfectly consistent, and no longer sufficient.
    assert decision.codebook == pytest.approx(1)
    assert (decision.sufficiency < 0.999) == (shortcut > 0)


@pytest.mark.parametrize("name", REASON_SYSTEMS)
def test_the_measures_of_many_rows_are_the_truth(name):
    system = REASON_SYSTEMS[name]
    rows, truth = system.draw(4_000, seed=1), system.truth
    leak = fs.leakage(rows.reasons, rows.predictions, discretizer=system.codebook)
    assert leak.share == pytest.approx(truth.named, abs=0.02)
    for estimate, expected in (
        (leak.consistency, truth.codebook),
        (leak.masked, truth.masked_codebook),
        (fs.consistency(rows.reasons, rows.predictions, discretizer=fs.Template()), truth.template),
        (fs.sufficiency(rows.rules, rows.predictions, rows.X), truth.sufficiency),
        (fs.necessity(rows.rules, rows.predictions, rows.X), truth.necessity),
    ):
        assert estimate.value == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("says", ["policy", "decision"])
def test_without_a_shortcut_decisions_follow_the_facts_that_reasons_state(says):
    rows = ReasonSystem(says).draw(500)
    missed, debt, income = rows.X[:, :3].T
    approved = (missed <= 2) & ((debt <= 40) | (income > 30_000))
    assert (rows.predictions == np.where(approved, "approved", "denied")).all()
    assert fs.sufficiency(rows.rules, rows.predictions, rows.X).value == 1


def test_a_shortcut_alone_decides_by_the_river_and_a_tie_makes_payments_tell_the_same():
    rows, again, other = (ReasonSystem(shortcut=1.0, tied=1.0, wordings=8).draw(500, seed) for seed in (3, 3, 4))
    assert ((rows.predictions == "approved") == (rows.X[:, 3] == 1)).all()
    assert ((rows.X[:, 0] <= 2) == (rows.X[:, 3] == 1)).all()
    assert rows.reasons.texts.tolist() == again.reasons.texts.tolist() != other.reasons.texts.tolist()


def drawn(n=1, **how):
    return ReasonSystem(**how).draw(n)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: drawn(says="truth"), "says must be one of 'policy'"),
        (lambda: drawn(says=["policy"]), "says must be one of 'policy'"),
        (lambda: drawn(shortcut=1.5), "shortcut must be a number from 0 to 1; got 1.5"),
        (lambda: drawn(noise=float("nan")), "noise must be a number from 0 to 1"),
        (lambda: drawn(tied=True), "tied must be a number from 0 to 1"),
        (lambda: drawn(wordings=9), "wordings must be a whole number from 1 to 8"),
        (lambda: drawn(details=1), "details must be True or False"),
        (lambda: drawn(style=0.5), "several wordings to choose from: pass wordings=8"),
        (lambda: drawn(0), "n must be a whole number from 1 to 1000000"),
        (lambda: ReasonSystem(details=True).consistency_by(None), "details=False"),
    ],
)
def test_what_cannot_be_is_refused(call, told):
    refused(BadInput, told, call)
