"""e-SNLI for a study: the rows of both splits, the reasons of three people, granularities, and a small model.

Whatever is chosen or learned (the codebook, common phrases, the model, embeddings) comes from the development split;
whatever is measured, from the test split. Three sentence pairs share a premise, so rows of one premise are a cluster.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import faithscope as fs
from faithscope import datasets

CODEBOOK = Path(__file__).parents[1] / "examples" / "esnli_codebook.json"
PEOPLE = (1, 2, 3)
NEGATION = {"negation": r"\b(?:not|nt|no|never|nobody|nothing|cannot|cant)\b"}


@dataclass(frozen=True, eq=False)
class Split:
    """One split: sentence pairs, their labels, and three reasons for each."""

    X: pd.DataFrame
    labels: pd.Series

    @property
    def premises(self) -> pd.Series:
        """The cluster of each row."""
        return self.X["premise"]

    def reasons(self, person: int = 1) -> fs.Reasons:
        """The reason that the first, second or third person gave for each row."""
        return fs.Reasons(self.X[f"explanation_{person}"], inputs=self.X[["premise", "hypothesis"]])

    @cached_property
    def documents(self) -> list[str]:
        """What the model reads: each word of the hypothesis, marked by whether the premise has it, and how many do."""
        pairs = zip(self.X["premise"], self.X["hypothesis"], strict=True)
        return [_marked(premise.lower().split(), hypothesis.lower().split()) for premise, hypothesis in pairs]

    def take(self, rows: Any) -> "Split":
        """Some of the rows."""
        return Split(self.X.iloc[rows].reset_index(drop=True), self.labels.iloc[rows].reset_index(drop=True))


def splits() -> tuple[Split, Split]:
    """The development and the test split."""
    data_set = datasets.load("esnli")
    both = []
    for name in ("dev", "test"):
        inside = (data_set.X["split"] == name).to_numpy()
        both.append(Split(data_set.X[inside].reset_index(drop=True), pd.Series(data_set.y[inside])))
    return both[0], both[1]


@cache
def granularities(dev: Split) -> dict[str, Any]:
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


def fitted(dev: Split, hypothesis_only: bool = False) -> Any:
    """A logistic regression on which words a document has."""
    texts = dev.X["hypothesis"].str.lower().tolist() if hypothesis_only else dev.documents
    words = CountVectorizer(analyzer=str.split, binary=True, min_df=2)
    return make_pipeline(words, LogisticRegression(C=0.3, max_iter=2_000)).fit(texts, dev.labels)


def embedded(dev: Split, test: Split, width: int = 50) -> Any:
    """Embeddings of the first person's reasons: directions of TF-IDF learned on the development split, of length 1."""
    directions = TruncatedSVD(width, random_state=0)
    weights = TfidfVectorizer(min_df=5, sublinear_tf=True, ngram_range=(1, 2))
    embed = make_pipeline(weights, directions, Normalizer()).fit(dev.X["explanation_1"])
    return np.asarray(embed.transform(test.X["explanation_1"]))


def _marked(premise: list[str], hypothesis: list[str]) -> str:
    known = set(premise)
    words = [f"{'both' if word in known else 'new'}:{word}" for word in hypothesis]
    share = sum(word in known for word in hypothesis) / max(1, len(hypothesis))
    return " ".join([*words, f"share:{round(10 * share)}"])
