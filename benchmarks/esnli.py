"""Reasons that people gave for e-SNLI's labels: how consistent, how repeatable, and beside a model's own words.

    FAITHSCOPE_DATA=folder python benchmarks/esnli.py            # a minute of one core; kept in results/esnli.txt
    FAITHSCOPE_DATA=folder python benchmarks/esnli.py --quick    # fewer rows; nothing is kept
    FAITHSCOPE_DATA=folder python benchmarks/esnli.py --plot docs/images    # the pictures of the page on reasons alone

The "prediction" of sections 1, 2 and 4 is the label of the data set: SNLI's annotators chose it, and others, who were
shown it, wrote down why. Section 3 has a model's predictions too. Cues and phrases were chosen on the development
split; every number is of the test split, whose rows are clustered by premise.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from time import perf_counter
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import faithscope as fs
from faithscope import charts, datasets
from faithscope.charts.theme import LIGHT, theme
from faithscope.explainers import TextAnchors, TopCoefficient
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
        rows = np.asarray(rows)
        return Split(self.X.iloc[rows].reset_index(drop=True), self.labels.iloc[rows].reset_index(drop=True))


def splits() -> tuple[Split, Split]:
    """The development and the test split."""
    data_set = datasets.load("esnli")
    both, names = Split(data_set.X, pd.Series(data_set.y)), data_set.X["split"]
    return both.take(names == "dev"), both.take(names == "test")


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


HEAD = f"{'value':>6} {'95% interval':>14} {'silent':>8} {'verified':>8} {'chance':>7} {'different':>9} {'rows':>6}"
FORMS = ["entail", "entails", "entailed", "entailing", "contradict", "contradicts", "contradicted", "contradictory"]
SHOWN = 42  # characters of a name
Lines = Iterator[str]


def told(name: str, estimate: fs.Estimate) -> str:
    """One line of a table of estimates."""
    verified = "–" if estimate.verified is None else f"{estimate.verified:.3f}"
    return (
        f"{name:{SHOWN}}{estimate.value:6.3f} [{estimate.low:.3f}, {estimate.high:.3f}] {estimate.unverifiable:7.1%} "
        f"{verified:>8} {estimate.chance:7.3f} {estimate.distinct:9,} {estimate.n:6,}"
    )


def consistencies(dev: Split, test: Split) -> dict[str, fs.Estimate]:
    """Consistency of the first person's reasons with the labels, from fine to coarse."""
    return {
        name: fs.consistency(test.reasons(), test.labels, discretizer=discretizer, clusters=test.premises)
        for name, discretizer in granularities(dev).items()
    }


def by_granularity(dev: Split, test: Split) -> Lines:
    """Consistency of the first person's reasons, from fine to coarse."""
    yield f"{'consistency with the label by':{SHOWN}}{HEAD}"
    for name, estimate in consistencies(dev, test).items():
        yield told(name, estimate)


def certificates(dev: Split, test: Split) -> Lines:
    """What the coarser reasons prove about the texts; templates read the input, so they prove nothing about texts."""
    chosen = [each for name, each in granularities(dev).items() if name != "Template()"]
    given = (test.reasons(), test.labels, chosen)
    several = fs.certify(*given, interval="jackknife", clusters=test.premises)
    yield f"all rows, clustered by premise: at least {several.low:.3f} (approximate), by {several.discretizer!r}"
    rows = one_per_premise(test)
    apart = test.take(rows)
    proven = fs.certify(apart.reasons(), apart.labels, chosen)
    yield f"one row per premise, {len(rows):,} rows: at least {proven.low:.3f} (proven), by {proven.discretizer!r}"


def one_per_premise(test: Split) -> Any:
    """A random row of each premise: rows that are independent."""
    order = np.random.default_rng(0).permutation(len(test.labels))
    first = ~test.premises.iloc[order].duplicated().to_numpy()
    return np.sort(order[first])


def leaks(dev: Split, test: Split) -> Lines:
    """How many reasons name a label, and what masking these words changes, on texts and by the codebook."""
    codebook = granularities(dev)["codebook of 24 cues"]
    yield f"{'words of labels':{SHOWN}}{'share':>7} {'95% interval':>14} {'as given':>9} {'masked':>7}  commonest"
    for what, words in {"labels": None, "labels and other forms": FORMS}.items():
        for how, discretizer in {"text": None, "codebook": codebook}.items():
            leak = fs.leakage(test.reasons(), test.labels, words=words, discretizer=discretizer, clusters=test.premises)
            common = ", ".join(f"{word} {n}" for word, n in leak.words[:3])
            yield (
                f"{f'{what}, by {how}':{SHOWN}}{leak.share:7.2%} [{leak.low:.2%}, {leak.high:.2%}] "
                f"{leak.consistency.value:9.3f} {leak.masked.value:7.3f}  {common}"
            ).rstrip()


def repeated(dev: Split, test: Split) -> dict[str, Any]:
    """How often two of three people give the same reason for a row, from fine to coarse."""
    runs = {f"person {person}": test.reasons(person) for person in PEOPLE}
    return {
        name: fs.repeatability(runs, discretizer=discretizer, clusters=test.premises)
        for name, discretizer in granularities(dev).items()
    }


def by_people(dev: Split, test: Split) -> Lines:
    """How often two of three people give the same reason, from fine to coarse."""
    heads = f"{'value':>6} {'95% interval':>14} {'chance':>8} {'beyond':>7} {'different':>9}"
    yield f"{'two people say the same by':{SHOWN}}{heads}"
    for name, same in repeated(dev, test).items():
        yield (
            f"{name:{SHOWN}}{same.value:6.3f} [{same.low:.3f}, {same.high:.3f}] {same.chance:7.3f} "
            f"{same.adjusted:7.3f} {same.distinct:9,}"
        )


def agreements(dev: Split, test: Split) -> Lines:
    """Cohen's kappa of every two people."""
    heads = f"{'pair':>4} {'same':>7} {'chance':>7} {'kappa':>6} {'95% interval':>14}"
    yield f"{'agreement of two people by':{SHOWN}}{heads}"
    runs = {f"{person}": test.reasons(person) for person in PEOPLE}
    for name in ("20 common phrases", "codebook of 24 cues", "a negation or none"):
        agreement = fs.explainer_agreement(runs, discretizer=granularities(dev)[name], clusters=test.premises)
        for line in agreement.table().to_dict("records"):
            yield (
                f"{name:{SHOWN}}{line['a']}, {line['b']} {line['same']:7.3f} {line['chance']:7.3f} "
                f"{line['kappa']:6.3f} [{line['kappa_low']:.3f}, {line['kappa_high']:.3f}]"
            )


def beside_a_model(dev: Split, test: Split, rows: int) -> Lines:
    """A model's own words and people's words, as explanations of the model's predictions and of the labels."""
    model, accuracies = fitted(dev), []
    for what, texts, known in (
        ("marked words", test.documents, model),
        ("hypothesis alone", test.X["hypothesis"].str.lower().tolist(), fitted(dev, hypothesis_only=True)),
    ):
        accuracies.append(f"{what} {np.mean(known.predict(texts) == test.labels):.3f}")
    commonest = test.labels.value_counts(normalize=True).max()
    yield f"accuracy on {len(test.labels):,} rows: {', '.join(accuracies)}; commonest label {commonest:.3f}"
    part = test.take(np.sort(np.random.default_rng(0).permutation(len(test.labels))[:rows]))
    start = perf_counter()
    kinds: dict[str, Any] = {
        "decisive word": TopCoefficient(model[-1], model[0], by="favor").explain(part.documents),
        "anchors": TextAnchors(model, beam=1).explain(part.documents),
    }
    print(f"anchors of {rows:,} rows took {perf_counter() - start:.0f} s", file=sys.stderr)
    reasons = granularities(dev)["codebook of 24 cues"](part.reasons())
    for whose, labels in {"the model's predictions": model.predict(part.documents), "the labels": part.labels}.items():
        yield f"{f'consistency with {whose}':{SHOWN}}{HEAD}"
        for name, words in {**kinds, "people's words, by the codebook": reasons}.items():
            yield told(name, fs.consistency(words, labels, clusters=part.premises))
        yield f"{f'sufficiency for {whose}':{SHOWN}}{HEAD}"
        for name, words in kinds.items():
            yield told(name, fs.sufficiency(words, labels, part.documents, clusters=part.premises))


def by_embeddings(dev: Split, test: Split, clusters: tuple[int, ...]) -> Lines:
    """Reasons whose embeddings are in one cluster, or near each other, as the same reason."""
    vectors = embedded(dev, test)
    yield f"{'consistency with the label by':{SHOWN}}{HEAD}"
    for k in clusters:
        near = fs.Clusters(vectors, k)
        yield told(
            f"{k} clusters", fs.consistency(test.reasons(), test.labels, discretizer=near, clusters=test.premises)
        )
    curve = fs.within_curve(fs.Importances(vectors), test.labels, [0.2, 0.4, 0.6, 0.8, 1.0], clusters=test.premises)
    for tau, estimate in zip(curve.taus, curve.estimates, strict=True):
        yield told(f"a distance of at most {tau:g}", estimate)


def draw(dev: Split, test: Split, folder: Path) -> None:
    """Write both pictures into a folder."""
    title = "Does the reason tell the label? From fine to coarse"
    pictures = {
        "reasons-granularity": charts.estimates(list(consistencies(dev, test).items()), title=title),
        "reasons-people": people(repeated(dev, test)),
    }
    for name, chart in pictures.items():
        chart.configure(**theme(LIGHT)).save(folder / f"{name}.svg")
        print(folder.name, f"{name}.svg")


def people(repeated: dict[str, Any]) -> alt.LayerChart:
    """How often two people say the same by granularity: a dot with its interval, and a line for chance."""
    shown = ("value", "low", "high", "chance")
    rows = [{"by": by, **{name: getattr(same, name) for name in shown}} for by, same in repeated.items()]
    axis = alt.Axis(labelFontSize=13, labelLimit=220, labelPadding=12, ticks=False)
    down = alt.Y("by:N", sort=list(repeated), title=None, axis=axis)
    chart, dot = alt.Chart(alt.Data(values=rows)).encode(y=down), LIGHT["consistency"]
    title, axis = "share of rows on which two people agree", alt.Axis(format="%", tickCount=5)
    across = alt.X("value:Q", scale=alt.Scale(domain=[0, 1]), title=title, axis=axis)
    bars = chart.mark_rule(strokeWidth=3, color=dot).encode(x=alt.X("low:Q"), x2="high:Q")
    dots = chart.mark_point(filled=True, size=90, color=dot, opacity=1).encode(x=across)
    ticks = chart.mark_tick(thickness=2.5, size=20, color=LIGHT["chance"]).encode(x="chance:Q")
    told = "Dot and bar: two of three people, with the 95% interval. Upright line: chance."
    title = alt.Title("Do two people give the same reason?", subtitle=told)
    return (bars + ticks + dots).properties(width=430, height=260, title=title)


KEPT = HERE / "results" / "esnli.txt"


def tables(dev: Split, test: Split, quick: bool) -> Lines:
    """All sections."""
    sections: dict[str, Callable[..., Lines]] = {
        "1. The first person's reasons": by_granularity,
        "   A bound without a judge": certificates,
        "   Leakage": leaks,
        "2. Three people": by_people,
        "   Every two of them": agreements,
        "3. Beside a model": partial(beside_a_model, rows=100 if quick else 2_000),
        "4. Embeddings (TF-IDF, 50 directions)": partial(by_embeddings, clusters=(10,) if quick else (3, 10, 30, 100)),
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
        tell(tables(dev, test, asked.quick), None if asked.quick else KEPT.name)
