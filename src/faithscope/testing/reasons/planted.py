"""Planted systems by name: what each is a case of."""

from faithscope.testing.reasons.system import ReasonSystem

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
