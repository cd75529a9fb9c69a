"""Hostile input in every parameter of everything public: a valid answer, or one sentence of the project's own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.evaluation.assertions import Unfaithful
from fuzz.calls import (
    CALLS,
    KEYS,
    NEEDED,
    PHI,
    REASONS,
    RULES,
    THINGS,
    TRAIN,
    methods,
    parameters,
    predict,
    public,
    thing,
)
from fuzz.hostile import MISPLACED, ODD, drawn_for
from fuzz.outcomes import REFUSED, budget, survives
from listed import names

GIVEN = (fs.Importances(PHI), REASONS, fs.Counterfactuals(TRAIN[:4] + 1, TRAIN[:4]))
# What is done with what was made, since lazily made things say what is wrong only then.
USES = (
    (fs.discretizers.Discretizer, [lambda made, given=given: made(given) for given in GIVEN]),
    (fs.agreements.Agreement, [lambda made: fs.consistency(KEYS, [0.5, 1.5, 2.0, 3.0], agreement=made)]),
    (fs.relations.Relation, [lambda made: fs.sufficiency(RULES, [0, 0, 1, 0], TRAIN[:4], relation=made)]),
    (fs.populations.Population, [lambda made: fs.sufficiency(RULES, predict, TRAIN[:4], population=made)]),
)


# How much is to be drawn: as much as memory has room for, which is not asked beforehand.
LEFT_ALONE = {"samples", "draws", "beam"}


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """A word may be taken for the name of a file to write, and one of a run of MLflow."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", tmp_path.as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")


def known(name):
    """The room in which a public name lives, and what it takes."""
    asked = thing(name)
    left = {"progress"} if name.endswith(".explain") else set(LEFT_ALONE)
    left |= {"table", "missing", "fitted_on"} if name == "explainers.TreePath" else set()  # by surrogate alone
    return asked.__module__.split(".")[1], [each for each in parameters(asked) if each not in left]


def put(family, name, call, given):
    """Call with these, and use what is made: an answer or a sentence each time."""

    def asked():
        try:
            answer = call(**given)
            return list(answer) if hasattr(answer, "__next__") else answer
        except Unfaithful as told:  # an answer too
            return str(told)

    answer = survives(family, name, asked)
    for kind, uses in USES:
        for use in uses if isinstance(answer, kind) else ():
            survives(family, name, lambda use=use: use(answer))
    if hasattr(answer, "explain") and "words" not in name.lower():
        survives(family, name, lambda: answer.explain(TRAIN))
    return answer


def try_hostile_input(family, name, call, good, accepted, examples):
    """One hostile value, or two, among good ones."""

    @budget(examples)
    @given(st.data())
    def fuzzed(data):
        chosen = data.draw(st.lists(st.sampled_from(accepted), min_size=1, max_size=2, unique=True))
        put(family, name, call, good | {parameter: data.draw(drawn_for(parameter)) for parameter in chosen})

    fuzzed()


def test_everything_public_has_a_good_call_or_is_a_result_whose_methods_are_asked():
    assert set(public()) - set(CALLS) == set()
    asked = {type(make()).__name__ for make in THINGS.values()}
    assert set(names(fs.results)) - asked == {"Explanations", "Rationales"}


MANY = pytest.mark.parametrize("times", [1, pytest.param(6, marks=pytest.mark.thorough)])


@MANY
@pytest.mark.parametrize("name", CALLS)
def test_hostile_input_gets_a_valid_answer_or_one_sentence(name, times):
    (call, good), (room, accepted) = CALLS[name], known(name)
    assert put(room, name, call, good) is not REFUSED or name.startswith(("explainers.Gradient", "explainers.Dice"))
    if accepted:
        try_hostile_input(room, name, call, good, accepted, times * len(accepted))


@pytest.mark.thorough
@pytest.mark.parametrize("name", CALLS)
def test_whatever_is_put_into_any_parameter_gets_an_answer_or_one_sentence(name):
    call, good = CALLS[name]
    for parameter in known(name)[1]:
        for odd in (*MISPLACED, *ODD):
            put("misplaced", f"{name}, {parameter}", call, good | {parameter: odd})


@MANY
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            kind, marks=[pytest.mark.thorough] * (kind in ("comparison", "evaluation of rules", "audit", "monitor"))
        )
        for kind in THINGS
    ],
)
def test_methods_of_results_take_hostile_input_too(kind, times):
    result = THINGS[kind]()
    for name, method in methods(result):
        if not callable(method):
            survives("results", f"{kind}.{name}", lambda name=name: getattr(result, name))
            continue
        accepted = parameters(method)
        good = {each: NEEDED[each] for each in accepted if each in NEEDED}
        put("results", f"{kind}.{name}", getattr(result, name), good)
        if accepted:
            try_hostile_input(
                "results", f"{kind}.{name}", getattr(result, name), good, accepted, max(1, times * len(accepted) // 3)
            )
