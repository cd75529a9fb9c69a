"""Arrays, functions, tables and dictionaries in every parameter of a good call: an answer, or one sentence."""

import pytest

from faithscope.evaluation.assertions import Unfaithful
from fuzz.hostile import MISPLACED
from fuzz.misplaced import CALLS, WORDS
from fuzz.outcomes import survives
from fuzz.registry import TARGETS

FEW = ("array", "DataFrame", "dictionary", "function", "class")


def taken(name):
    return [parameter for parameter in TARGETS[name].parameters if parameter != "self"]


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """A word may be taken for the name of a file to write."""
    monkeypatch.chdir(tmp_path)


def put(name, parameter, odd):
    call, good = CALLS[name]

    def asked():
        try:
            return call(**{**good, parameter: odd})
        except Unfaithful as told:  # an answer too
            return str(told)

    survives("misplaced", f"{name}, {parameter}", asked)


def test_every_parameter_that_takes_a_word_or_a_function_has_a_good_call():
    lacking = {
        (target.name, parameter)
        for target in TARGETS.values()
        for parameter in WORDS & set(target.parameters)
        if target.name not in CALLS and not target.name.startswith("testing.")
    }
    assert lacking == set()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name == "explainers.Gradient"))  # it imports torch
        for name in CALLS
        if WORDS & set(taken(name))
    ],
)
def test_what_is_put_in_place_of_a_word_or_a_function_is_refused_in_one_sentence(name):
    for parameter in WORDS & set(taken(name)):
        for kind in FEW:
            put(name, parameter, MISPLACED[kind])


@pytest.mark.thorough
@pytest.mark.parametrize("name", CALLS)
def test_whatever_is_put_into_any_parameter_gets_an_answer_or_one_sentence(name):
    for parameter in taken(name):
        for odd in MISPLACED.values():
            put(name, parameter, odd)
