"""Names and values in the text of a condition: bare if they can be read back, else quoted as in JSON."""

import json
import re
from collections.abc import Sequence
from typing import Any

from faithscope.inputs.dates import WRITTEN, Moment
from faithscope.visible import visible

NUMBER = r"[+-]?(?:inf(?![\w.\-])|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
TYPED = re.compile(rf"{WRITTEN}|{NUMBER}|true|True|false|False|missing")  # read as something other than a text
_SIGNS = re.compile(r'["\\<>=!≤≥≠{}\[\],;&∧]')
_NAME_SIGNS = re.compile(r'["\\<>=!≤≥≠{},;&∧]')  # units stand in brackets: weight [kg]
_JOINS = re.compile(r"(?:^|\s)(?:and|or)(?:\s|$)", re.IGNORECASE)
_WORDS = re.compile(r"(?:^|\s)(?:and|or|in|not|is|between)(?:\s|$)", re.IGNORECASE)
_LEAST_SINGLE, _LEAST_OF_LIGHTGBM = 2.0**-149, "1e-35"
_NO_NAMES = {"true", "false", "missing", "everything", "nothing"}


def shown_name(name: str) -> str:
    """A feature's name in a rule.

    Examples
    --------
    >>> shown_name("petal width (cm)"), shown_name("salt and pepper"), shown_name("5")
    ('petal width (cm)', '"salt and pepper"', '5')
    """
    bare = _is_plain(name, _NAME_SIGNS) and not _WORDS.search(name) and name not in _NO_NAMES
    return name if bare and not name.startswith("[") and _balanced(name, "[]") else quoted(name)


def shown_values(values: Sequence[Any], *, exact: bool) -> list[str]:
    """The values of one condition.

    Parameters
    ----------
    values : sequence
    exact : bool
        Whether numbers have all their digits; if not, seven, as many as a tree's threshold has, unless two would
        look alike, and 0 for what trees do not tell from 0. Whole numbers stand without ".0".

    Examples
    --------
    >>> shown_values([0.1234567891, 5.0], exact=False), shown_values([0.1234567891, "37", "clerk"], exact=True)
    (['0.1234568', '5'], ['0.1234567891', '"37"', 'clerk'])
    """
    texts = [_shown(value, exact) for value in values]
    return texts if len(set(texts)) == len(set(values)) else [_shown(value, exact=True) for value in values]


def shown_operator(operator: str, bound: Any, shown: str) -> str:
    """The operator with which a rounded bound means the same for all numbers that have no more digits than it shows.

    XGBoost splits by ``x < 4``, and rows are read in single precision, so the exact bound is ``x <= 3.9999999``; that
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


def _shown(value: Any, exact: bool) -> str:
    if value is None:
        return "missing"
    if isinstance(value, str):
        bare = _is_plain(value, _SIGNS) and not _JOINS.search(value) and not are_typed(value)
        return value if bare else quoted(value)
    if isinstance(value, int | Moment):
        return str(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return _rounded(value) if abs(value) < 1e6 and not exact else repr(value)


def _rounded(value: float) -> str:
    """Seven digits; 0 for numbers that single precision rounds to 0, and for the least that LightGBM tells from 0."""
    text = f"{value:.7g}"
    return "0" if abs(value) < _LEAST_SINGLE or text.lstrip("-") == _LEAST_OF_LIGHTGBM else text


def _is_plain(text: str, signs: "re.Pattern[str]") -> bool:
    """Whether a text has no sign of the grammar in it, and nothing hidden."""
    if not text.isprintable() or text != text.strip() or text[:1] in ("", "'", "("):
        return False
    return not signs.search(text) and _balanced(text, "()")


def are_typed(text: str) -> bool:
    """Whether every word of a text would be read as something other than a text: a number, or several."""
    return bool(text) and all(TYPED.fullmatch(word) for word in text.split())


def _balanced(text: str, pair: str) -> bool:
    opening, closing = pair[0], pair[1]
    depth = 0
    for character in text:
        depth += (character == opening) - (character == closing)
        if depth < 0:
            return False
    return depth == 0
