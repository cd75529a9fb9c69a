"""Results in a terminal: nothing is wider than 100 columns, and nothing is lost."""

from hypothesis import given
from hypothesis import strategies as st

from faithscope.sinks.lines import WIDTH, in_lines, several_in_lines

words = st.lists(st.sampled_from(["a", "of rows", "n=1,000", "x" * 30, "y" * 140]), min_size=1, max_size=12)
clauses = st.lists(words.map(" ".join), min_size=1, max_size=6).map("; ".join)


@given(clauses, st.lists(words.map(" ".join), max_size=3))
def test_lines_are_narrow_and_keep_every_letter(line, notes):
    told = in_lines(line, notes)
    assert max(map(len, told.splitlines())) <= WIDTH
    expected = line + "".join(f"note: {note}" for note in notes)
    assert "".join(told.split()) == "".join(expected.split())


def test_a_note_on_several_results_is_told_once_with_their_names():
    told = several_in_lines([("a", "a 0.5", ["few"]), ("b", "b 0.1", ["few"]), ("c", "c 0.2", [])])
    assert told == "a 0.5\nb 0.1\nc 0.2\n  note on a, b: few"
    assert several_in_lines([("a", "a 0.5", ["few"]), ("b", "b 0.1", ["few"])]).endswith("  note: few")
