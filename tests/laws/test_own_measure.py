"""The measure that the design page writes in twenty lines is what brute force says it is."""

import re
from pathlib import Path

import numpy as np

import faithscope as fs

PAGE = Path(__file__).parents[2] / "docs/design.md"


def test_the_measure_of_the_design_page_is_the_mean_over_pairs_of_rows_given_different_explanations():
    page = PAGE.read_text()
    code = re.search(r"## A measure of one's own.*?```python\n(.*?)^```$", page, re.S | re.M)[1]
    assert len(code[code.index("def transfer") : code.index("x = np")].strip().splitlines()) <= 20
    shown = {}
    exec(code, shown)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(30, 120))
        x, given = rng.integers(0, 20, n), rng.integers(1, 20, n)
        labels = rng.random(n) < x / 20
        rules = fs.Rules.parse([f"x <= {bound}" for bound in given], features=["x"])
        terms, silent = [], 0
        for i in range(n):
            others = (x <= given[i]) & (given != given[i])
            silent += not others.any()
            same = given == given[i]  # pairs of all rows that were given it
            agreeing = [np.mean(labels[others] == label) for label in labels[same]] if others.any() else [0.0]
            terms.append(np.mean(agreeing))
        found = shown["transfer"](rules, labels, x[:, None])
        assert abs(found.value - np.mean(terms)) < 1e-12
        assert found.unverifiable == silent / n
        assert found.low < found.value < found.high
