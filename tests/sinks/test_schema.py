"""What to_dict gives is JSON that keeps to the published schema, and the schema refuses what is no result."""

import copy
import json
from pathlib import Path

import pytest

from sink_examples import RESULTS, result

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "result.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def as_json(name):
    return json.loads(json.dumps(result(name).to_dict(), allow_nan=False))


def numbers_in(told, path=()):
    """Where the measured numbers of a result stand."""
    items = told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ()
    for key, value in items:
        yield from [(*path, key)] if key in ("value", "low", "n", "unverifiable") else numbers_in(value, (*path, key))


def changed(told, path, change):
    """A copy of a result in which one place was changed."""
    copied = copy.deepcopy(told)
    place = copied
    for key in path[:-1]:
        place = place[key]
    change(place, path[-1])
    return copied


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_every_result_keeps_to_the_schema(name):
    VALIDATOR.validate(as_json(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_a_mutilated_result_is_refused(name):
    told = as_json(name)
    places = list(numbers_in(told))[:12]
    assert places
    for path in places:
        without = changed(told, path, lambda place, key: place.pop(key))
        as_text = changed(told, path, lambda place, key: place.update({key: "0.5"}))
        beside = changed(told, path, lambda place, key: place.update(valeu=0.5))
        assert [VALIDATOR.is_valid(wrong) for wrong in (without, as_text, beside)] == [False, False, False], path


def test_a_share_above_one_is_refused():
    told = as_json("estimate")
    assert VALIDATOR.is_valid(told)
    assert not VALIDATOR.is_valid(told | {"unverifiable": 1.1})
    assert not VALIDATOR.is_valid(told | {"n": 0})


@pytest.mark.parametrize("definition", SCHEMA["$defs"])
def test_every_definition_is_used(definition):
    assert json.dumps(SCHEMA).count(f'"#/$defs/{definition}"') >= 1
