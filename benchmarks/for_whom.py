"""Sufficient for whom? The same explanations on five populations of inputs, for the paper's data sets.

    python benchmarks/for_whom.py             # twenty minutes, most of it anchor-exp's
    python benchmarks/for_whom.py --quick     # a minute: fewer rows, three data sets, no anchor-exp
    python benchmarks/for_whom.py --json benchmarks/results/for_whom.json --plot docs/images/sufficient-for-whom.svg
    python benchmarks/for_whom.py --read benchmarks/results/for_whom.json --plot docs/images/sufficient-for-whom.svg

FAITHSCOPE_DATA names the folder that holds the data sets. The model of each is XGBoost's, 25 rounds of trees of depth
4, trained on 20,000 rows at most; explained are rows that it has not seen. Populations draw from 5,000 training rows.

real        the other rows that were explained (fs.RealRows)
nearest     the row, with what is not fixed from its 50 nearest training rows that the rule covers (fs.Conditional)
perturbed   training rows made to meet the rule, as Anchors does (fs.Perturbed), 100 per row
product     every feature drawn by itself from training rows (fs.Product), 100 per row
uniform     points drawn evenly between the ends of each feature (fs.drawn), 100 per row

A cell is the share of inputs under a row's rule that keep the row's prediction, among rows that can be checked, and the
95% interval, which allows for rows that cannot. "broken" is the share of rows under whose rule any of all these inputs
gets another prediction: a lower limit of how many rules do not hold for all points.
"""

import argparse
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xgboost

import faithscope as fs
from faithscope.reproduce.models.splits import NAMES, Split, split
from for_whom_anchor_exp import against_anchor_exp, told
from for_whom_rules import THRESHOLDS, covers, explained, uniform_points
from ratios import describe_machine, is_missing

POPULATIONS = ("real", "nearest", "perturbed", "product", "uniform")
TRAINED, DRAWN_FROM = 20_000, 5_000  # training rows
ANCHORED = {"heart": 50, "bank": 150, "adult": 200}  # rows that anchor-exp explains; other test rows are the real ones
CLAIMS = ("claimed", "fresh")  # by anchor-exp: what it returns, and new draws of its own
QUICK = ("heart", "bank", "adult")


def fitted(data: Split) -> xgboost.XGBClassifier:
    """Boosted trees of a data set."""
    trees = xgboost.XGBClassifier(n_estimators=25, max_depth=4, n_jobs=1)
    return trees.fit(data.train[:TRAINED], data.y_train[:TRAINED])


def populations(
    rules: fs.Rules, model: Any, train: np.ndarray, X: np.ndarray, categorical: tuple[int, ...], draws: int
) -> Iterator[tuple[str, Any]]:
    """The five populations, by name."""
    yield "real", fs.RealRows()
    yield "nearest", fs.Conditional(train)
    yield "perturbed", fs.Perturbed(train, draws=draws)
    yield "product", fs.Product(train, draws=draws)
    points, of = uniform_points(rules, X, train, categorical, draws)
    yield "uniform", fs.drawn(rules, points, model, of=of)


def measured(
    model: Any, train: np.ndarray, X: np.ndarray, categorical: tuple[int, ...] = (), draws: int = 100
) -> Iterator[dict[str, Any]]:
    """One line per explainer: what its rules reach on every population."""
    for name, rules in explained(model, train, X, categorical).items():
        line: dict[str, Any] = {
            "explanation": name,
            "conditions": float(np.mean(list(map(len, rules.to_conditions())))),
        }
        broken = np.zeros(len(X), bool)
        for population, chosen in populations(rules, model, train, X, categorical, draws):
            estimate = fs.sufficiency(rules, model, X, population=chosen)
            line[population] = told(estimate)
            broken |= breaks(rules, model, X, estimate, population)
        yield line | {"broken": float(broken.mean())}


def breaks(rules: fs.Rules, model: Any, X: np.ndarray, estimate: fs.Estimate, population: str) -> np.ndarray:
    """Under whose rule any input of the population gets another prediction."""
    if population != "real":
        return np.asarray(estimate.counts.agreeing < estimate.counts.others)
    labels = model.predict(X)
    return np.array([(labels[covers(rules, row, X)] != label).any() for row, label in enumerate(labels)])


def shown(cell: dict[str, Any]) -> str:
    """A share, and its interval, whose ends are rounded outward."""
    share = "–" if cell["verified"] is None else digits(cell["verified"], 3)
    low, high = math.floor(100 * cell["low"] + 1e-9) / 100, math.ceil(100 * cell["high"] - 1e-9) / 100
    return f"{share:4} {digits(low, 2)}–{digits(high, 2)}"


def digits(share: float, places: int) -> str:
    """A share without its leading 0; 1 only if it is exactly 1, else rounded down at worst."""
    return "1" if share == 1 else f"{min(share, 1 - 10.0**-places):.{places}f}".lstrip("0")


def header() -> str:
    return f"{'':7} {'':13} " + " ".join(f"{name:12}" for name in POPULATIONS) + " broken"


def line_of(line: dict[str, Any]) -> str:
    cells = " ".join(f"{shown(line[name]):12}" for name in POPULATIONS)
    return f"{line['data']:7} {line['explanation']:13} {cells} {line['broken']:6.0%}"


def compared(line: dict[str, Any]) -> str:
    """What anchor-exp says of its rules, beside perturbed and real rows."""
    parts = [f"claimed {digits(line['claimed'], 3)}", f"fresh {digits(line['fresh'], 3)}"]
    parts += [f"{name} {shown(line[name])}" for name in ("perturbed", "real")]
    return f"{line['data']:5} {line['threshold']:<4} " + "  ".join(parts)


def gaps_header() -> str:
    names = ("claimed - perturbed", "fresh - perturbed", "claimed - real", "fresh - real")
    return f"{'':10} " + " ".join(f"{name:21}" for name in names).rstrip()


def gaps(line: dict[str, Any]) -> str:
    """How far what anchor-exp says lies from what was measured, row by row."""
    cells = [signed(line["apart"][f"{claim} - {name}"]) for name in ("perturbed", "real") for claim in CLAIMS]
    return f"{line['data']:5} {line['threshold']:<4} " + " ".join(cells).rstrip()


def signed(gap: dict[str, Any]) -> str:
    """A difference, and its interval, whose ends are rounded outward; a star if 0 lies outside."""
    ends = math.floor(1000 * gap["low"]) / 1000, math.ceil(1000 * gap["high"]) / 1000
    mean, low, high = (f"{value:+.3f}".replace("0.", ".", 1) for value in (gap["mean"], *ends))
    return f"{mean}{'*' if gap['low'] > 0 or gap['high'] < 0 else ' '} [{low}, {high}]"


def apart(lines: list[dict[str, Any]]) -> str:
    """How often another population than the real rows gives another answer; formal reasons are left out."""
    lines = [line for line in lines if line["explanation"] != "formal reason"]
    told = []
    for name in POPULATIONS[1:]:
        pairs = [(line["real"], line[name]) for line in lines]
        above = sum(other["low"] > real["high"] for real, other in pairs)
        below = sum(other["high"] < real["low"] for real, other in pairs)
        told.append(f"{name} {above} above and {below} below")
    return f"of {len(lines)} intervals, apart from that of real rows: {'; '.join(told)}"


def study(names: tuple[str, ...], rows: int, anchored: dict[str, int]) -> dict[str, Any]:
    """All lines, printed as they come."""
    folder, lines, claims = Path(os.environ["FAITHSCOPE_DATA"]), [], []
    print(header(), flush=True)
    for name in names:
        data = split(name, folder)
        model, train, X = fitted(data), data.train[:DRAWN_FROM], data.test[:rows]
        for line in measured(model, train, X, data.categorical):
            lines.append({"data": name, "rows": len(X)} | line)
            print(line_of(lines[-1]), flush=True)
        for asked in THRESHOLDS if name in anchored and not is_missing("anchor") else ():
            claims.append(against_anchor_exp(data, model, data.test[: anchored[name]], train, asked))
            print(compared(claims[-1]), flush=True)
    print(*[gaps_header(), *map(gaps, claims)] if claims else [], apart(lines), sep="\n")
    return {"lines": lines, "anchor-exp": claims}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=300, help="rows explained of each data set")
    parser.add_argument("--json", type=Path, help="where to keep the numbers")
    parser.add_argument("--read", type=Path, help="numbers that were kept, instead of measuring")
    parser.add_argument("--plot", type=Path, help="where to draw the picture")
    asked = parser.parse_args()
    if asked.read:
        results = json.loads(asked.read.read_text())
        print(header(), *map(line_of, results["lines"]), sep="\n")
        print(*map(compared, results["anchor-exp"]), gaps_header(), *map(gaps, results["anchor-exp"]), sep="\n")
        print(apart(results["lines"]))
    else:
        print(describe_machine(("faithscope", "numpy", "xgboost", "anchor")), "\n")
        results = study(QUICK, 50, {}) if asked.quick else study(NAMES, asked.rows, ANCHORED)
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=1) + "\n")
    if asked.plot:
        from for_whom_picture import draw

        draw(results["lines"], asked.plot)


if __name__ == "__main__":
    main()
