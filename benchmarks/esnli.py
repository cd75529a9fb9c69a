"""Reasons that people gave for e-SNLI's labels: how consistent, and how repeatable?

    FAITHSCOPE_DATA=folder python benchmarks/esnli.py            # a minute of one core; kept in results/esnli.txt
    FAITHSCOPE_DATA=folder python benchmarks/esnli.py --quick    # fewer rows; nothing is kept
    FAITHSCOPE_DATA=folder python benchmarks/esnli.py --plot docs/images    # the pictures of the page on reasons alone

The "prediction" is the label of the data set: SNLI's annotators chose it, and others, who were shown it, wrote down
why. Cues and phrases were chosen on the development split; every number is of the test split, whose rows are clustered
by premise.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import faithscope as fs
from faithscope import charts, datasets
from faithscope.charts.theme import LIGHT, theme
from ratios import HERE, describe_machine, options, tell

CODEBOOK = HERE.parent / "examples" / "esnli_codebook.json"
PEOPLE = (1, 2, 3)
NEGATION = {"negation": r"\b(?:not|nt|no|never|nobody|nothing|cannot|cant)\b"}


@dataclass(frozen=True, eq=False)
class Split:
    """One split: sentence pairs, their labels, and three reasons for each."""

    X: pd.DataFrame
    labels: pd.Series

    @property
    def premises(self):
        """The cluster of each row."""
        return self.X["premise"]

    def reasons(self, person=1):
        """The reason that the first, second or third person gave for each row."""
        return fs.Reasons(self.X[f"explanation_{person}"], inputs=self.X[["premise", "hypothesis"]])

    def take(self, rows):
        """Some of the rows."""
        rows = np.asarray(rows)
        return Split(self.X.iloc[rows].reset_index(drop=True), self.labels.iloc[rows].reset_index(drop=True))


def splits():
    """The development and the test split."""
    data_set = datasets.load("esnli")
    both, names = Split(data_set.X, pd.Series(data_set.y)), data_set.X["split"]
    return both.take(names == "dev"), both.take(names == "test")


@cache
def granularities(dev):
    """Discretizers from fine to coarse; phrases are the commonest of the development split."""
    told = pd.concat([dev.X[f"explanation_{person}"] for person in PEOPLE])
    learned = {k: fs.CommonPhrases(k).learned_from(fs.Reasons(told)) for k in (200, 50, 20, 5)}
    return {
        "the text itself": None,
        "Template()": fs.Template(),
        **{f"{k} common phrases": phrases for k, phrases in learned.items()},
        "codebook of 24 cues": fs.Codebook.load(CODEBOOK),
        "a negation or none": fs.Codebook(NEGATION),
    }


HEAD = f"{'value':>6} {'95% interval':>14} {'silent':>8} {'verified':>8} {'chance':>7} {'different':>9} {'rows':>6}"
SHOWN = 42  # characters of a name


def told(name, estimate):
    """One line of a table of estimates."""
    verified = "–" if estimate.verified is None else f"{estimate.verified:.3f}"
    return (
        f"{name:{SHOWN}}{estimate.value:6.3f} [{estimate.low:.3f}, {estimate.high:.3f}] {estimate.unverifiable:7.1%} "
        f"{verified:>8} {estimate.chance:7.3f} {estimate.distinct:9,} {estimate.n:6,}"
    )


def consistencies(dev, test):
    """Consistency of the first person's reasons with the labels, from fine to coarse."""
    return {
        name: fs.consistency(test.reasons(), test.labels, discretizer=discretizer, clusters=test.premises)
        for name, discretizer in granularities(dev).items()
    }


def by_granularity(dev, test):
    yield f"{'consistency with the label by':{SHOWN}}{HEAD}"
    yield from (told(name, estimate) for name, estimate in consistencies(dev, test).items())


def repeated(dev, test):
    """How often two of three people give the same reason for a row, from fine to coarse."""
    runs = {f"person {person}": test.reasons(person) for person in PEOPLE}
    return {
        name: fs.repeatability(runs, discretizer=discretizer, clusters=test.premises)
        for name, discretizer in granularities(dev).items()
    }


def by_people(dev, test):
    """How often two of three people give the same reason, from fine to coarse."""
    heads = f"{'value':>6} {'95% interval':>14} {'chance':>8} {'beyond':>7} {'different':>9}"
    yield f"{'two people say the same by':{SHOWN}}{heads}"
    for name, same in repeated(dev, test).items():
        further = f"{same.chance:7.3f} {same.adjusted:7.3f} {same.distinct:9,}"
        yield f"{name:{SHOWN}}{same.value:6.3f} [{same.low:.3f}, {same.high:.3f}] {further}"


def draw(dev, test, folder):
    """Write both pictures into a folder."""
    pictures = {
        "reasons-granularity": ("Does the reason tell the label? From fine to coarse", consistencies(dev, test)),
        "reasons-people": ("Do two people give the same reason?", repeated(dev, test)),
    }
    for name, (title, estimates) in pictures.items():
        charts.estimates(estimates.items(), title=title).configure(**theme(LIGHT)).save(folder / f"{name}.svg")
        print(folder.name, f"{name}.svg")


def tables(dev, test):
    """All sections."""
    sections = {
        "1. The first person's reasons": by_granularity,
        "2. Three people": by_people,
    }
    yield describe_machine(["faithscope", "numpy", "scipy", "scikit-learn"])
    for title, section in sections.items():
        yield f"\n{title}"
        yield from section(dev, test)


if __name__ == "__main__":
    asked, (dev, test) = options(__doc__, quick=False, plot=Path), splits()
    if asked.plot:
        draw(dev, test, asked.plot)
    else:
        test = test.take(np.arange(900)) if asked.quick else test
        tell(tables(dev, test), None if asked.quick else "esnli.txt")
