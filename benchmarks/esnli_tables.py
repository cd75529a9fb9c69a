"""The tables of `esnli.py`, each a function from both splits to lines."""

import sys
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

import faithscope as fs
from esnli_rows import PEOPLE, Split, embedded, fitted, granularities
from faithscope.explainers import TextAnchors, TopCoefficient

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
