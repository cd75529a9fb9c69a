"""Reasons that people gave for e-SNLI's labels: how consistent, how repeatable, and beside a model's own words.

    FAITHSCOPE_DATA=folder python benchmarks/esnli.py            # a minute of one core; kept in results/esnli.txt
    FAITHSCOPE_DATA=folder python benchmarks/esnli.py --quick    # fewer rows; nothing is kept
    FAITHSCOPE_DATA=folder python benchmarks/esnli.py --plot docs/images    # the pictures of the page on reasons alone

The "prediction" of sections 1, 2 and 4 is the label of the data set: SNLI's annotators chose it, and others, who were
shown it, wrote down why. Section 3 has a model's predictions too. Cues and phrases were chosen on the development
split; every number is of the test split, whose rows are clustered by premise.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import esnli_tables as tables
from esnli_pictures import draw
from esnli_rows import splits
from ratios import describe_machine

KEPT = Path(__file__).parent / "results" / "esnli.txt"


def main() -> None:
    """Print the tables, and keep them."""
    quick = "--quick" in sys.argv
    dev, test = splits()
    if "--plot" in sys.argv:
        return draw(dev, test, Path(sys.argv[sys.argv.index("--plot") + 1]))
    if quick:
        test = test.take(np.arange(900))
    sections: dict[str, Callable[[], tables.Lines]] = {
        "1. The first person's reasons": lambda: tables.by_granularity(dev, test),
        "   A bound without a judge": lambda: tables.certificates(dev, test),
        "   Leakage": lambda: tables.leaks(dev, test),
        "2. Three people": lambda: tables.by_people(dev, test),
        "   Every two of them": lambda: tables.agreements(dev, test),
        "3. Beside a model": lambda: tables.beside_a_model(dev, test, 100 if quick else 2_000),
        "4. Embeddings (TF-IDF, 50 directions)": lambda: tables.by_embeddings(
            dev, test, (10,) if quick else (3, 10, 30, 100)
        ),
    }
    lines = [describe_machine(["faithscope", "numpy", "scipy", "scikit-learn"])]
    print(lines[0])
    for title, section in sections.items():
        for line in ("", title, *section()):
            print(line, flush=True)
            lines.append(line)
    if not quick:
        KEPT.write_text("\n".join([*lines, ""]))
    return None


if __name__ == "__main__":
    main()
