"""Every public function and method, with hostile input: a valid answer, or one sentence of the project's own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.outcomes import budget, survives
from fuzz.registry import LEFT_ALONE, TARGETS

FAMILIES = sorted({target.family for target in TARGETS.values()})


def try_hostile_input(target, examples):
    @budget(examples)
    @given(st.data())
    def fuzzed(data):
        survives(target.family, target.name, target.call(data.draw))

    fuzzed()


def test_every_parameter_of_every_public_name_is_fuzzed_or_left_alone_on_purpose():
    unknown = {
        target.name: name for target in TARGETS.values() for name, drawn in target.strategies().items() if drawn is None
    }
    assert unknown == {}
    assert [target.name for target in TARGETS.values() if target.owner and target.instances() is None] == []
    assert {name for target in TARGETS.values() for name in target.parameters} >= LEFT_ALONE


@pytest.mark.parametrize("family", FAMILIES)
def test_every_public_name_gets_hostile_input_and_gives_a_valid_answer_or_one_sentence(family):
    for target in TARGETS.values():
        if target.family == family:
            # The first example is the simplest that there is; pages and pictures are dear.
            try_hostile_input(target, min(3, target.examples // 2))


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(TARGETS))
def test_much_hostile_input_gets_a_valid_answer_or_one_sentence(name):
    try_hostile_input(TARGETS[name], TARGETS[name].examples)
