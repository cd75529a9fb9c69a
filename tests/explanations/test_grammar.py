"""A rule written down reads back exactly, whatever it holds; what cannot be read says where."""

import json
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conditions import conditions
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.rule_text import parse_rule, write_rule
from faithscope.inputs.dates import Moment
from refused import refused

NAMES = st.one_of(st.text(), st.sampled_from(["age", "and", "true", "inf-x", "inf", "a.b-c", "x 1", '"', "é", "not"]))
NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False))
VALUES = st.one_of(NUMBERS, st.booleans(), st.text(), st.none())
DATES = st.builds(Moment, st.integers(-(10**19), 10**22), st.booleans())


@given(st.lists(conditions(NAMES, VALUES | DATES, NUMBERS | DATES), max_size=5))
@example([("a", "==", "\ud800")])
@example([("missing", "== or missing", "missing"), ("or", "==", None), ("or", "!= or missing", "or missing")])
@example([("true", "<=", -0.0), ("x", "in", ()), ("\n", "==", 'say "no"; \\ -- \u2028\0')])
def test_what_is_written_is_one_line_that_any_file_can_hold_and_reads_back_exactly(written):
    text = write_rule(written)
    assert "\n" not in text
    assert text.encode().decode() == text
    assert repr(parse_rule(text)) == repr(written)


@given(st.lists(conditions(NAMES, VALUES, NUMBERS), max_size=4))
def test_json_says_the_same_as_the_grammar(written):
    assert repr(parse_rule(json.dumps(written))) == repr(written)


def test_a_rule_reads_like_this():
    conditions = [("age", "<=", 37.0), ("job", "==", "clerk"), ("odd name; --", ">", -0.0), ("n", "in", (1, None))]
    assert write_rule(conditions) == 'age <= 37.0 and job == "clerk" and "odd name; --" > -0.0 and n in {1, missing}'
    assert write_rule([]) == "true"
    assert parse_rule('  age<=37 and job=="clerk"') == [("age", "<=", 37), ("job", "==", "clerk")]
    numpy = [("a", "<=", np.float64(0.1)), ("b", "==", np.int8(3)), ("c", "!=", np.nan)]
    assert write_rule(numpy) == "a <= 0.1 and b == 3 and c != missing"
    dates = [("when", "<=", np.datetime64("2024-03-01")), ("when", ">", np.datetime64("2024-02-01T12:30:05.25"))]
    assert write_rule(dates) == "when <= 2024-03-01 and when > 2024-02-01T12:30:05.25"
    bare, inside = "age <= 37 or missing and job == 3", "(age <= 37 or missing) and job == 3"
    assert parse_rule(bare) == parse_rule(inside) == [("age", "<= or missing", 37), ("job", "==", 3)]


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("", 1, "a feature with an operator"),
        ("age =", 6, "a number, a text"),
        ('job == "x', 8, "a number, a text"),
        ("a <= 3 or b > 2", 6, "without signs, 'and' and 'or'"),
        ("a == b == c", 6, "without signs"),
        ("a in {1, 2", 11, "','"),
        ("a in {1, }", 10, "a number, a text"),
        ("a in ]1, 2]", 1, "a feature with an operator"),
        ("true and a < 1", 1, "a feature with an operator"),
        ('a == "\\q"', 6, "escapes"),
        ("3 < a > 2", 10, "two bounds that point the same way"),
        ("(a <= 3 and b > 2) or missing", 30, "on several features"),
        ("a <= 1 and b > 2 or missing or missing", 29, "'and'"),
        ("(a <= 3 and b > 2", 18, "')'"),
        ("a <= 2024-02-30", 6, "a date that there is"),
        (f"a == {'9' * 5000}", 6, "fewer digits"),
        ("(" * 60 + "a < 1", 51, "a feature with an operator"),
    ],
)
def test_what_cannot_be_read_says_where(text, place, said):
    refused(BadInput, f"at character {place} should stand.*{re.escape(said)}", parse_rule, text)


def test_only_texts_hold_rules_and_only_names_are_written():
    refused(WrongType, "A rule must be a text", parse_rule, 3)
    refused(WrongType, "by name", write_rule, [(0, "<=", 1)])
    refused(WrongType, "complex", write_rule, [("a", "==", 1j)])
    refused(BadInput, "not in the rule grammar", write_rule, [("a", "~", 1)])
    refused(BadInput, "list of", parse_rule, '[["a", "<="]]')
    refused(BadInput, "starts like JSON", parse_rule, '[["a"')
