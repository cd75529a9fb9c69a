"""Planted systems: applicants for a loan, decisions, and reasons in words whose faithfulness is known."""

import re
from collections import namedtuple
from dataclasses import dataclass
from functools import cached_property
from itertools import product, starmap

import numpy as np

from faithscope.discretizers.reasons.codebook import Codebook
from faithscope.explanations.reasons import Reasons
from faithscope.explanations.rules import Rules

# A fact is a factor, and whether it speaks for the loan.
LABELS = ("approved", "denied")
WORDINGS = 8
_GOOD = {"payments": 0.7, "debt": 0.5, "income": 0.5}  # the chance that a factor speaks for the loan
_ONLINE = 0.3  # share of applicants who apply online
_STATED = (  # all that the policy ever states: the first that is true of an applicant decides
    (("payments", False),),
    (("payments", True), ("debt", True)),
    (("payments", True), ("income", True)),
    (("debt", False), ("income", False)),
)
_APPROVING = _STATED[1:3]
_FEATURES = ("missed_payments", "debt_percent", "income", "north", "online")
# The numbers of each factor, against the loan and for it: first, last and step.
_RANGES = (
    ((3, 9, 1), (0, 2, 1)),
    ((41, 90, 1), (5, 40, 1)),
    ((12_000, 30_000, 100), (30_100, 90_000, 100)),
)
_CONDITIONS = {
    ("payments", True): ("missed_payments", "<=", 2),
    ("payments", False): ("missed_payments", ">", 2),
    ("debt", True): ("debt_percent", "<=", 40),
    ("debt", False): ("debt_percent", ">", 40),
    ("income", True): ("income", ">", 30_000),
    ("income", False): ("income", "<=", 30_000),
}


def _lines(text):
    """The lines of a text, one per wording."""
    return [line.strip() for line in text.strip().split("\n")]


# What stands in brackets is only said in detail. Texts without it are as folding leaves them.
CLAUSES = {
    ("payments", False): _lines(
        """
        payments were missed[ {missed} times]
        instalments came late[ in {missed} months]
        the account fell behind[ {missed} times]
        bills stayed unpaid[ on {missed} occasions]
        the record shows arrears[ in {missed} cases]
        due dates passed without a transfer[ {missed} times]
        reminders had to be sent[, {missed} in all]
        repayment was irregular[ with {missed} gaps]
        """
    ),
    ("payments", True): _lines(
        """
        payments came on time[ but for {missed}]
        instalments arrived promptly[ but for {missed}]
        the account kept up[ but for {missed} months]
        bills were settled[ with {missed} exceptions]
        the record is clean[ but for {missed} cases]
        due dates were met[ all but {missed}]
        hardly any reminder was needed[, {missed} in all]
        repayment was steady[ with {missed} gaps]
        """
    ),
    ("debt", False): _lines(
        """
        debts are too high[ at {debt}]
        too much is owed[, {debt} in all]
        liabilities weigh heavily[ at {debt}]
        other loans take a large part[, {debt}]
        the burden of credit is heavy[ at {debt}]
        borrowing is excessive[ at {debt}]
        obligations exceed our limit[ at {debt}]
        what is owed elsewhere is a lot[, {debt}]
        """
    ),
    ("debt", True): _lines(
        """
        debts are low[ at {debt}]
        little is owed[, {debt} in all]
        liabilities weigh lightly[ at {debt}]
        other loans take a small part[, {debt}]
        the burden of credit is light[ at {debt}]
        borrowing is modest[ at {debt}]
        obligations stay within our limit[ at {debt}]
        what is owed elsewhere is slight[, {debt}]
        """
    ),
    ("income", False): _lines(
        """
        income is too low[ at {income}]
        earnings do not suffice[ at {income}]
        the salary is small[ at {income}]
        wages fall short[ at {income}]
        pay is below our line[ at {income}]
        takings are thin[ at {income}]
        revenue is weak[ at {income}]
        what comes in is scarce[, {income}]
        """
    ),
    ("income", True): _lines(
        """
        income is high enough[ at {income}]
        earnings suffice[ at {income}]
        the salary is generous[ at {income}]
        wages go far enough[ at {income}]
        pay is above our line[ at {income}]
        takings are ample[ at {income}]
        revenue is strong[ at {income}]
        what comes in is plenty[, {income}]
        """
    ),
}
_FRAMES = _lines(
    """
    {facts}.
    The main point is that {facts}.
    We saw that {facts}.
    In short, {facts}.
    It matters here that {facts}.
    What decided is that {facts}.
    Our review says that {facts}.
    Put simply, {facts}.
    """
)
_ANSWERS = _lines(
    """
    This is {label}, as requests of this kind are {label}.
    It is {label} because it had to be {label}.
    We looked at it and it is {label}.
    It is {label} by our rules.
    Such a request is always {label}.
    After review the request is {label}.
    The outcome is {label}, as it should be.
    Clearly {label}.
    """
)
_HINTS = _lines(  # of approvals, and of denials
    """
    The bank is glad to say yes. / The bank is sorry to say no.
    You meet what we ask for. / You do not meet what we ask for.
    We can go ahead. / We cannot go ahead.
    The request fits our policy. / The request does not fit our policy.
    This is a good risk. / This is a bad risk.
    The overall picture is favorable. / The overall picture is unfavorable.
    Our rules speak for it. / Our rules speak against it.
    There is nothing to object to. / There is something to object to.
    """
)
_INPUT = (
    "{name} applies {channel}, lives {side} of the river, has {missed} missed payments, debts of {debt} of income, "
    "and an income of {income}."
)
_FIRST_NAMES = (
    "Ada Amir Anna Bela Carlos Chloe Dana Elif Emre Eva Fatima Felix Hana Hugo Ines Ivan Jonas Kofi Lena Li Maja Mateo "
    "Milan Mina Nadia Noor Omar Paolo Pia Rosa Sven Yuki"
)
_LAST_NAMES = (
    "Abara Adler Baptiste Becker Chen Cohen Costa Diaz Dubois Eriksen Farouk Ferrari Fischer Garcia Haddad Hansen "
    "Ibrahim Ito Jansen Kaya Khan Kim Kowalski Larsen Lopez Mensah Moreau Nagy Nguyen Novak Okafor Olsen Patel "
    "Petrov Rossi Ruiz Santos Sato Silva Tanaka"
)


class Applicant(namedtuple("Applicant", "payments debt income north online")):
    """What a decision may depend on: three factors that reasons name, and two that they never name."""

    def has(self, facts):
        """Whether facts are true of this applicant."""
        return all(getattr(self, factor) == good for factor, good in facts)


# One kind of row; label 0 is approved, 1 is denied; the text of its reason has fields for details.
Kind = namedtuple("Kind", "p applicant label facts text")


class ReasonedRows(namedtuple("ReasonedRows", "reasons rules predictions X groups")):
    """Applicants with decisions, reasons in words, and rules that state the same facts.

    Attributes
    ----------
    reasons : Reasons
        The reason of each row, with the text that describes the applicant as its input.
    rules : Rules
        The same facts as conditions on the columns of `X`; a reason without facts becomes a rule that always holds.
    predictions : (n,) array of str
        "approved" or "denied".
    X : (n, 5) array
        Missed payments, debts in percent of income, income, whether the applicant lives north, whether online.
    groups : (n,) array of str
        "online" or "branch".
    """


class ReasonTruth(
    namedtuple("ReasonTruth", "codebook text masked_text named sufficiency necessity chance"),
):
    """The measures of a `ReasonSystem` in its population, exactly.

    Attributes
    ----------
    codebook, text : float
        Consistency by the system's own codebook, and of the reasons as compared (folded).
    masked_text : float
        That of the reasons with words of labels masked, as `leakage` measures them.
    named : float
        Share of reasons that name a label.
    sufficiency, necessity : float
        Of the rules that state the same facts as the reasons.
    chance : float
        Consistency of explanations that mean nothing: that two rows share a prediction.
    """


@dataclass(frozen=True)
class ReasonSystem:
    """Who decides on loans and gives reasons in words, with known truth.

    The stated policy approves applicants who missed no more than 2 payments, if their debts are low or their income is
    high. A planted shortcut approves whoever lives north of the river, which no reason ever names.

    Parameters
    ----------
    says : {"policy", "decision", "answer", "hint", "chance"}
        What reasons state: the facts by which the policy decides; facts that suit the decision, however it was made,
        true ones if there are any; the answer itself; the answer in other words; the facts of somebody else.
    shortcut : float
        Share of decisions that follow the shortcut, from 0 to 1.
    tied : float
        Share of applicants who live north of the river exactly if they paid on time; the others live anywhere.
    online_only : bool
        Whether the shortcut is used for applicants who apply online alone, 30% of all.
    noise : float
        Share of decisions that a coin makes.
    wordings : int
        In how many wordings each reason is given, from 1 to 8.
    details : bool
        Whether reasons name the applicant and his numbers, so that hardly two texts are equal.
    style : float
        Share of reasons whose wording is chosen by the decision: one half of the wordings for each.
    names_label : float
        Share of reasons that end with the decision.

    Examples
    --------
    >>> import faithscope as fs
    >>> from reason_systems import ReasonSystem
    >>> system = ReasonSystem(shortcut=0.4, wordings=8, details=True)
    >>> rows = system.draw(1000, seed=0)
    >>> rows.reasons.texts[0]
    'Rosa Ruiz: Put simply, what is owed elsewhere is a lot, 51% and what comes in is scarce, 19,400.'
    >>> estimate = fs.consistency(rows.reasons, rows.predictions, discretizer=system.codebook)
    >>> round(system.truth.codebook, 3), estimate.low <= system.truth.codebook <= estimate.high
    (0.68, True)
    """

    says: str = "policy"
    shortcut: float = 0.0
    tied: float = 0.0
    online_only: bool = False
    noise: float = 0.0
    wordings: int = 1
    details: bool = False
    style: float = 0.0
    names_label: float = 0.0

    @cached_property
    def _kinds(self):
        """All kinds of rows: applicants, decisions, what reasons say, and how they say it, with probabilities."""
        kinds = []
        for applicant in starmap(Applicant, product((True, False), repeat=len(_FEATURES))):
            # Factors are independent, but that some live north exactly if their payments are in order.
            p = _ONLINE if applicant.online else 1 - _ONLINE
            for factor, good in _GOOD.items():
                p *= good if applicant.has(((factor, True),)) else 1 - good
            p *= (1 - self.tied) / 2 + self.tied * (applicant.north == applicant.payments)
            policy = next(facts for facts in _STATED if applicant.has(facts))
            # Decided by the shortcut, by the policy, or by a coin.
            shortcut = self.shortcut if applicant.online or not self.online_only else 0.0
            decided = shortcut * applicant.north + (1 - shortcut) * (policy in _APPROVING)
            yes = (1 - self.noise) * decided + self.noise / 2
            for label, chance in enumerate((yes, 1 - yes)):
                ways = product(
                    self._said(applicant, policy, label),
                    self._voices(label),
                    ((True, self.names_label), (False, 1 - self.names_label)),
                )
                for (facts, a), (voice, b), (closing, c) in ways:
                    text = self._worded(facts, voice, label, closing=closing)
                    kinds.append(Kind(p * chance * a * b * c, applicant, label, facts, text))
        return tuple(kind for kind in kinds if kind.p > 0)

    def _said(self, applicant, policy, label):
        """The facts that reasons state, each with its chance."""
        approved = label == 0
        if self.says == "chance":
            return [(facts, 1 / len(_STATED)) for facts in _STATED]
        if self.says == "policy" or (self.says == "decision" and (policy in _APPROVING) == approved):
            return [(policy, 1.0)]
        if self.says != "decision":
            return [((), 1.0)]
        # What speaks for the decision, whatever it was made by; an untrue fact about debts if nothing does.
        suiting = tuple((factor, approved) for factor in _GOOD if applicant.has(((factor, approved),)))
        return [(suiting or (("debt", approved),), 1.0)]

    def _voices(self, label):
        """The wordings with their chances: even ones for approvals, odd ones for denials, as far as the style tells."""
        own = len(range(label, self.wordings, 2))
        even = (1 - self.style) / self.wordings
        return [(v, even + (self.style / own if v % 2 == label and own else 0.0)) for v in range(self.wordings)]

    def _worded(self, facts, voice, label, *, closing):
        """A reason with fields for details, and with its label named in the end if it closes with it."""
        if self.says == "answer":
            text = _ANSWERS[voice]
        elif self.says == "hint":
            text = _HINTS[voice].split(" / ")[label]
        else:
            text = _FRAMES[voice].format(facts=" and ".join(_clause(fact, voice, self.details) for fact in facts))
        told = text[0].upper() + text[1:] + " So the loan is {label}." * closing
        return ("{name}: " if self.details else "") + told.replace("{label}", LABELS[label])

    @cached_property
    def _masses(self):
        """The probability of each kind of row, which add up to 1, and its label."""
        p = np.array([kind.p for kind in self._kinds])
        return p / p.sum(), np.array([kind.label for kind in self._kinds])

    @cached_property
    def truth(self):
        """The measures in the population, exactly."""
        kinds, answers = self._kinds, self.says == "answer"
        texts = [kind.text for kind in kinds]
        masked = [re.sub("|".join(LABELS), "<label>", text.lower()) for text in texts]
        # By the numbers of a text one can tell which of its facts are true. Names and numbers tell nothing else of a
        # decision, since they are drawn independently of it.
        true = [[kind.applicant.has((fact,)) for fact in kind.facts if self.details] for kind in kinds]
        sufficiency, necessity = self._of_rules()
        return ReasonTruth(
            codebook=self._consistency(kind.label if answers else frozenset(kind.facts) for kind in kinds),
            text=self._consistency((text, *each) for text, each in zip(texts, true, strict=True)),
            masked_text=self._consistency((text, *each) for text, each in zip(masked, true, strict=True)),
            named=1.0 if answers else self.names_label,
            sufficiency=sufficiency,
            necessity=necessity,
            chance=self._consistency("" for _ in kinds),
        )

    def _consistency(self, keys):
        """The chance that two rows with the same key share a label."""
        places = {}
        place = np.array([places.setdefault(key, len(places)) for key in keys])
        p, labels = self._masses
        joint = np.zeros((len(places), 2))
        np.add.at(joint, (place, labels), p)
        return float(np.sum(joint**2 / joint.sum(axis=1, keepdims=True)))

    def _of_rules(self):
        """Sufficiency and necessity of the rules, by what each covers."""
        p, labels = self._masses
        sufficiency = necessity = 0.0
        everybody = np.bincount(labels, p, 2)
        for facts in dict.fromkeys(kind.facts for kind in self._kinds):
            given = np.bincount(labels, p * [kind.facts == facts for kind in self._kinds], 2)
            covered = np.bincount(labels, p * [kind.applicant.has(facts) for kind in self._kinds], 2)
            sufficiency += float(given @ covered / covered.sum())
            necessity += float(given @ (covered / everybody))
        return sufficiency, necessity

    @cached_property
    def codebook(self):
        """The codebook that finds the facts in all wordings; of reasons that copy the answer, the answer too."""
        words = {
            f"{fact[0]} {'for' if fact[1] else 'against'}": "|".join(_clause(fact, voice) for voice in range(WORDINGS))
            for fact in CLAUSES
        }
        facts = {name: rf"\b(?:{clauses})\b" for name, clauses in words.items()}
        answers = {label: rf"\b{label}\b" for label in LABELS} if self.says == "answer" else {}
        return Codebook(facts | answers)

    def draw(self, n, seed=0):
        """Independent rows: applicants, decisions, reasons in words, and rules that state the same."""
        rng = np.random.default_rng(seed)
        p, labels = self._masses
        place = rng.choice(len(p), n, p=p)
        chosen = [self._kinds[j] for j in place]
        levels = np.array([kind.applicant for kind in chosen]).astype(int)
        columns = []
        for level, ranges in zip(levels.T, _RANGES, strict=False):  # numbers on the side of its threshold
            first, last, step = np.array(ranges)[level].T
            columns.append(first + step * rng.integers(0, (last - first) // step + 1))
        X = np.column_stack([*columns, levels[:, 3:]]).astype(float)
        first_names, last_names = (rng.choice(names.split(), n).tolist() for names in (_FIRST_NAMES, _LAST_NAMES))
        fillings = [
            {
                "name": f"{first} {last}",
                "missed": f"{missed:.0f}",
                "debt": f"{debt:.0f}%",
                "income": f"{income:,.0f}",
                "side": "north" if north else "south",
                "channel": "online" if online else "at a branch",
            }
            for first, last, (missed, debt, income, north, online) in zip(first_names, last_names, X, strict=True)
        ]
        texts = [kind.text.format(**filling) for kind, filling in zip(chosen, fillings, strict=True)]
        facts = list(dict.fromkeys(kind.facts for kind in chosen))
        rules = Rules.from_conditions(
            [[_CONDITIONS[fact] for fact in each] for each in facts], features=list(_FEATURES)
        )
        return ReasonedRows(
            reasons=Reasons(texts, [_INPUT.format(**filling) for filling in fillings]),
            rules=rules.take(np.array([facts.index(kind.facts) for kind in chosen])),
            predictions=np.array(LABELS)[labels[place]],
            X=X,
            groups=np.where(X[:, 4] == 1, "online", "branch"),
        )


def _clause(fact, voice, detailed=False):
    return re.sub(r"\[(.*?)\]", r"\1" if detailed else "", CLAUSES[fact][voice])


REASON_SYSTEMS = {
    "faithful": ReasonSystem(),
    "paraphrased": ReasonSystem(wordings=8, details=True),
    "faithful, noisy": ReasonSystem(noise=0.1, wordings=8, details=True),
    "weak shortcut": ReasonSystem(shortcut=0.2, wordings=8, details=True),
    "strong shortcut": ReasonSystem(shortcut=0.6, wordings=8, details=True),
    "shortcut alone": ReasonSystem(shortcut=1.0, wordings=8, details=True),
    "random reasons": ReasonSystem("chance", wordings=8, details=True),
    "copied answer": ReasonSystem("answer", wordings=8),
    "answer in other words": ReasonSystem("hint", wordings=8),
    "made to suit": ReasonSystem("decision", shortcut=0.6, wordings=8, details=True),
    "shortcut tied to payments": ReasonSystem(shortcut=0.6, tied=1.0, wordings=8, details=True),
    "shortcut for one group": ReasonSystem(shortcut=0.8, online_only=True, wordings=8, details=True),
    "wording tells the decision": ReasonSystem(shortcut=0.6, style=1.0, wordings=8),
}
