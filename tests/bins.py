"""Rules from bins: one lower and one upper bound per feature and row."""

import numpy as np

import faithscope as fs


def rules_in_bins(lower, upper, features):
    """For every feature ``lower < x <= upper``; without a bound where it is infinite."""
    rows = zip(np.asarray(lower).tolist(), np.asarray(upper).tolist(), strict=True)
    return fs.Rules.from_conditions(
        [
            [
                bound
                for name, low, high in zip(features, *row, strict=True)
                for bound in ((name, ">", low), (name, "<=", high))
                if np.isfinite(bound[2])
            ]
            for row in rows
        ],
        features,
    )
