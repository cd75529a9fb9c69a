"""A rule written down reads back exactly, whatever it holds; what cannot be read says where."""

import json
import math
import operator

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.conditions.grammar import parse_rule, write_rule
from faithscope.explanations.rules import Rules
from faithscope.inputs.dates import Moment

NAMES = st.one_of(st.text(), st.sampled_from(["age", "and", "true", "inf-x", "inf", "a.b-c", "x 1", '"', "é", "not"]))
NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False))
VALUES = st.one_of(NUMBERS, st.booleans(), st.text(), st.none())
DATES = st.builds(Moment, st.integers(-(10**19), 10**22), st.booleans())
OR = st.sampled_from(["", " or missing"])


def conditions_on(values):
    """Conditions that hold these values."""
    operators = st.sampled_from(["<=", "<", ">=", ">", "==", "!="])
    several = st.lists(values, max_size=4).map(tuple)
    return st.one_of(
        st.tuples(NAMES, st.builds(operator.add, operators, OR), values),
        st.tuples(NAMES, st.builds(operator.add, st.sampled_from(["in", "not in"]), OR), several),
        st.tuples(NAMES, st.builds(operator.add, st.just("between"), OR), st.tuples(NUMBERS, NUMBERS)),
    )


CONDITIONS = conditions_on(VALUES)


def exactly(conditions):
    """Conditions with the type of every value, so that 1, 1.0 and True are told apart, and -0.0 from 0.0."""
    return repr([(feature, how, value) for feature, how, value in conditions])


@given(st.lists(conditions_on(st.one_of(VALUES, DATES)), max_size=5))
@example([("a", "==", "\ud800")])
@example([("missing", "== or missing", "missing"), ("or", "==", None), ("or", "!= or missing", "or missing")])
@example([("true", "<=", -0.0), ("x", "in", ()), ("\n", "==", 'say "no"; \\ -- \u2028\0')])
def test_what_is_written_reads_back_exactly(conditions):
    assert exactly(parse_rule(write_rule(conditions))) == exactly(conditions)


@given(st.lists(CONDITIONS, max_size=4))
def test_the_text_is_one_line_that_any_file_can_hold(conditions):
    written = write_rule(conditions)
    assert "\n" not in written
    assert written.encode().decode() == written


@given(st.lists(CONDITIONS, max_size=4))
def test_json_says_the_same_as_the_grammar(conditions):
    assert exactly(parse_rule(json.dumps(conditions))) == exactly(conditions)


@given(st.text())
def test_any_text_is_read_or_refused_in_one_sentence(text):
    conditions = problem = None
    try:
        conditions = parse_rule(text)
    except BadInput as caught:
        problem = str(caught)
    if problem is not None:
        assert "\n" not in problem
    else:
        assert exactly(parse_rule(write_rule(conditions))) == exactly(conditions)


def test_rules_survive_being_written():
    rules = Rules.from_conditions(
        [[("age", ">", 3), ("age", "<=", 7.5), ("job", "not in", ["cook", None])], [], [("age", "==", None)]],
        features=["age", "job"],
    )
    again = Rules.from_conditions([parse_rule(write_rule(one)) for one in rules.to_conditions()], rules.features)
    assert [again.describe(row) for row in range(3)] == [rules.describe(row) for row in range(3)]


def test_a_rule_reads_like_this():
    conditions = [("age", "<=", 37.0), ("job", "==", "clerk"), ("odd name; --", ">", -0.0), ("n", "in", (1, None))]
    assert write_rule(conditions) == 'age <= 37.0 and job == "clerk" and "odd name; --" > -0.0 and n in {1, missing}'
    assert write_rule([]) == "true"
    assert parse_rule('  age<=37and job=="clerk"') == [("age", "<=", 37), ("job", "==", "clerk")]


def test_numpy_values_are_written_as_numbers():
    assert write_rule([("a", "<=", np.float64(0.1)), ("b", "==", np.int8(3)), ("c", "!=", np.nan)]) == (
        "a <= 0.1 and b == 3 and c != missing"
    )


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("", 1, "its end instead of a feature"),
        ("age <", 6, "its end instead of a number"),
        ("age =", 6, "its end instead of a number"),
        ('job == "x', 8, "never closed"),
        ("a <= 3 or b > 2", 8, "'or' instead of 'and'"),
        ("a in {1 2}", 9, "'2' instead of ','"),
        ("a between [1]", 13, "exactly two values"),
        ("a between [1, 2, 3]", 19, "exactly two values"),
        ("true and a < 1", 1, "'true' instead of a feature"),
        ('a == "\\q"', 6, "an escape"),
        ("a <= __import__('os').system('x')", 6, "'__import__' instead of a number"),
        ("a == b == c", 6, "'b == c', which is not one value"),
        ("a == b or c", 6, "'b or c', which is not one value"),
        ("3 < a > 2", 7, "two bounds point one way"),
        ("(a <= 3 and b > 2) or missing", 19, "after conditions on several features"),
        ("age", 1, "'age' instead of a feature with an operator"),
        ("a and b <= 3", 1, "'a' instead of a feature with an operator"),
        ("a <= 1,000", 8, "'000' instead of a feature with an operator"),
        ("a <= __import__(3)", 6, "'__import__' instead of a number"),
        ("(a <= 3 and b > 2", 18, "its end instead of ')'"),
        ("(a <= 3 or missing", 19, "its end instead of ')'"),
        ("a <= 3 or missing or missing", 19, "'or' instead of 'and'"),
        ("a <= 2024-02-30", 6, "a date that does not exist"),
        ("a <= 2024-02-20T24:00", 6, "a date that does not exist"),
        ("a <= exit", 6, "'exit' instead of a number"),
        ("a not 3", 1, "'a' instead of a feature with an operator"),
        (f"a == {'9' * 5000}", 6, "too many digits"),
    ],
)
def test_what_cannot_be_read_says_where(text, place, said):
    with pytest.raises(BadInput, match=f"at character {place}:") as caught:
        parse_rule(text)
    assert said in str(caught.value)


def test_only_texts_hold_rules_and_only_names_are_written():
    with pytest.raises(WrongType, match="A rule must be a text"):
        parse_rule(3)
    with pytest.raises(WrongType, match="by name"):
        write_rule([(0, "<=", 1)])
    with pytest.raises(WrongType, match="complex"):
        write_rule([("a", "==", 1j)])
    with pytest.raises(BadInput, match="not in the rule grammar"):
        write_rule([("a", "~", 1)])
    with pytest.raises(BadInput, match="list of"):
        parse_rule('[["a", "<="]]')
    with pytest.raises(BadInput, match="starts like JSON"):
        parse_rule('[["a"')
    assert math.isinf(parse_rule("a > -inf")[0][2])


def test_missing_and_a_category_of_that_name_are_told_apart():
    rules = Rules.from_conditions(
        [[("job", "==", None)], [("job", "==", "missing")], [("job", "!= or missing", "missing")]], features=["job"]
    )
    texts = [write_rule(one) for one in rules.to_conditions()]
    assert texts == ["job == missing", 'job == "missing"', '(job != "missing" or missing)']
    again = Rules.from_conditions([parse_rule(text) for text in texts], rules.features)
    assert again.distinct == rules.distinct


def test_or_missing_is_read_with_and_without_parentheses():
    bare, inside = "age <= 37 or missing and job == 3", "(age <= 37 or missing) and job == 3"
    assert parse_rule(bare) == parse_rule(inside) == [("age", "<= or missing", 37), ("job", "==", 3)]


def test_dates_are_written_as_dates():
    when = [("when", "<=", np.datetime64("2024-03-01")), ("when", ">", np.datetime64("2024-02-01T12:30:05.25"))]
    assert write_rule(when) == "when <= 2024-03-01 and when > 2024-02-01T12:30:05.25"
    rules = Rules.from_conditions([parse_rule(write_rule(when))])
    assert rules.distinct == Rules.from_conditions([when]).distinct
