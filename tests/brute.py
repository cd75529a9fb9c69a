"""The oracle: the paper's definitions written down as they stand, pair by pair, slow and obvious."""

import datetime as dt


def others(explanations, i):
    """The other rows that row i's explanation covers, by equality."""
    return [j for j in range(len(explanations)) if j != i and explanations[j] == explanations[i]]


def consistency(explanations, predictions):
    """M̂ of section 4.1."""
    total = 0.0
    for i in range(len(explanations)):
        covered = others(explanations, i)
        if covered:
            total += sum(predictions[j] == predictions[i] for j in covered) / len(covered)
    return total / len(explanations)


def unverifiable(explanations):
    """Share of rows whose explanation covers no other row."""
    return sum(not others(explanations, i) for i in range(len(explanations))) / len(explanations)


def sufficiency(covers, predictions):
    """M̂ and the unverifiable share for any relation: ``covers[i][j]`` says that row i's explanation covers row j."""
    n, total, silent = len(predictions), 0.0, 0
    for i in range(n):
        covered = [j for j in range(n) if j != i and covers[i][j]]
        if covered:
            total += sum(predictions[j] == predictions[i] for j in covered) / len(covered)
        silent += not covered
    return total / n, silent / n


def necessity(covers, predictions, agree=lambda a, b: a == b, weights=None, clusters=None, given=None, asks=None):
    """Necessity, the unverifiable share and the chance level for any relation, agreement, weights and clusters.

    Pairs of rows of different clusters are weighed by explanation and prediction: ``Σ G · Σ w w' K C / Σ w w' K``, with
    G the weight of the rows that ask (all by default), were `given` an explanation (each its own by default), get a
    prediction, and lie under the explanation, or do not.
    """
    n = len(predictions)
    weight = [1.0] * n if weights is None else [float(w) for w in weights]
    cluster, given = list(range(n)) if clusters is None else list(clusters), range(n) if given is None else given
    groups = {}
    for i in range(n):
        if asks is None or asks[i]:
            groups.setdefault((given[i], predictions[i], bool(covers[i][i])), []).append(i)
    total = silent = chance = checked = 0.0
    for rows in groups.values():
        mass = sum(weight[i] for i in rows)
        pairs = [(i, j, weight[i] * weight[j]) for i in rows for j in range(n) if cluster[j] != cluster[i]]
        alike = sum(each * agree(predictions[i], predictions[j]) for i, j, each in pairs)
        if alike <= 0:
            silent += mass
            continue
        covered = [pair for pair in pairs if covers[pair[0]][pair[1]]]
        total += mass * sum(each * agree(predictions[i], predictions[j]) for i, j, each in covered) / alike
        chance += mass * sum(each for *_, each in covered) / sum(each for *_, each in pairs)
        checked += mass
    whole = checked + silent
    return total / whole, silent / whole, chance / checked if checked else None


def encoding(given, covers, predictions, agree=lambda a, b: a == b, weights=None, clusters=None):
    """Agreement with rows given the same less that with others covered; who is alone, and who covers no others.

    Pairs of rows of different clusters are weighed by explanation, of rows that lie under it and of those that do not.
    """
    n = len(predictions)
    weight = [1.0] * n if weights is None else [float(w) for w in weights]
    cluster = list(range(n)) if clusters is None else list(clusters)
    gap = tested = alone = exclusive = 0.0
    groups = {}
    for i in range(n):
        groups.setdefault((given[i], bool(covers[i][i])), []).append(i)
    for rows in groups.values():
        mass = sum(weight[i] for i in rows)
        others = [(i, j) for i in rows for j in range(n) if cluster[j] != cluster[i]]
        same = [(i, j) for i, j in others if given[j] == given[i]]
        met = [(i, j) for i, j in others if given[j] != given[i] and covers[i][j]]
        if not same:
            alone += mass
        elif not met:
            exclusive += mass
        else:
            shares = [
                sum(weight[i] * weight[j] * agree(predictions[i], predictions[j]) for i, j in pairs)
                / sum(weight[i] * weight[j] for i, j in pairs)
                for pairs in (same, met)
            ]
            gap, tested = gap + mass * (shares[0] - shares[1]), tested + mass
    return (gap / tested if tested else None), alone / sum(weight), exclusive / sum(weight)


def gower(table, known=None):
    """Gower's distance between all rows of a pandas table, with ranges of `known` rows, value by value."""
    import numpy as np
    import pandas as pd

    n, total = len(table), np.zeros((len(table), len(table)))
    for name in table:
        learned = [value for value in (table if known is None else known)[name] if not pd.isna(value)]
        values = [None if pd.isna(value) else _as_number(value) for value in table[name]]
        counts = all(isinstance(_as_number(value), int | float | np.number) for value in learned)
        finite = [_as_number(value) for value in learned if counts and np.isfinite(_as_number(value))]
        width = (max(finite) - min(finite) if finite else 0) or 1
        for i in range(n):
            for j in range(n):
                total[i, j] += _gap(values[i], values[j], width, counts)
    return total / table.shape[1]


def _gap(a, b, width, counts):
    if a == b or a is b:
        return 0.0
    return 1.0 if a is None or b is None or not counts else min(1.0, abs(a - b) / width)


def _as_number(value):
    """Dates as seconds; everything else as it is."""
    import pandas as pd

    if isinstance(value, dt.date):
        moment = pd.Timestamp(value)
        return (moment if moment.tz else moment.tz_localize("UTC")).timestamp()
    return value
