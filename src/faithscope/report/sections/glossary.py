"""What each number means, for somebody who has not read the paper."""

from collections.abc import Sequence

from faithscope.agreements import Agreement, Spread
from faithscope.measures.telling import described
from faithscope.report.document import Facts, Group, Section

GLOSSARY: dict[str, str] = {
    "faithful": (
        "An explanation is faithful when it accounts for what the model does: rows that are explained alike are "
        "predicted alike. It need not be right about the world, and the model need not be good."
    ),
    "consistency": (
        "The probability that another row with the same explanation gets the same prediction. If two people are "
        "told the same reason, and one is accepted and the other refused, the reason does not account for it."
    ),
    "sufficiency": (
        "The probability that another row to which the explanation applies gets the same prediction, whatever it was "
        "told itself. Importances apply to rows that are alike in the features they name; plain keys apply nowhere."
    ),
    "necessity": (
        "Of the other rows that get the same prediction, the share to which the explanation applies. Sufficiency asks "
        "whether an explanation is right wherever it applies, necessity how far it reaches. A low one is no mistake: "
        "there may be many reasons for one prediction."
    ),
    "encoding": (
        "Whether the choice of an explanation says more than the explanation. Rows that were given it are compared "
        "with rows that it covers as well but that were given another: if the predictions of both are distributed "
        "alike, the explanation says all there is to say."
    ),
    "interval": (
        "Where the true measure lies, at the stated confidence, for all rows of the kind that was sampled. It holds "
        "both the chance of the sample and the rows on which the sample is silent."
    ),
    "unverifiable": (
        "The share of rows whose explanation covers no other row of the sample. Nothing can be said about them: they "
        "are drawn hatched, from where none of them is faithful to where all of them are."
    ),
    "where it can be checked": (
        "Agreement among the rows that can be checked: the number that is told first. With an interval of its own, "
        "which holds no silence, it is compared with chance."
    ),
    "chance": (
        "What an explanation that means nothing would reach: the probability that two rows drawn at random get the "
        "same prediction. Where most rows are predicted alike it is high by itself."
    ),
    "uniqueness": (
        "The share of rows whose explanation no other row was given. At 1, every row has its own explanation, and "
        "consistency can not be checked at all."
    ),
    "discretization": (
        "How explanations are made coarser before they are compared, such as keeping only the signs of the five "
        "largest importances. Coarser explanations can be checked on more rows, and never gain true consistency."
    ),
    "forecast": (
        "The unverifiable share expected of more rows, from how explanations repeat in this sample, and the band of "
        "shares that agree with it. Up to the rows there are, the curve is exact; beyond four times as many there is "
        "only the band, and beyond ten times nothing."
    ),
    "difference": (
        "The measure of one less that of the other, with an interval that carries the silence of both. They differ "
        "only if the interval excludes zero. Up to ten intervals hold each by itself, so some pairs may differ by "
        "chance; more than ten hold for all pairs together."
    ),
}

_NUMBERS: dict[str, str] = {
    "consistency": (
        "How much the prediction of another row with the same explanation agrees, on average. If two houses are told "
        "the same reason, and one is valued far higher, the reason does not account for it."
    ),
    "sufficiency": (
        "How much the prediction of another row to which the explanation applies agrees, on average, whatever it was "
        "told itself. Importances apply to rows that are alike in the features they name; plain keys apply nowhere."
    ),
    "necessity": (
        "Of the other rows, each by how much its prediction agrees, the share to which the explanation applies. "
        "Sufficiency asks whether an explanation is right wherever it applies, necessity how far it reaches. A low one "
        "is no mistake: there may be many reasons for one prediction."
    ),
    "chance": (
        "What an explanation that means nothing would reach: how much the predictions of two rows drawn at random "
        "agree, on average. Where most predictions are close to each other it is high by itself."
    ),
}
_NOT_CONVEX = {
    "discretization": (
        "How explanations are made coarser before they are compared, such as keeping only the signs of the five "
        "largest importances. Coarser explanations can be checked on more rows; by this agreement merging explanations "
        "may raise or lower what is true of them."
    ),
}
_VARIANCE: dict[str, str] = {
    "consistency": (
        "The share of the variance of the predictions that explanations account for: 1 if rows with the same "
        "explanation get the same prediction, 0 if they differ as much as any two rows do."
    ),
    "sufficiency": (
        "The share of the variance of the predictions that explanations account for, among all rows to which an "
        "explanation applies, whatever they were told themselves. Only explanations that say where they apply have it."
    ),
    "necessity": "How far an explanation reaches; it is not defined for shares of variance.",
    "where it can be checked": (
        "The share of the variance accounted for among the rows that can be checked, with an interval of its own that "
        "holds no silence. This is what is compared with chance."
    ),
    "chance": (
        "What an explanation that means nothing would reach: 0, since it accounts for no variance. A value below 0 "
        "means that rows with the same explanation differ more than any two rows do."
    ),
    "typically apart": (
        "How far the predictions of two rows with the same explanation are apart, in the units of the predictions: the "
        "root of their mean squared difference."
    ),
}


def glossary(agreements: Sequence[Agreement]) -> dict[str, str]:
    """What each number of a report means, if its measures are by these agreements.

    Examples
    --------
    >>> glossary([Spread()])["consistency"][:43]
    'The share of the variance of the prediction'
    """
    if not any(agreement.of_numbers for agreement in agreements):
        return GLOSSARY
    spread = all(isinstance(agreement, Spread) for agreement in agreements)
    sentences = " ".join(dict.fromkeys(filter(None, map(described, agreements))))
    convex = all(agreement.convex for agreement in agreements)
    changed = (_VARIANCE if spread else _NUMBERS) | ({} if convex else _NOT_CONVEX)
    return GLOSSARY | changed | {"agreement": f"How predictions are compared. {sentences}"}


def meanings(words: dict[str, str]) -> Section:
    """The section that explains these words."""
    folded = Group([Facts(tuple(words.items()), "glossary")], "means", fold=f"{len(words)} words explained")
    return Section("glossary", "What it means", "What each number means", [folded], detail=True)
