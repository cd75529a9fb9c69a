"""The harnesses that atheris runs, driven by mutated bytes: nothing but a valid reading or one sentence."""

import importlib.util
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzz.outcomes import TRIED, budget, within_patience

FOLDER = Path(__file__).parents[2] / "fuzz"
RULES = (
    b'age <= 37.0 and job in {"clerk", missing} and "odd name; --" > -0.0',
    b'[["age", "in", [1, null]], ["x", "between", [0, 1e400]]]',
    b"x between [-inf, inf] and y not in {true, false} and z != missing",
    b"true",
)
LOGS = (
    *(bytes([0]) + lines for lines in (b"1,2\n0,3\n", b'"a",\n', b"\xff,1\n", b"nan,inf\n1,-0.0\n")),
    *(
        bytes([1]) + lines
        for lines in (b'{"yhat": 1, "e": "a"}\n{"yhat": 1, "e": "a"}\n', b'{"yhat": [1], "e": {}}', b"{")
    ),
    *(bytes([2, kind]) for kind in range(8)),
    *(bytes([3, kind]) + b'{"version": 1, "kind": "Plain", "columns": ["explanation"]}' for kind in range(8)),
    *(bytes([4 + 5 * kind]) + b"x0 <= 3\nx0 <= 3\ntrue" for kind in range(7)),
)


def harness(name):
    spec = importlib.util.spec_from_file_location(f"fuzz_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@st.composite
def mutated(draw, seeds):
    """One of these with some bytes replaced, inserted or left out; or the beginning of one and the end of another."""
    data = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(data)))
        change = draw(st.sampled_from(["replace", "insert", "cut", "splice", "end"]))
        piece = draw(st.binary(min_size=1, max_size=3))
        if change == "splice":
            piece = draw(st.sampled_from(seeds))[-8:]
        gone = {"replace": len(piece), "cut": draw(st.integers(1, 8)), "end": len(data)}.get(change, 0)
        data[place : place + gone] = b"" if change in ("cut", "end") else piece
    return bytes(data)


@pytest.mark.parametrize(
    ("name", "seeds", "examples"),
    [
        ("rule_grammar", RULES, 100),
        ("log_reader", LOGS[::4], 3),
        pytest.param("rule_grammar", RULES, 400, marks=pytest.mark.thorough),
        pytest.param("log_reader", LOGS, 30, marks=pytest.mark.thorough),
    ],
)
def test_mutated_bytes_are_read_or_refused_in_one_sentence(name, seeds, examples):
    one_input = harness(name).one_input

    def tried(data):
        ended = "anything else"
        try:
            with within_patience():
                ended = "answered" if one_input(data) else "refused"
        finally:
            TRIED["bytes as rules and logs", name, ended] += 1

    for seed in seeds:
        tried(seed)

    @budget(examples)
    @example(b"")
    @example(b"[" * 100_000)
    @example(b'"' * 999)
    @given(mutated(seeds))
    def fuzzed(data):
        tried(data)

    fuzzed()
