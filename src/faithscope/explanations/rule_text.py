"""The rule grammar: a conjunction of conditions as one line of text, written and read back exactly, never evaluated.

::

    rule       =  "true"  |  "everything"  |  "nothing"  |  conditions
    conditions =  condition { ( "and" | "&" | "," | ";" ) condition }
    condition  =  test [ "or missing" ]  |  "(" conditions ")" [ "or missing" ]
    test       =  feature operator value  |  number order feature order number
               |  feature ( "in" | "not in" ) "{" [ value { "," value } ] "}", or in [ ] or ( )
               |  feature "between" "[" value "," value "]"
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
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.checks import one_sentence
from faithscope.inputs.dates import WRITTEN, Moment
from faithscope.inputs.missing import is_missing

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
_TURNED = {"<": ">", ">": "<"}
ANY_OF = {"==": "in", "!=": "not in"}  # before a list
NUMBER = r"[+-]?(?:inf(?![\w.\-])|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
_TYPED = re.compile(rf"{WRITTEN}|{NUMBER}|true|True|false|False|missing")  # read as something other than a text
_WHOLE: dict[str, list[Triple]] = {"true": [], "everything": [], "nothing": [NEVER]}  # rules in one word
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
_LISTED = {"in": ("{", "}"), "not in": ("{", "}"), "between": ("[", "]")}  # the brackets of their values


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
    plain = str(operator).removesuffix(OR_MISSING)
    if plain not in (*BOUNDS, *ANY_OF, *_LISTED):
        raise BadInput(f"Operator {operator!r} on feature {feature!r} is not in the rule grammar.")
    name = feature if _WORD.fullmatch(feature) and feature not in _RESERVED else quoted(feature)
    text = f"{name} {joined(plain, value)}"
    return text if plain == operator else f"({text}{OR_MISSING})"


def joined(operator: str, value: Any, bare: bool = False) -> str:
    """An operator with the text of its value, or in brackets with those of its values."""
    if operator not in _LISTED:
        return f"{operator} {written(value, bare)}"
    opening, closing = _LISTED[operator]
    return f"{operator} {opening}{', '.join(written(each, bare) for each in value)}{closing}"


def written(value: Any, bare: bool = False, rounded: bool = False) -> str:
    """A value as text; `bare` if texts need no quotes and whole numbers no point."""
    value = value.item() if isinstance(value, np.generic) and value.dtype.kind != "M" else value
    if isinstance(value, str):
        plain = bare and value.isprintable() and _PLAIN_TEXT.fullmatch(value)
        return value if plain and not _JOINS.search(value) and not _TYPED.fullmatch(value) else quoted(value)
    if isinstance(value, bool):
        return str(value).lower()
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


def _rounded(value: float) -> str:
    """Seven digits, or all if there are at most eight: a threshold in single precision has more.

    0 for numbers that single precision rounds to 0, and for the least that LightGBM tells from 0.
    """
    text = f"{value:.8g}"
    text = text if float(text) == value else f"{value:.7g}"
    return "0" if abs(value) < _LEAST_SINGLE or text.lstrip("-") == _LEAST_OF_LIGHTGBM else text


def shown_name(name: str) -> str:
    """A feature's name in a rule.

    Examples
    --------
    >>> shown_name("petal width (cm)"), shown_name("salt and pepper"), shown_name("5")
    ('petal width (cm)', '"salt and pepper"', '5')
    """
    plain = name.isprintable() and _PLAIN_NAME.fullmatch(name) and not _WORDS.search(name)
    return name if plain else quoted(name)


def shown_operator(operator: str, bound: Any, shown: str) -> str:
    """The operator with which a rounded bound means the same for all numbers that have no more digits than it shows.

    XGBoost splits by ``x < 4``, and rows are read in single precision, so the exact bound is ``x <= 3.9999998``; that
    is shown as ``x < 4``, never as ``x <= 4``.
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
    return written if written.isprintable() else json.dumps(text).replace("\x7f", r"\u007f")


# -- the parser -------------------------------------------------------------------------------------------------------

_TEXT = r'"(?:[^"\\]|\\.)*"'
_ORDER = r"<=|>=|≤|≥|<|>"
_SIGN = rf"{_ORDER}|==|!=|≠|="
_JOIN = r"\s*(?:and(?![\w.\-])|&&?|∧|,|;)"  # where one has to follow
_OR = r"\s*\bor\s+missing(?![\w.\-])"
_END = rf"(?=\s*(?:\Z|\)|{_JOIN}|{_OR}))"
_IS = rf"is\s+(?:missing|present|not\s+missing){_END}"
_LISTS = r"(?:not\s+in|in|between)(?=\s*[{\[(])"
_OPERATOR = rf"(?:{_SIGN}|(?<![\w.\-])(?:{_IS}|{_LISTS}))"
_BARE_NAME = r'(?![\s(])(?:(?!\s+and\s)[^"<>=!≤≥≠{},;&∧])+?'  # up to its operator
_SINGLE = r"'(?:[^'\\]|\\.)*'"
_QUOTED = rf"{_TEXT}|{_SINGLE}(?=\s*(?:\Z|[,;&∧)\]}}]|(?:and|or)\b))"
_LIMIT = rf"{WRITTEN}|{NUMBER}"
_SIGN_INSIDE = rf"\S\s+(?:{_SIGN})|==|\s{_OR}|(?:^|\s)or\s"
_CLOSING = {"{": "}", "[": r"\]", "(": r"\)"}
_VALUE = 'a number, a text in "", a date, true, false or missing'
_DEEPEST = 50  # parentheses in one another


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
    return RuleReader(features)(text)


class RuleReader:
    """`parse_rule` for many texts with the same features: one pass over each."""

    def __init__(self, features: Iterable[str] | None = None) -> None:
        self.names = {name for name in features or () if name}
        known = "|".join(map(re.escape, sorted(self.names, key=len, reverse=True))) or "(?!)"
        name = rf"(?:(?-i:{known})|{_TEXT}|{_BARE_NAME})"
        self.both = rf"\s*(?P<low>{_LIMIT})\s*(?P<above>{_ORDER})\s*(?P<name>{name})\s*(?P<below>{_ORDER})"
        self.both += rf"\s*(?P<high>{_LIMIT}){_END}"
        self.test = rf"\s*(?P<name>{name})\s*(?P<operator>{_OPERATOR})\s*"
        # A bare value ends before what can only be the next condition.
        follows = rf"(?:\s+and(?=[\s(])|\s*(?:&&?|∧|,|;))[\s(]*(?:{name}\s*{_OPERATOR}|(?:{_LIMIT})\s*(?:{_ORDER}))"
        self.bare = rf'(?:{_LIMIT}){_END}|(?:[^()"]|\([^()"]*\))*?(?=\s*(?:\Z|\)|{_OR}{_END}|{follows}))'

    def __call__(self, text: str) -> list[Triple]:
        if not isinstance(text, str):
            raise WrongType(f"A rule must be a text; got {text!r} ({type(text).__name__}).")
        if text.lstrip().startswith("["):
            with one_sentence(
                "The rule starts like JSON, but is no list of [feature, operator, value] ({why}): write one."
            ):
                plain = str.__str__  # which takes texts alone
                given = [(plain(name), plain(operator), value) for name, operator, value in json.loads(text)]
            return [(name, operator, tuple(it) if isinstance(it, list) else it) for name, operator, it in given]
        if text.strip() in _WHOLE:
            return [*_WHOLE[text.strip()]]
        self.text, self.place = text, 0
        triples = self.conjunction(0)
        if not self.match(r"\s*\Z"):
            raise self.wrong("'and'")
        return triples

    def match(self, pattern: str) -> "re.Match[str] | None":
        """Go past what the pattern matches here, if it does."""
        match = re.compile(pattern, re.DOTALL | re.IGNORECASE).match(self.text, self.place)
        self.place = self.place if match is None else match.end()
        return match

    def wrong(self, wanted: str) -> BadInput:
        """What should stand here, and where that is."""
        self.match(r"\s*")
        excerpt = f"{self.text[max(0, self.place - 20) : self.place]}⟪here⟫{self.text[self.place : self.place + 20]}"
        return BadInput(f"The rule {excerpt!r} cannot be read: at character {self.place + 1} should stand {wanted}.")

    def conjunction(self, depth: int) -> list[Triple]:
        triples = self.term(depth)
        while self.match(_JOIN):
            triples += self.term(depth)
        return triples

    def term(self, depth: int) -> list[Triple]:
        """A condition, or several in parentheses; ``or missing`` may follow."""
        triples = self.condition()
        if not triples:
            if depth >= _DEEPEST or not self.match(r"\s*\("):
                raise self.wrong("a feature with an operator such as <= or ==, and a value")
            triples = self.conjunction(depth + 1)
            if not self.match(r"\s*\)"):
                raise self.wrong("')'")
        if not self.match(_OR):
            return triples
        if len({feature for feature, *_ in triples}) > 1:
            raise self.wrong("no 'or missing' before this, since the conditions are on several features, but something")
        return [(name, operator.removesuffix(OR_MISSING) + OR_MISSING, it) for name, operator, it in triples]

    def condition(self) -> list[Triple]:
        """``3 < age <= 7`` as two, or a test that begins with a name; none if there is no operator."""
        both = self.match(self.both)
        if both is not None:
            name, above, below = self.name(both), SPELLINGS[both["above"]], SPELLINGS[both["below"]]
            if above[0] != below[0]:
                raise self.wrong("two bounds that point the same way before this, and something")
            low, high = (self.typed(both[end]) for end in ("low", "high"))
            return [(name, above.replace(above[0], _TURNED[above[0]]), low), (name, below, high)]
        test = self.match(self.test)
        if test is None:
            return []
        name, written = self.name(test), " ".join(test["operator"].lower().split())
        if written.startswith("is "):
            return [(name, "==" if written == "is missing" else "!=", None)]
        operator = SPELLINGS[written]
        opening = self.text[self.place : self.place + 1]
        operator = ANY_OF.get(operator, operator) if opening == "{" else operator
        return [(name, operator, self.several(_CLOSING[opening]) if operator in _LISTED else self.value(self.bare))]

    def name(self, match: "re.Match[str]") -> str:
        name = match["name"]
        return str(self.typed(name)) if name.startswith('"') and name not in self.names else name

    def several(self, closing: str) -> tuple[Any, ...]:
        """The values of a list in braces, brackets or parentheses."""
        values: list[Any] = []
        self.place += 1
        while not self.match(rf"\s*{closing}"):
            if values and not self.match(r"\s*,"):
                raise self.wrong("','")
            values.append(self.value(rf'[^,"{closing}]*'))
        return tuple(values)

    def value(self, bare: str) -> Any:
        """A value, quoted or bare."""
        self.match(r"\s*")
        start, match = self.place, self.match(_QUOTED)
        if match is None:
            match = self.match(bare)
            if match is None or not match[0].strip() or re.search(_SIGN_INSIDE, match[0].strip(), re.IGNORECASE):
                self.place = start
                raise self.wrong(f"{_VALUE}, or a text without signs, 'and' and 'or'")
        return self.typed(match[0].strip())

    def typed(self, written: str) -> Any:
        try:
            return to_value(written)
        except ValueError:
            self.place -= len(written)
            text = "a text with no escapes but those of JSON"
            bare = "a date that there is, or a number with fewer digits"
            raise self.wrong(text if written.startswith('"') else bare) from None


def to_value(written: str) -> Any:
    """What a text in quotes says; of a bare one a number, a date, true, false, missing or a text; or a ValueError."""
    if re.fullmatch(_TEXT, written, re.DOTALL):
        return str(json.loads(written, strict=False))
    if re.fullmatch(_SINGLE, written, re.DOTALL):
        return re.sub(r"\\(.)", r"\1", written[1:-1])
    if not _TYPED.fullmatch(written):
        return written
    if written.lower() in _VALUES:
        return _VALUES[written.lower()]
    if re.fullmatch(WRITTEN, written):
        return Moment.parse(written)
    return float(written) if re.search(r"[.eEiI]", written) else int(written)
