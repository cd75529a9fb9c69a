"""Every public function and method, with hostile input: a valid answer, or one sentence of the project's own."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fuzz import explainers, functions, methods  # noqa: F401  # they register what is fuzzed
from fuzz.outcomes import MORE, survives
from fuzz.registry import TARGETS, public_names


def test_every_public_function_and_method_is_fuzzed():
    assert set(TARGETS) == public_names()


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_hostile_input_gets_a_valid_answer_or_one_sentence(name):
    target = TARGETS[name]

    @settings(
        max_examples=max(1, round(target.examples * MORE)),
        derandomize=MORE == 1,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def fuzzed(data):
        call = target.draw_call(data.draw)
        survives(target.family, name, call)

    fuzzed()
