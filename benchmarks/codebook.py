"""A codebook of 50 patterns on 1,000,000 rationales, all different: how long it takes, in memory and in an audit.

Rationales are those of people (e-SNLI, in FAITHSCOPE_DATA) joined in pairs, so that no two are equal.
Run: python benchmarks/codebook.py [rows]
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

import faithscope as fs
from faithscope.discretizers.reasons.codebook import Codebook

CUES = [
    r"not|no|never|nobody|nothing",
    r"because|since|as",
    r"possibl[ey]|may|might|could",
    r"just\s+because",
    r"same|equal|identical",
    r"(?:not|no)\s+(?:all|every|necessarily)",
    r"synonym|means?|rephras\w+",
    r"impl(?:y|ies)",
    r"therefore|thus|hence",
    r"so",
    r"either|both|simultaneous\w*",
    r"(?:type|kind|form)\s+of",
    r"man|men|guy",
    r"woman|women|lady",
    r"child|children|kids?",
    r"dog|puppy",
    r"outside|outdoors",
    r"inside|indoors",
    r"sleep\w*|asleep",
    r"run\w*",
    r"play\w*",
    r"walk\w*",
    r"sit\w*",
    r"stand\w*",
    r"eat\w*",
    r"cook\w*",
    r"young|youth",
    r"old|elderly",
    r"red|blue|green|black|white",
    r"two|2",
    r"three|3",
    r"group|crowd",
    r"people",
    r"street|road",
    r"park|field",
    r"water|ocean",
    r"beach|sand",
    r"music|guitar|band",
    r"ball|soccer|football",
    r"bike|bicycle",
    r"car|truck|bus",
    r"house|home",
    r"shirt|dress|hat",
    r"look(?:s|ing)?\s+at",
    r"wait\w*",
    r"work\w*",
    r"(?:can|does|is)\s+not",
    r"different\w*",
    r"assum\w+",
    r"part\s+of",
]
PATTERNS = {f"cue {j}": rf"\b(?:{cue})\b" for j, cue in enumerate(CUES)}


def rationales(rows: int) -> list[str]:
    """So many different texts, of two rationales each."""
    table = pd.read_parquet(Path(os.environ["FAITHSCOPE_DATA"], "esnli.parquet"), columns=["explanation_1"])
    texts = table["explanation_1"].dropna().unique()
    first, second = np.random.default_rng(0).integers(0, len(texts), (2, 2 * rows)).tolist()
    pairs = dict.fromkeys(zip(first, second, strict=True))
    return [f"{texts[a]} {texts[b]}" for a, b in list(pairs)[:rows]]


def main(rows: int) -> None:
    texts = rationales(rows)
    print(f"{len(texts):,} rationales, all different, of {np.mean([len(text) for text in texts]):.0f} characters")
    began = time.process_time()
    reasons = fs.Reasons(texts)
    folded = time.process_time()
    codes = Codebook(PATTERNS)(reasons)
    coded = time.process_time()
    print(f"folding {folded - began:.1f} s, {len(PATTERNS)} patterns {coded - folded:.1f} s (of one core)")
    print(f"{len(codes.group()[1]):,} different sets of names")
    _measured(texts, reasons)


def _measured(texts: list[str], reasons: fs.Reasons) -> None:
    """Consistency without a discretizer, with and without labels that reasons name; then the audit of a log."""
    answers = np.random.default_rng(1).choice(["same", "different"], len(texts))
    began = time.process_time()
    fs.consistency(reasons, np.where(answers == "same", "yxz", "zxy"))
    unnamed = time.process_time()
    fs.consistency(reasons, answers)
    named = time.process_time()
    print(f"consistency of the texts {unnamed - began:.1f} s; with labels that reasons name {named - unnamed:.1f} s")
    log = pa.table({"rationale": texts, "answer": answers.tolist()})
    began = time.process_time()
    audited = fs.audit(log, prediction="answer", explanation="rationale", discretizer=Codebook(PATTERNS))
    print(f"the audit of the log with DuckDB {time.process_time() - began:.1f} s (of all cores together)")
    print(audited.consistency)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
