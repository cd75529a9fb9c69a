"""Conditions to draw: (feature, operator, value), as callers write them."""

from hypothesis import strategies as st

ORDER = ["<=", "<", ">=", ">"]


def conditions(feature, values, ordered=None, ends=("", " or missing")):
    """Conditions on a feature with any of these values, of which some have an order."""
    options = [
        st.tuples(st.sampled_from(["==", "!="]), values),
        st.tuples(st.sampled_from(["in", "not in"]), st.lists(values, max_size=3).map(tuple)),
    ]
    if ordered is not None:
        options += [st.tuples(st.sampled_from(ORDER), ordered)] * 3
        options.append(st.tuples(st.just("between"), st.tuples(ordered, ordered)))
    written = st.tuples(feature, st.one_of(options), st.sampled_from(ends))
    return written.map(lambda drawn: (drawn[0], drawn[1][0] + drawn[2], drawn[1][1]))
