"""Random samples of explained predictions, small enough for brute force."""

from hypothesis import strategies as st


@st.composite
def samples(draw, min_size=1, max_size=30):
    """(explanations, predictions): integers, with ties, singletons and many labels all likely."""
    n = draw(st.integers(min_size, max_size))
    explanations = draw(st.integers(0, max(1, n)))
    labels = draw(st.integers(0, 6))
    return (
        draw(st.lists(st.integers(0, explanations), min_size=n, max_size=n)),
        draw(st.lists(st.integers(0, labels), min_size=n, max_size=n)),
    )
