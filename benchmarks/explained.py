"""anchor-exp, as two of the scripts ask it."""

import numpy as np

from faithscope.explainers.ranges import edges_of


def anchor_exp(explainer, known, threshold, rows, predict, draws=0):
    """Rules as conditions (feature, operator, value), what anchor-exp claims, and the precision of its own new draws.

    By the steps of its ``explain_instance``, which then writes the conditions as text.
    """
    from anchor.anchor_base import AnchorBaseBeam

    np.random.seed(0)  # noqa: NPY002 - theirs
    asked = {"delta": 0.1, "epsilon": 0.15, "batch_size": 100, "desired_confidence": threshold}
    found, rules, claims = [], [], []
    for row in rows:
        draw, mapping = explainer.get_sample_fn(row, predict)
        found.append(AnchorBaseBeam.anchor_beam(draw, **asked))
        rules.append([])
        for j, operator, value in (mapping[place] for place in found[-1]["feature"]):
            bound = value if operator == "eq" else float(edges_of(known[:, j], whole=False)[value])
            rules[-1].append((j, {"eq": "==", "leq": "<="}.get(operator, ">"), bound))
        # The precision of the whole rule, or of all rows if the rule is empty.
        claims.append(([found[-1]["all_precision"]] + found[-1]["precision"])[-1])
    samplers = [explainer.get_sample_fn(row, predict)[0] for row in rows if draws]
    fresh = [draw(list(a["feature"]), draws)[2].mean() for draw, a in zip(samplers, found, strict=False)]
    return rules, claims, fresh
