"""The rule grammar: a conjunction of conditions as one line of text, written and read back exactly, never evaluated.

::

    rule       =  "true"  |  condition { "and" condition }
    condition  =  test  |  test "or" "missing"  |  "(" test "or" "missing" ")"
    test       =  feature operator value
               |  feature ( "in" | "not in" ) "{" [ value { "," value } ] "}"
               |  feature "between" "[" value "," value "]"
    feature    =  a word such as age or capital-gain, or a quoted text such as "odd name; --"
    operator   =  "<="  "<"  ">="  ">"  "=="  "!="
    value      =  number  |  quoted text (escapes as in JSON)  |  date  |  "true"  |  "false"  |  "missing"
    date       =  2024-03-01  |  2024-03-01T12:30  |  2024-03-01T12:30:05.25, with a Z after it if it is in UTC

A number with a point or an exponent, ``inf`` and ``-inf`` are floats, any other is an integer. A test on a missing
value is false, that of ``!=`` too; ``== missing`` and ``or missing`` say otherwise. A category that is called
missing is a text, and quoted.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.conditions.condition import OR_MISSING, Triple
from faithscope.inputs.dates import WRITTEN, Moment
from faithscope.inputs.missing import is_missing

_WORD = r"[^\W\d][\w]*(?:[.\-][\w]+)*"
_TOKEN = re.compile(
    r"\s*(?:"
    r'(?P<text>"(?:[^"\\]|\\.)*")'
    rf"|(?P<date>{WRITTEN}(?![\w.\-:]))"
    r"|(?P<number>[+-]?(?:inf(?![\w.\-])|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?))"
    rf"|(?P<word>{_WORD})"
    r"|(?P<sign><=|>=|==|!=|[<>{}()\[\],])"
    r"|(?P<end>\Z)"
    r")",
    re.DOTALL,
)
_RESERVED = {"and", "in", "not", "between", "true", "false", "missing", "inf"}
_COMPARE = ("<=", "<", ">=", ">", "==", "!=")
_OR_MISSING = [("word", "or"), ("word", "missing")]
_VALUES = {"true": True, "false": False, "missing": None}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # text, date, number, word, sign or end
    written: str
    place: int


def write_rule(conditions: Iterable[Sequence[Any]]) -> str:
    """A conjunction as one line of text, from which `parse_rule` makes the same conditions.

    Parameters
    ----------
    conditions : list of (feature, operator, value)
        As `Rules.from_conditions` takes them for one row, features by name. None and NaN are written ``missing``.

    Examples
    --------
    >>> write_rule([("age", "<=", 37.0), ("job", "in", ("clerk", None)), ("odd name; --", ">", -0.0)])
    'age <= 37.0 and job in {"clerk", missing} and "odd name; --" > -0.0'
    >>> write_rule([("age", "<= or missing", 37.0), ("job", "==", "missing")])
    '(age <= 37.0 or missing) and job == "missing"'
    >>> write_rule([])
    'true'
    """
    return " and ".join(_write_condition(*triple) for triple in conditions) or "true"


def _write_condition(feature: Any, operator: str, value: Any) -> str:
    if not isinstance(feature, str):
        raise WrongType(f"A rule is written with features by name; got {feature!r}: pass its name.")
    if isinstance(operator, str) and operator.endswith(OR_MISSING):
        return f"({_write_condition(feature, operator.removesuffix(OR_MISSING), value)}{OR_MISSING})"
    name = feature if re.fullmatch(_WORD, feature) and feature not in _RESERVED else _quote(feature)
    if operator in ("in", "not in"):
        return f"{name} {operator} {{{', '.join(map(_write_value, value))}}}"
    if operator == "between":
        return f"{name} between [{', '.join(map(_write_value, value))}]"
    if operator not in _COMPARE:
        raise BadInput(f"Operator {operator!r} on feature {feature!r} is not in the rule grammar.")
    return f"{name} {operator} {_write_value(value)}"


def _write_value(value: Any) -> str:
    value = value.item() if isinstance(value, np.generic) and value.dtype.kind != "M" else value
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if is_missing(value):
        return "missing"
    if isinstance(value, int | float):
        return repr(value)
    moment = value if isinstance(value, Moment) else Moment.of(value)
    if moment is not None:
        return str(moment)
    raise WrongType(
        f"A rule cannot hold {value!r} ({type(value).__name__}): use a number, text, a date or True and False."
    )


def _quote(text: str) -> str:
    # A lone surrogate cannot be encoded, so such a text is escaped whole.
    return json.dumps(text, ensure_ascii=any("\ud800" <= character <= "\udfff" for character in text))


def parse_rule(text: str) -> list[Triple]:
    """The conditions in a rule's text, as (feature, operator, value).

    A text that starts with ``[`` is read as JSON, a list of ``[feature, operator, value]`` with null for missing.

    Examples
    --------
    >>> parse_rule('age <= 37.0 and job == "clerk"')
    [('age', '<=', 37.0), ('job', '==', 'clerk')]
    >>> parse_rule('[["age", "in", [1, null]]]')
    [('age', 'in', (1, None))]
    """
    if not isinstance(text, str):
        raise WrongType(f"A rule must be a text; got {text!r} ({type(text).__name__}).")
    if text.lstrip().startswith("["):
        return _parse_json(text)
    return _Parser(text).rule()


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while True:
        match = _TOKEN.match(text, place)
        if match is None:
            place += len(text[place:]) - len(text[place:].lstrip())
            what = "a text that is never closed" if text[place] == '"' else f"{text[place]!r}, which means nothing here"
            raise _misread(text, place, what)
        kind = match.lastgroup or "end"
        yield _Token(kind, match[kind], match.start(kind))
        if kind == "end":
            return
        place = match.end()


def _misread(text: str, place: int, what: str) -> BadInput:
    excerpt = text[max(0, place - 20) : place] + "⟪here⟫" + text[place : place + 20]
    return BadInput(f"The rule {excerpt!r} cannot be read at character {place + 1}: it has {what}.")


class _Parser:
    """One pass over the tokens of a rule."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0
        self.tokens = list(_tokens(text))

    def rule(self) -> list[Triple]:
        """The whole text."""
        if [token.written for token in self.tokens] == ["true", ""]:
            return []
        triples = [self._condition()]
        while self._token.kind != "end":
            self._expect("and")
            triples.append(self._condition())
        return triples

    @property
    def _token(self) -> _Token:
        return self.tokens[self.place]

    def _take(self) -> _Token:
        token = self._token
        self.place += 1
        return token

    def _expect(self, written: str) -> None:
        if self._token.written != written or self._token.kind == "text":
            raise self._wrong(f"{written!r}")
        self.place += 1

    def _wrong(self, wanted: str) -> BadInput:
        seen = "its end" if self._token.kind == "end" else f"{self._token.written!r}"
        return _misread(self.text, self._token.place, f"{seen} instead of {wanted}")

    def _condition(self) -> Triple:
        if self._token.kind == "sign" and self._token.written == "(":
            self._expect("(")
            feature, operator, value = self._test()
            self._expect("or")
            self._expect("missing")
            self._expect(")")
            return feature, operator + OR_MISSING, value
        feature, operator, value = self._test()
        if [(token.kind, token.written) for token in self.tokens[self.place : self.place + 2]] == _OR_MISSING:
            self.place += 2
            operator += OR_MISSING
        return feature, operator, value

    def _test(self) -> Triple:
        feature = self._feature()
        operator = self._operator()
        if operator in ("in", "not in"):
            return feature, operator, self._several("{", "}")
        if operator == "between":
            ends = self._several("[", "]")
            if len(ends) != 2:
                self.place -= 1
                raise self._wrong("exactly two values of between")
            return feature, operator, ends
        return feature, operator, self._value()

    def _feature(self) -> str:
        token = self._token
        if token.kind == "text":
            return str(self._unquote(self._take()))
        if token.kind == "word" and token.written not in _RESERVED:
            return self._take().written
        raise self._wrong("a feature")

    def _operator(self) -> str:
        token = self._token
        if token.kind == "sign" and token.written in _COMPARE:
            return self._take().written
        if token.kind == "word" and token.written in ("in", "between"):
            return self._take().written
        if token.kind == "word" and token.written == "not":
            self.place += 1
            self._expect("in")
            return "not in"
        raise self._wrong(f"one of {' '.join(_COMPARE)} in, not in, between")

    def _several(self, opening: str, closing: str) -> tuple[Any, ...]:
        self._expect(opening)
        values: list[Any] = []
        while self._token.written != closing:
            if values:
                self._expect(",")
            values.append(self._value())
        self._expect(closing)
        return tuple(values)

    def _value(self) -> Any:
        token = self._token
        if token.kind == "text":
            return self._unquote(self._take())
        if token.kind == "number":
            return _number(self.text, self._take())
        if token.kind == "date":
            return _date(self.text, self._take())
        if token.kind == "word" and token.written in _VALUES:
            return _VALUES[self._take().written]
        raise self._wrong('a number, a text in "", a date, true, false or missing')

    def _unquote(self, token: _Token) -> Any:
        try:
            return json.loads(token.written, strict=False)
        except ValueError:
            raise _misread(self.text, token.place, "a text with an escape that JSON does not know") from None


def _number(text: str, token: _Token) -> float | int:
    try:
        return float(token.written) if re.search(r"[.eEi]", token.written) else int(token.written)
    except ValueError:  # an integer of thousands of digits
        raise _misread(text, token.place, "a number with too many digits") from None


def _date(text: str, token: _Token) -> Moment:
    try:
        return Moment.parse(token.written)
    except ValueError:
        raise _misread(text, token.place, "a date that does not exist") from None


def _parse_json(text: str) -> list[Triple]:
    try:
        rows = json.loads(text)
    except ValueError as problem:
        raise BadInput(f"The rule {text[:60]!r} starts like JSON but is not: {problem}.") from None
    except RecursionError:
        raise BadInput(f"The rule {text[:60]!r} nests lists too deeply: a value is at most a list of values.") from None
    for triple in rows:
        if not (
            isinstance(triple, list) and len(triple) == 3 and isinstance(triple[0], str) and isinstance(triple[1], str)
        ):
            raise BadInput(f"A rule in JSON is a list of [feature, operator, value]; got {json.dumps(triple)[:60]}.")
    return [(feature, operator, _from_json(value)) for feature, operator, value in rows]


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(None if item is None or item != item else item for item in value)
    return None if isinstance(value, float) and math.isnan(value) else value
