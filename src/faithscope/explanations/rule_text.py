"""The rule grammar: a conjunction of conditions as one line of text, written and read back exactly, never evaluated.

::

    rule       =  "true"  |  "everything"  |  conditions
    conditions =  condition { ( "and" | "&" | "," | ";" ) condition }
    condition  =  test [ "or missing" ]  |  "(" conditions ")" [ "or missing" ]
    test       =  feature operator value  |  number order feature order number
               |  feature ( "in" | "not in" ) "{" [ value { "," value } ] "}"
               |  feature "between" "[" value "," value "]"
               |  feature "in" "]" number "," number "]", of which either bracket may be turned, as PyXAI prints it
               |  feature "is" ( "missing" | "present" )
    order      =  "<="  "<"  ">="  ">"
    operator   =  order  |  "=="  "="  "!="
    value      =  number  |  date  |  "true"  |  "false"  |  "missing"  |  text
    date       =  2024-03-01  |  2024-03-01T12:30  |  2024-03-01T12:30:05.25, with a Z after it if it is in UTC

A feature and a text are quoted, with escapes as in JSON, or bare: petal width (cm), Self-emp-not-inc. A bare feature
ends before its operator, a bare text before what can only be the next condition; what has a sign of the grammar in it
is quoted, unless it is a feature that the caller names: of these, the longest that fits is read.
A bare value that could be a number, a date, true, false or missing is one; a category that is called 37 or missing is
a text, and quoted. A number with a point or an exponent, ``inf`` and ``-inf`` are floats, any other is an integer.
A test on a missing value is false, that of ``!=`` too; ``is missing``, ``== missing`` and ``or missing`` say otherwise.
`write_rule` quotes every text, and writes numbers in full; `Rules.describe` quotes what it has to, and rounds.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.arrays import to_items
from faithscope.inputs.checks import is_real, one_sentence
from faithscope.inputs.dates import WRITTEN, Moment
from faithscope.inputs.missing import is_missing
from faithscope.visible import visible

Triple = tuple[Any, str, Any]  # feature, operator, value

BOUNDS = ("<=", "<", ">=", ">")
NEVER: Triple = ("", "in", ())  # what no row satisfies, on no feature
OR_MISSING = " or missing"  # after an operator: a missing value satisfies the condition too
_OPERATORS = {  # how else they are spelled: in texts, by PyXAI, by language models
    "<": "lt|less|less than|lower than|below|under",
    "<=": "≤|=<|le|lte|leq|at most|less than or equal|less than or equal to|up to",
    ">": "gt|greater|greater than|more than|higher than|above|over",
    ">=": "≥|=>|ge|gte|geq|at least|greater than or equal|greater than or equal to",
    "==": "=|eq|equal|equals|equal to",
    "!=": "≠|<>|ne|neq|not|not equal|not equal to|not equals",
    "in": "∈|one of|any of",
    "not in": "∉|nin|not one of|none of",
    "between": "range|in range|within",
    "missing": "null|none|na|nan",
    "present": "not null|not missing|not none|not na|exists",
}
SPELLINGS = {word: operator for operator, words in _OPERATORS.items() for word in (operator, *words.split("|"))}
_TURNED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<"}
ANY_OF = {"==": "in", "!=": "not in"}  # before a list
NUMBER = r"[+-]?(?:inf(?![\w.\-])|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
_TYPED = re.compile(rf"{WRITTEN}|{NUMBER}|true|True|false|False|missing")  # read as something other than a text
_ALL = {"true", "everything"}  # a rule that covers all rows
_VALUES = {"true": True, "false": False, "missing": None}


# -- the writer: exactly, for files; and as it is shown ---------------------------------------------------------------

_WORD = re.compile(r"[^\W\d][\w]*(?:[.\-][\w]+)*")
_RESERVED = {"and", "in", "not", "between", "is", "true", "false", "missing", "inf"}
_NO_SIGN = r'[^"\\<>=!≤≥≠{}\[\](),;&∧]'
_PLAIN_TEXT = re.compile(rf"(?![\s'(])(?:{_NO_SIGN}|\({_NO_SIGN}*\))+(?<!\s)")
_PLAIN_NAME = re.compile(rf"(?![\s'(\[])(?:{_NO_SIGN}|\({_NO_SIGN}*\)|\[{_NO_SIGN}*\])+(?<!\s)")  # weight [kg]
_JOINS = re.compile(r"(?:^|\s)(?:and|or)(?:\s|$)", re.IGNORECASE)
_WORDS = re.compile(r"(?:^|\s)(?:and|or|in|not|is|between)(?:\s|$)", re.IGNORECASE)
_LEAST_SINGLE, _LEAST_OF_LIGHTGBM = 2.0**-149, "1e-35"
_NO_NAMES = {"true", "false", "missing", "everything", "nothing"}


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
    plain = operator.removesuffix(OR_MISSING) if isinstance(operator, str) else operator
    if plain not in (*BOUNDS, "==", "!=", *_LISTED):
        raise BadInput(f"Operator {operator!r} on feature {feature!r} is not in the rule grammar.")
    name = feature if _WORD.fullmatch(feature) and feature not in _RESERVED else quoted(feature)
    text = f"{name} {_joined(plain, map(_written, value if plain in _LISTED else (value,)))}"
    return text if plain == operator else f"({text}{OR_MISSING})"


def _joined(operator: str, values: Iterable[str]) -> str:
    """An operator with the texts of its values, in brackets if they are a list."""
    opening, closing = _LISTED.get(operator, ("", ""))
    return f"{operator} {opening}{', '.join(values)}{closing}"


_LISTED = {"in": ("{", "}"), "not in": ("{", "}"), "between": ("[", "]")}
_ASKS = {"==": "missing", "!=": "present"}


def _written(value: Any, bare: bool = False, rounded: bool = False) -> str:
    """A value as text; `bare` if texts need no quotes and whole numbers no point."""
    value = value.item() if isinstance(value, np.generic) and value.dtype.kind != "M" else value
    if isinstance(value, str):
        plain = bare and value.isprintable() and _PLAIN_TEXT.fullmatch(value)
        return value if plain and not _JOINS.search(value) and not are_typed(value) else quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if is_missing(value):
        return "missing"
    if isinstance(value, int | float):
        whole = bare and abs(value) < 1e15 and value == int(value)
        return str(int(value)) if whole else _rounded(value) if rounded and abs(value) < 1e6 else repr(value)
    moment = value if isinstance(value, Moment) else Moment.of(value)
    if moment is not None:
        return str(moment)
    raise WrongType(
        f"A rule cannot hold {value!r} ({type(value).__name__}): use a number, text, a date or True and False."
    )


def told(feature: str, written: Sequence[Triple], *, exact: bool, or_missing: bool = False) -> str:
    """What a condition asks of its feature, as people read it: two bounds in one, 3 < age <= 7; bounds rounded."""
    name = shown_name(feature)
    several = [value if isinstance(value, tuple) else (value,) for *_, value in written]
    texts = iter(shown_values([value for values in several for value in values], exact=exact))
    shown = [[next(texts) for _ in values] for values in several]
    operators = [
        shown_operator(operator, value, values[0]) if operator in BOUNDS else operator
        for (_, operator, value), values in zip(written, shown, strict=True)
    ]
    parts = [
        f"{name} {_joined(operator, values)}" if value is not None else f"{name} is {_ASKS[operator]}"
        for operator, (*_, value), values in zip(operators, written, shown, strict=True)
    ]
    if len(written) >= 2 and written[1][1] in BOUNDS:
        above = operators[0].replace(">", "<")
        parts[:2] = [f"{shown[0][0]} {above} {name} {operators[1]} {shown[1][0]}"]
    text = " and ".join(parts)
    return text if not or_missing else f"({text}){OR_MISSING}" if len(parts) > 1 else text + OR_MISSING


def shown_name(name: str) -> str:
    """A feature's name in a rule.

    Examples
    --------
    >>> shown_name("petal width (cm)"), shown_name("salt and pepper"), shown_name("5")
    ('petal width (cm)', '"salt and pepper"', '5')
    """
    plain = name.isprintable() and _PLAIN_NAME.fullmatch(name)
    return name if plain and not _WORDS.search(name) and name not in _NO_NAMES else quoted(name)


def shown_values(values: Sequence[Any], *, exact: bool) -> list[str]:
    """The values of one condition.

    Parameters
    ----------
    values : sequence
    exact : bool
        Whether numbers have all their digits; if not, those with more than eight have seven, as many as a tree's
        threshold has, unless two would look alike, and 0 for what trees do not tell from 0. Whole numbers stand
        without ".0".

    Examples
    --------
    >>> shown_values([0.1234567891, 5.0], exact=False), shown_values([0.1234567891, "37", "clerk"], exact=True)
    (['0.1234568', '5'], ['0.1234567891', '"37"', 'clerk'])
    """
    texts = [_written(value, bare=True, rounded=not exact) for value in values]
    return texts if len(set(texts)) == len(set(values)) else [_written(value, bare=True) for value in values]


def shown_operator(operator: str, bound: Any, shown: str) -> str:
    """The operator with which a rounded bound means the same for all numbers that have no more digits than it shows.

    XGBoost splits by ``x < 4``, and rows are read in single precision, so the exact bound is ``x <= 3.9999998``; that
    is shown as ``x < 4``, never as ``x <= 4``.

    Examples
    --------
    >>> shown_operator("<=", 3.99999988, "4"), shown_operator("<=", 4.00000012, "4"), shown_operator(">", 4.0, "4")
    ('<', '<=', '>')
    """
    if not isinstance(bound, float) or float(shown) == bound:
        return operator
    open_or_closed = {">": ">=", "<=": "<"} if float(shown) > bound else {">=": ">", "<": "<="}
    return open_or_closed.get(operator, operator)


def quoted(text: str) -> str:
    r"""A text in quotes that `json.loads` reads, all of whose characters can be seen.

    Examples
    --------
    >>> print(quoted("say \"no\"\x7f"))
    "say \"no\"\u007f"
    """
    written = json.dumps(text, ensure_ascii=False)
    return written if written.isprintable() else "".join(map(_escaped, written))


def _escaped(character: str) -> str:
    return character if visible(character) == character else json.dumps(character)[1:-1]


def _rounded(value: float) -> str:
    """Seven digits, or all if there are at most eight: a threshold in single precision has more.

    0 for numbers that single precision rounds to 0, and for the least that LightGBM tells from 0.
    """
    text = f"{value:.8g}"
    text = text if float(text) == value else f"{value:.7g}"
    return "0" if abs(value) < _LEAST_SINGLE or text.lstrip("-") == _LEAST_OF_LIGHTGBM else text


def are_typed(text: str) -> bool:
    """Whether every word of a text would be read as something other than a text: a number, or several."""
    return bool(text) and all(_TYPED.fullmatch(word) for word in text.split())


# -- the parser -------------------------------------------------------------------------------------------------------


def parse_rule(text: str, features: Iterable[str] | None = None) -> list[Triple]:
    """The conditions in a rule's text, as (feature, operator, value).

    A text that starts with ``[`` is read as JSON, a list of ``[feature, operator, value]`` with null for missing.

    Parameters
    ----------
    text : str
    features : iterable of str, optional
        Names that may stand bare whatever they hold: the longest that fits is read.

    Examples
    --------
    >>> parse_rule('age <= 37.0 and job == clerk')
    [('age', '<=', 37.0), ('job', '==', 'clerk')]
    >>> parse_rule("0.00 < petal width (cm) <= 0.80")
    [('petal width (cm)', '>', 0.0), ('petal width (cm)', '<=', 0.8)]
    >>> parse_rule('[["age", "in", [1, null]]]')
    [('age', 'in', (1, None))]
    """
    return rule_reader(features)(text)


def rule_reader(features: Iterable[str] | None = None) -> Callable[[str], list[Triple]]:
    """`parse_rule` for many texts with the same features."""
    names = sorted({name for name in features or () if name}, key=len, reverse=True)
    known = f"(?:{'|'.join(map(re.escape, names))})" if names else r"(?!)"
    listed = re.compile(f"(?P<name>{known}){_OPERATOR}", re.DOTALL)

    def read(text: str) -> list[Triple]:
        if not isinstance(text, str):
            raise WrongType(f"A rule must be a text; got {text!r} ({type(text).__name__}).")
        if text.lstrip().startswith("["):
            return _parse_json(text)
        return [] if text.strip() in _ALL else _Parser(text, listed).rule()

    return read


def _parse_json(text: str) -> list[Triple]:
    with one_sentence("The rule starts like JSON, but is no list of [feature, operator, value] ({why}): write one."):
        triples = [(feature, operator, value) for feature, operator, value in json.loads(text)]
        if not all(isinstance(part, str) for triple in triples for part in triple[:2]):
            raise TypeError("features and operators are texts")
    return [(name, operator, tuple(it) if isinstance(it, list) else it) for name, operator, it in triples]


# -- one pass over the text of a rule ---------------------------------------------------------------------------------


_TEXT = r'"(?:[^"\\]|\\.)*"'
_ORDER = r"<=|>=|≤|≥|<|>"
_SIGN = rf"{_ORDER}|==|!=|≠|="
_JOIN = r"(?:and(?![\w.\-])|&&?|∧|,|;)"  # where one has to follow
_OR = r"\s*\bor\s+missing(?![\w.\-])"
_END = rf"(?=\s*(?:\Z|\)|{_JOIN}|or\s+missing(?![\w.\-])))"
_IS = rf"is\s+(?:missing|present|not\s+missing){_END}"
_LISTS = r"(?:not\s+in|in)(?=\s*[{\[(\]])|between(?=\s*[\[(])"
_OPERATOR = rf"\s*(?P<operator>{_SIGN}|(?<![\w.\-])(?:{_IS}|{_LISTS}))\s*"
_BARE = r'(?:(?!\s+and\s)[^"<>=!≤≥≠{},;&∧])+?'  # a name up to its operator
_WANTED = 'a number, a text in "", a date, true, false or missing'


def _pattern(text: str) -> "re.Pattern[str]":
    return re.compile(text, re.DOTALL | re.IGNORECASE)


_QUOTED = _pattern(_TEXT)
_SINGLE = _pattern(rf"'((?:[^'\\]|\\.)*)'{_END}")
_SPACE, _JOINED, _OR_MISSING, _OPERATES = map(_pattern, (r"\s*", rf"\s*{_JOIN}\s*", _OR, _OPERATOR))
_LEFT = _pattern(rf"(?P<low>(?:{WRITTEN}|{NUMBER}))\s*(?P<above>{_ORDER})\s*")
_BOUND = _pattern(rf"(?:{WRITTEN}(?![\w.\-:])|{NUMBER}|(?:true|false|missing)(?![\w.\-]))")
_STOP = _pattern(rf"[()]|{_OR}|\s+and(?=[\s(])\s*|\s*(?:&&?|∧|,|;)\s*")  # where a bare value may end
_ANY_NAME = _pattern(f"(?P<name>{_TEXT}|{_BARE}){_OPERATOR}")
_END_OF_RANGE = rf"{WRITTEN}|{NUMBER}"
_RANGE = _pattern(
    rf"(?!\[[^\[\]]*\])(?P<left>[\[\]])\s*(?P<low>{_END_OF_RANGE})\s*,\s*(?P<high>{_END_OF_RANGE})\s*(?P<right>[\[\]])"
)
_COMMA, _OPENING, _CLOSING, _ENDS = map(_pattern, (r"\s*,", r"[\s(]*", r"\)", _END))
_SIGN_INSIDE = _pattern(rf"\S\s+(?:{_SIGN})|==|\s{_OR}|(?:^|\s)or\s")


def _list_parts(closing: str) -> "tuple[re.Pattern[str], re.Pattern[str]]":
    """One value of a list, and the list's end."""
    end = re.escape(closing)
    quoted = rf"{_TEXT}|'(?:[^'\\]|\\.)*'(?=\s*[,{end}])"
    return _pattern(rf"\s*(?:(?P<quoted>{quoted})|(?P<bare>[^,\"{end}]*))\s*"), _pattern(rf"\s*{end}")


_LIST_PARTS = {opening: _list_parts(closing) for opening, closing in ("{}", "[]", "()")}


def _misread(text: str, place: int, what: str) -> BadInput:
    """What is wrong with a rule, and where."""
    excerpt = text[max(0, place - 20) : place] + "⟪here⟫" + text[place : place + 20]
    return BadInput(f"The rule {excerpt!r} cannot be read at character {place + 1}: it has {what}.")


def _operator(written: str) -> str:
    plain = " ".join(written.lower().split())
    return SPELLINGS.get(plain, plain)


class _Parser:
    """One pass over the text of a rule.

    Parameters
    ----------
    text : str
    listed : pattern
        A name of the caller's, the longest that fits, and its operator; any other stands in quotes, or bare.
    """

    def __init__(self, text: str, listed: "re.Pattern[str]") -> None:
        self.text, self.listed, self.place, self.depth = text, listed, 0, 0

    def rule(self) -> list[Triple]:
        """The conditions of the whole text."""
        triples = self._conjunction()
        if self.place < len(self.text):
            raise self._wrong("'and'")
        return triples

    def _match(self, *patterns: "re.Pattern[str]") -> "re.Match[str] | None":
        """Go past what the first of the patterns that matches here matches, if one does."""
        match = next((match for pattern in patterns if (match := pattern.match(self.text, self.place))), None)
        if match is not None:
            self.place = match.end()
        return match

    def _wrong(self, wanted: str, place: int | None = None) -> BadInput:
        at = self.place if place is None else place
        at += len(self.text[at:]) - len(self.text[at:].lstrip())
        if self.text.startswith('"', at) and not _QUOTED.match(self.text, at):
            return _misread(self.text, at, "a text that is never closed")
        seen = re.match(r"[\w.\-]+|.|\Z", self.text[at:], re.DOTALL)
        what = repr(seen[0]) if seen and seen[0] else "its end"
        return _misread(self.text, at, f"{what} instead of {wanted}")

    def _conjunction(self) -> list[Triple]:
        triples = self._term()
        while self._match(_JOINED):
            triples += self._term()
        self._match(_SPACE)
        return triples

    def _term(self) -> list[Triple]:
        self._match(_SPACE)
        if self.text.startswith("(", self.place) and not self.listed.match(self.text, self.place):
            self.place, self.depth = self.place + 1, self.depth + 1
            if self.depth > 50:
                raise _misread(self.text, self.place, "too many parentheses in one another")
            triples = self._conjunction()
            if not self._match(_CLOSING):
                raise self._wrong("')'")
            self.depth -= 1
        else:
            triples = self._test()
        place = self.place
        if self._match(_OR_MISSING):
            if len({feature for feature, *_ in triples}) > 1:
                raise _misread(self.text, place, "'or missing' after conditions on several features")
            triples = [(name, operator.removesuffix(OR_MISSING) + OR_MISSING, it) for name, operator, it in triples]
        return triples

    def _test(self) -> list[Triple]:
        """``3 < age <= 7``, or a test that begins with a name."""
        start, left = self.place, self._match(_LEFT)
        name = left and self._match(self.listed, _ANY_NAME)
        operator = name and _operator(name["operator"])
        if left and name and operator in BOUNDS:
            above = _operator(left["above"])
            if above[0] != operator[0]:
                said = f"{operator!r} after {above!r}: two bounds point one way"
                raise _misread(self.text, name.start("operator"), said)
            feature = self._feature(name)
            return [(feature, _TURNED[above], self._typed(left["low"], start)), (feature, operator, self._bound())]
        self.place = start
        name = self._match(self.listed, _ANY_NAME)
        if name is None:
            quoted = self._match(_QUOTED)
            signs = "one of <= < >= > == != in, not in, between, is missing"
            raise self._wrong(signs if quoted else "a feature with an operator such as <= or ==")
        feature, operator = self._feature(name), _operator(name["operator"])
        if operator.startswith("is "):
            return [(feature, "==" if operator == "is missing" else "!=", None)]
        within = self._match(_RANGE) if operator == "in" else None
        if within is not None:  # ]3, 7] is above 3, and 7 at most; both ends included would be a list of two values
            above, below = ">" if within["left"] == "]" else ">=", "<" if within["right"] == "[" else "<="
            low, high = (self._typed(within[end], within.start(end)) for end in ("low", "high"))
            return [(feature, above, low), (feature, below, high)]
        if self.text.startswith("{", self.place):
            operator = ANY_OF.get(operator, operator)
        if operator in _LISTED:
            return [(feature, operator, self._several(operator))]
        return [(feature, operator, self._bound() if operator in BOUNDS else self._value())]

    def _feature(self, match: "re.Match[str]") -> str:
        name, place = match["name"], match.start("name")
        if name.startswith('"') and match.re is not self.listed:
            return self._unquote(name, place)
        if name.strip() in _VALUES:
            raise self._wrong("a feature", place)
        return name.strip()

    def _several(self, operator: str) -> tuple[Any, ...]:
        """The values of a list in braces or brackets."""
        if self.text[self.place] not in _LIST_PARTS:
            raise self._wrong("'{'")
        pattern, closing = _LIST_PARTS[self.text[self.place]]
        self.place += 1
        values: list[Any] = []
        while not closing.match(self.text, self.place):
            if values and not self._match(_COMMA):
                raise self._wrong("','")
            start = self.place
            item = self._match(pattern)
            assert item is not None
            if item["quoted"] is not None:
                values.append(self._unquote(item["quoted"], item.start("quoted")))
            elif item["bare"].strip():
                values.append(self._typed(item["bare"].strip(), item.start("bare")))
            else:
                raise self._wrong(_WANTED, start)
        self._match(closing)
        if operator == "between" and len(values) != 2:
            self.place -= 1
            raise self._wrong("exactly two values of between")
        return tuple(values)

    def _bound(self) -> Any:
        """A value with an order: a number or a date; others are refused where conditions are made."""
        match = self._match(_QUOTED, _BOUND)
        if match is None:
            raise self._wrong(_WANTED)
        return (self._unquote if match.re is _QUOTED else self._typed)(match[0], match.start())

    def _value(self) -> Any:
        """A value that stands alone: quoted, or bare up to the end of its condition."""
        quoted = self._match(_QUOTED, _SINGLE)
        if quoted is not None:
            return self._unquote(quoted[0], quoted.start())
        start, end = self.place, self._bare_end()
        bare = self.text[start:end].strip()
        if not bare or bare.startswith('"'):
            raise self._wrong(_WANTED)
        if _SIGN_INSIDE.search(bare):
            raise _misread(
                self.text, start, f"{bare!r}, which is not one value: a text that has this in it is in quotes"
            )
        self.place = end
        return self._typed(bare, start)

    def _bare_end(self) -> int:
        """Where a bare value ends: before what can only follow it."""
        depth = 0
        for stop in _STOP.finditer(self.text, self.place):
            mark, after = stop[0].strip().lower(), stop.end()
            if mark == ")" and not depth and self.depth:
                return stop.start()
            if mark in ("(", ")"):
                depth = max(0, depth + (1 if mark == "(" else -1))
                continue
            if mark.startswith("or"):
                follows: tuple[re.Pattern[str], ...] = (_ENDS,)
            else:
                after, follows = _OPENING.match(self.text, after).end(), (self.listed, _ANY_NAME, _LEFT)  # type: ignore[union-attr]
            if any(pattern.match(self.text, after) for pattern in follows):
                return stop.start()
        return len(self.text)

    def _unquote(self, written: str, place: int) -> str:
        if written.startswith("'"):
            return re.sub(r"\\(.)", r"\1", written[1:-1])
        try:
            return str(json.loads(written, strict=False))
        except ValueError:
            raise _misread(self.text, place, "a text with an escape that JSON does not know") from None

    def _typed(self, bare: str, place: int) -> Any:
        """What a bare value is: a number, a date, true, false or missing; any other is a text."""
        if not _TYPED.fullmatch(bare):
            if are_typed(bare):
                raise self._wrong("','", place + len(bare.split()[0]))
            return bare
        try:
            return to_value(bare)
        except ValueError as why:
            raise _misread(self.text, place, str(why)) from None


def to_value(bare: str) -> Any:
    """What a bare text is that is one: a number, a date, true, false or missing; a ValueError if it cannot be."""
    if bare.lower() in _VALUES:
        return _VALUES[bare.lower()]
    if re.fullmatch(WRITTEN, bare):
        try:
            return Moment.parse(bare)
        except ValueError:
            raise ValueError("a date that does not exist") from None
    try:
        return float(bare) if re.search(r"[.eEiI]", bare) else int(bare)
    except ValueError:  # an integer of thousands of digits
        raise ValueError("a number with too many digits") from None


# -- one text per row, printed by this package, by lime or by anchor-exp ----------------------------------------------


_NOTHING = "nothing"  # what `describe` prints for a rule that no row satisfies
ROUNDED = "bounds are as printed, to 2 decimals, so that a rule may not cover the row that it explains"
_UNWEIGHED = "the weights of conditions were left out"
_PRINTED_BOUND = re.compile(rf"(?:[<>≤≥]=?\s*(?P<right>{NUMBER}))|(?:(?P<left>{NUMBER})\s*[<>≤≥])")
_TWO_DECIMALS = re.compile(r"[+-]?\d+\.\d\d")

Conditions = list[Triple]


def read_texts(rows: Any, features: Sequence[str] | None) -> tuple[list[Conditions], tuple[str, ...]]:
    """The conditions of each row, and how they were read.

    Parameters
    ----------
    rows : list of str, or of lists of str or of (str, weight)
        The rule of each row as one text, or as one text per condition.
    features : sequence of str, optional
    """
    if isinstance(rows, str):
        raise WrongType(f"Rules are a list with one text per row; got the text {rows!r}: pass [{rows!r}].")
    given = [_pieces(row, item) for row, item in enumerate(to_items(rows, "Rules, one text per row,"))]
    read = cache(rule_reader(features))
    conditions: list[Conditions] = []
    for row, (pieces, _) in enumerate(given):
        try:
            told = [[NEVER] if piece.strip() == _NOTHING else read(piece) for piece in pieces if piece.strip()]
        except BadInput as problem:
            raise type(problem)(f"Rules, row {row}: {problem}") from None
        conditions.append([triple for triples in told for triple in triples])
    named = [triple for triples in conditions for triple in triples]
    if not features and named and all(triple == NEVER for triple in named):
        raise BadInput("Rules that hold on nothing, and name no feature: pass features=, the names of the columns.")
    texts = dict.fromkeys(piece for pieces, _ in given for piece in pieces)
    empty = sum(not "".join(pieces).strip() for pieces, _ in given)
    remarks = [ROUNDED] if _are_rounded(texts) else []
    remarks += [f"{empty:,} of {len(given):,} rows have no condition, and cover every row"] if empty else []
    remarks += [_UNWEIGHED] if any(weighed for _, weighed in given) else []
    return conditions, tuple(remarks)


def _pieces(row: int, item: Any) -> tuple[tuple[str, ...], bool]:
    """The texts of one row's conditions, and whether they had weights."""
    pieces = list(item) if isinstance(item, list | tuple) else [item]
    weighed = bool(pieces) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pieces)
    if weighed and all(isinstance(text, str) and is_real(weight) for text, weight in pieces):
        return tuple(text for text, _ in pieces), True
    if not all(isinstance(piece, str) for piece in pieces):
        raise WrongType(
            f"Rules, row {row}: a rule is a text, or a list of one text per condition; got {item!r}. A rule that "
            "covers every row is 'everything'."
        )
    return tuple(pieces), False


def _are_rounded(texts: Iterable[str]) -> bool:
    """Whether all bounds have two decimals, as lime and anchor-exp print them."""
    bounds = [match["left"] or match["right"] for text in texts for match in _PRINTED_BOUND.finditer(text)]
    return bool(bounds) and all(_TWO_DECIMALS.fullmatch(bound) for bound in bounds)
