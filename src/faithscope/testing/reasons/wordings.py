"""The words of planted reasons: eight wordings of each fact, of answers, and the inputs that reasons are about."""

import re
from collections.abc import Mapping

Fact = tuple[str, bool]  # a factor, and whether it speaks for the loan

FACTORS = ("payments", "debt", "income")
LABELS = ("approved", "denied")
WORDINGS = 8

# What stands in brackets is only said in detail. Texts without it are as folding leaves them.
CLAUSES: dict[Fact, tuple[str, ...]] = {
    ("payments", False): (
        "payments were missed[ {missed} times]",
        "instalments came late[ in {missed} months]",
        "the account fell behind[ {missed} times]",
        "bills stayed unpaid[ on {missed} occasions]",
        "the record shows arrears[ in {missed} cases]",
        "due dates passed without a transfer[ {missed} times]",
        "reminders had to be sent[, {missed} in all]",
        "repayment was irregular[ with {missed} gaps]",
    ),
    ("payments", True): (
        "payments came on time[ but for {missed}]",
        "instalments arrived promptly[ but for {missed}]",
        "the account kept up[ but for {missed} months]",
        "bills were settled[ with {missed} exceptions]",
        "the record is clean[ but for {missed} cases]",
        "due dates were met[ all but {missed}]",
        "hardly any reminder was needed[, {missed} in all]",
        "repayment was steady[ with {missed} gaps]",
    ),
    ("debt", False): (
        "debts are too high[ at {debt}]",
        "too much is owed[, {debt} in all]",
        "liabilities weigh heavily[ at {debt}]",
        "other loans take a large part[, {debt}]",
        "the burden of credit is heavy[ at {debt}]",
        "borrowing is excessive[ at {debt}]",
        "obligations exceed our limit[ at {debt}]",
        "what is owed elsewhere is a lot[, {debt}]",
    ),
    ("debt", True): (
        "debts are low[ at {debt}]",
        "little is owed[, {debt} in all]",
        "liabilities weigh lightly[ at {debt}]",
        "other loans take a small part[, {debt}]",
        "the burden of credit is light[ at {debt}]",
        "borrowing is modest[ at {debt}]",
        "obligations stay within our limit[ at {debt}]",
        "what is owed elsewhere is slight[, {debt}]",
    ),
    ("income", False): (
        "income is too low[ at {income}]",
        "earnings do not suffice[ at {income}]",
        "the salary is small[ at {income}]",
        "wages fall short[ at {income}]",
        "pay is below our line[ at {income}]",
        "takings are thin[ at {income}]",
        "revenue is weak[ at {income}]",
        "what comes in is scarce[, {income}]",
    ),
    ("income", True): (
        "income is high enough[ at {income}]",
        "earnings suffice[ at {income}]",
        "the salary is generous[ at {income}]",
        "wages go far enough[ at {income}]",
        "pay is above our line[ at {income}]",
        "takings are ample[ at {income}]",
        "revenue is strong[ at {income}]",
        "what comes in is plenty[, {income}]",
    ),
}

_FRAMES = (
    "{facts}.",
    "The main point is that {facts}.",
    "We saw that {facts}.",
    "In short, {facts}.",
    "It matters here that {facts}.",
    "What decided is that {facts}.",
    "Our review says that {facts}.",
    "Put simply, {facts}.",
)
_ANSWERS = (
    "This is {label}, as requests of this kind are {label}.",
    "It is {label} because it had to be {label}.",
    "We looked at it and it is {label}.",
    "It is {label} by our rules.",
    "Such a request is always {label}.",
    "After review the request is {label}.",
    "The outcome is {label}, as it should be.",
    "Clearly {label}.",
)
_HINTS = (
    ("The bank is glad to say yes.", "The bank is sorry to say no."),
    ("You meet what we ask for.", "You do not meet what we ask for."),
    ("We can go ahead.", "We cannot go ahead."),
    ("The request fits our policy.", "The request does not fit our policy."),
    ("This is a good risk.", "This is a bad risk."),
    ("The overall picture is favorable.", "The overall picture is unfavorable."),
    ("Our rules speak for it.", "Our rules speak against it."),
    ("There is nothing to object to.", "There is something to object to."),
)
_CLOSING = " So the loan is {label}."

INPUT = (
    "{name} applies {channel}, lives {side} of the river, has {missed} missed payments, debts of {debt} of income, "
    "and an income of {income}."
)
INPUT_WORDS = frozenset(["applies", "lives", "river", "missed", "payments", "debts", "income"])  # of every input
_FIRST_NAMES = (
    "Ada Amir Anna Bela Carlos Chloe Dana Elif Emre Eva Fatima Felix Hana Hugo Ines Ivan Jonas Kofi Lena Li Maja Mateo "
    "Milan Mina Nadia Noor Omar Paolo Pia Rosa Sven Yuki"
)
_LAST_NAMES = (
    "Abara Adler Baptiste Becker Chen Cohen Costa Diaz Dubois Eriksen Farouk Ferrari Fischer Garcia Haddad Hansen "
    "Ibrahim Ito Jansen Kaya Khan Kim Kowalski Larsen Lopez Mensah Moreau Nagy Nguyen Novak Okafor Olsen Patel "
    "Petrov Rossi Ruiz Santos Sato Silva Tanaka"
)
FIRST_NAMES, LAST_NAMES = _FIRST_NAMES.split(), _LAST_NAMES.split()


def wording(says: str, facts: tuple[Fact, ...], voice: int, *, detailed: bool, closing: bool, label: int) -> str:
    """A reason with the label filled in, and fields for the details of a row."""
    if says == "answer":
        text = _ANSWERS[voice]
    elif says == "hint":
        text = _HINTS[voice][label]
    else:
        text = _FRAMES[voice].format(facts=" and ".join(_clause(fact, voice, detailed) for fact in facts))
    told = text[0].upper() + text[1:] + _CLOSING * closing
    return ("{name}: " if detailed else "") + told.replace("{label}", LABELS[label])


def cues(fact: Fact) -> str:
    """A pattern that finds all wordings of a fact."""
    return r"\b(?:" + "|".join(_clause(fact, voice, detailed=False) for voice in range(WORDINGS)) + r")\b"


def blanked(wording: str) -> str:
    """The template of a wording: words of every input, details and labels as marks, of which neighbors are one."""
    words = re.sub(r"[.,:]", " ", re.sub(r"\{\w+\}", "<input>", wording)).lower().split()
    marks: Mapping[str, str] = dict.fromkeys(INPUT_WORDS, "<input>") | dict.fromkeys(LABELS, "<label>")
    marked = [marks.get(word, word) for word in words]
    return " ".join(w for at, w in enumerate(marked) if w not in ("<input>", "<label>") or marked[at - 1 : at] != [w])


def _clause(fact: Fact, voice: int, detailed: bool) -> str:
    return re.sub(r"\[(.*?)\]", r"\1" if detailed else "", CLAUSES[fact][voice])
