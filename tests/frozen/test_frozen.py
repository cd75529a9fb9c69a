"""No number moves unsaid: what every public measure answers over a grid is what is kept in ``numbers/``.

Where a change is meant, ``python tests/frozen/grid.py --write`` keeps the new numbers, in a commit of its own and with
a line "changes results" in the changelog.
"""

import pytest

from frozen.grid import NEEDS, NUMBERS, PARTS, answers, differences, kept, made_with, written


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=pytest.mark.thorough) if part == "logs" else part for part in PARTS]
)
def test_every_answer_is_what_it_was(part):
    if part in NEEDS:
        pytest.importorskip(NEEDS[part], reason=f"{NEEDS[part]} is not installed")
    before = kept(part)
    library = before.get("made with", {}).get("library")
    if library is not None and library != made_with(part):
        pytest.skip(f"these answers are of {library}; with {made_with(part)} keep them anew")
    told = differences(before, answers(part))
    assert not told, f"{len(told)} answers of {part!r} are not what they were:\n" + "\n".join(told[:40])


def test_each_kind_of_change_is_told_by_its_name():
    before = {"a": {"value": 0.5, "low": 0.4, "rows 0": "3 7", "rows 1": "7 3", "refused": "BadInput: No such column"}}
    assert differences(before, before) == []
    changed = {
        "value": (0.5 + 2e-10, "a, value: was 0.5, is 0.5000000002"),
        "low": (0.4 + 1e-6, "a, low: was 0.4, is 0.400001"),
        "rows 0": ("7 3", "a, rows 0: was '3 7', is '7 3'"),
        "refused": ("BadInput: No column", "a, refused: was 'BadInput: No such column', is 'BadInput: No column'"),
        "new": (1, "a, new: was 'nothing', is 1"),
    }
    for key, (value, told) in changed.items():
        assert differences(before, {"a": {**before["a"], key: value}}) == [told]
    assert differences(before, {"a": {**before["a"], "value": 0.5 + 5e-11, "low": 0.4 + 5e-10}}) == []
    assert differences(before, {"b": {}}) == ["a: no longer measured", "b: new"]
    assert differences(before, {"a": {**before["a"], "value": True}}) == ["a, value: was 0.5, is True"]


def test_what_is_kept_is_small_and_reads_back():
    assert {path.stem for path in NUMBERS.iterdir()} == set(PARTS)
    assert sum(path.stat().st_size for path in NUMBERS.iterdir()) < 2_000_000
    assert all(written(kept(part)) == (NUMBERS / f"{part}.txt").read_text() for part in PARTS)
