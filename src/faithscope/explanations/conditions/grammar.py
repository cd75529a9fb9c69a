"""The rule grammar: a conjunction of conditions as one line of text, written and read back exactly, never evaluated.

::

    rule       =  "true"  |  "everything"  |  conditions
    conditions =  condition { ( "and" | "&" | "," | ";" ) condition }
    condition  =  test [ "or missing" ]  |  "(" conditions ")" [ "or missing" ]
    test       =  feature operator value  |  number order feature [ order number ]
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
import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.conditions.condition import OR_MISSING, Triple
from faithscope.explanations.conditions.parser import Names, Parser
from faithscope.inputs.dates import Moment
from faithscope.inputs.missing import is_missing

_WORD = r"[^\W\d][\w]*(?:[.\-][\w]+)*"
_RESERVED = {"and", "in", "not", "between", "is", "true", "false", "missing", "inf"}
_COMPARE = ("<=", "<", ">=", ">", "==", "!=")
_ALL = {"true", "everything"}  # a rule that covers all rows


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
    names = Names.of(features)

    def read(text: str) -> list[Triple]:
        if not isinstance(text, str):
            raise WrongType(f"A rule must be a text; got {text!r} ({type(text).__name__}).")
        if text.lstrip().startswith("["):
            return _parse_json(text)
        return [] if text.strip() in _ALL else Parser(text, names).rule()

    return read


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
