"""Rationales that hold conditions as JSON, or as Python's own dicts and lists, as rules."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import several
from faithscope.explanations.conditions.condition import NOTHING, Triple, conjoin
from faithscope.explanations.conditions.conjunctions import Conjunction, number_conjunctions
from faithscope.explanations.conditions.features import default_names
from faithscope.explanations.conditions.written import to_condition
from faithscope.explanations.rules import Rules
from faithscope.explanations.structured.columns import Columns
from faithscope.explanations.structured.json_texts import adjoining_values
from faithscope.explanations.structured.statements import is_structured, may_be_condition, triples_of
from faithscope.explanations.structured.unreadable import CHOICES, Problems, Unreadable
from faithscope.inputs.checks import check_word

_ADVICE = (
    'Write {"feature": "age", "op": "<=", "value": 37}, or a list of such objects; '
    'fs.Reasons(texts).to_rules(unreadable="uncovered") counts such rows as unverifiable, fs.Reasons(texts) compares '
    "texts as they are, and rules in words are read by fs.Rules.parse."
)


def structured_rules(rationales: Iterable[Any], features: Any, unreadable: str) -> Rules:
    """One rule per rationale.

    Parameters
    ----------
    rationales : iterable of str, dict or list
    features : sequence of names, a table of rows, or None
    unreadable : {"error", "uncovered"}
    """
    check_word(unreadable, "unreadable", CHOICES)
    columns, problems = Columns.of(features), Problems()
    read = _reader(columns)
    rows: list[list[Triple] | None] = []
    for row, given in enumerate(rationales):
        triples, habits = read(given)
        problems.habits.update(habits)
        if isinstance(triples, Unreadable):
            problems.rows[row] = str(triples)
        rows.append(None if isinstance(triples, Unreadable) else triples)
    return _rules(rows, columns, problems, unreadable)


def _rules(rows: list[list[Triple] | None], columns: Columns, problems: Problems, unreadable: str) -> Rules:
    named = dict.fromkeys(str(name) for triples in rows if triples for name, *_ in triples)
    names = tuple(named) if columns.names is None else columns.names
    places = {name: place for place, name in enumerate(names)}
    conjunctions: list[Conjunction] = [(NOTHING,)] * len(rows)
    for row, triples in enumerate(rows):
        if triples is not None:
            try:
                conjunctions[row] = conjoin(to_condition(places[name], name, *test) for name, *test in triples)
            except BadInput as why:
                problems.rows[row] = str(why).rstrip(".")
    problems.rows = dict(sorted(problems.rows.items()))
    remarks = problems.settle(len(rows), unreadable, _ADVICE)
    distinct, codes = number_conjunctions(conjunctions)
    rules = Rules(codes, distinct, names or default_names(0), positional=columns.names is not None or not names)
    return rules._with(remarks=(*remarks, *_habits(problems.habits), *_unconditional(rows)))


def _reader(columns: Columns) -> Callable[[Any], tuple[list[Triple] | Unreadable, Counter[str]]]:
    """A function from a rationale to its conditions or why it has none, and its habits."""
    known: dict[str, tuple[list[Triple] | Unreadable, Counter[str]]] = {}

    def read(given: Any) -> tuple[list[Triple] | Unreadable, Counter[str]]:
        if isinstance(given, str) and given in known:
            return known[given]
        habits: Counter[str] = Counter()
        triples: list[Triple] | Unreadable
        try:
            triples = [columns.placed(triple, habits) for triple in _triples(given, habits)]
        except Unreadable as why:
            triples = why
        if isinstance(given, str):
            known[given] = triples, habits
        return triples, habits

    return read


def _triples(given: Any, habits: Counter[str]) -> list[Triple]:
    if not isinstance(given, str):
        return triples_of(_plain(given), habits)
    values = adjoining_values(given, lambda value: value == [] or is_structured(value) or may_be_condition(value))
    if not values:
        raise Unreadable(f"it holds no conditions as JSON ({given[:60]!r})")
    return [triple for value in values for triple in triples_of(value, habits)]


def _plain(given: Any) -> Any:
    """Arrays, as Arrow's and polars' tables give lists, as lists."""
    return given.tolist() if isinstance(given, np.ndarray) and given.ndim else given


def _habits(habits: Counter[str]) -> list[str]:
    return [f"{sentence} ({several(count, 'time', 'times')})" for sentence, count in habits.most_common(5)]


def _unconditional(rows: list[list[Triple] | None]) -> tuple[str, ...]:
    empty = sum(triples == [] for triples in rows)
    told = f"{several(empty, 'rationale names', 'rationales name')} no condition, so every row is covered by it"
    return (told,) if empty else ()
