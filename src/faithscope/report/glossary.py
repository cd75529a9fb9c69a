"""What each number means, for somebody who has not read the paper."""

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
        "told itself. Only explanations that say where they apply have it: rules, highlights, counterfactuals."
    ),
    "value": (
        "The measure on these rows. A row whose explanation covers no other row counts as 0, so a low value means "
        "unfaithful or unverifiable: read it beside the unverifiable share."
    ),
    "interval": (
        "Where the true measure lies, at the stated confidence, for all rows of the kind that was sampled. It holds "
        "both the chance of the sample and the rows on which the sample is silent."
    ),
    "unverifiable": (
        "The share of rows whose explanation covers no other row of the sample. Nothing can be said about them: they "
        "are drawn hatched, from the value to what it would be if they were all faithful."
    ),
    "where it can be checked": (
        "Agreement among the rows that can be checked, with an interval of its own that holds no silence. This is what "
        "is compared with chance."
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
        "The unverifiable share expected of more rows, from how explanations repeat in this sample. Up to the rows "
        "there are, the curve is exact; beyond ten times as many, nothing is said."
    ),
    "difference": (
        "The measure of one less that of the other, with an interval that carries the silence of both. They differ "
        "only if the interval excludes zero; among many pairs some will differ by chance."
    ),
}
