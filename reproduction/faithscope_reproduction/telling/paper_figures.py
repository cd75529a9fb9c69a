"""What the paper shows in each figure, in words: it prints few numbers there, and its curves are not published."""

_TREES = (
    "curves of six trees of 64 to 2,048 leaves that rise to 1.0, the larger the tree the later; means of 5 runs with "
    "95% bands. No numbers are printed"
)
_SHOWN = {
    "figure1-adult": f"{_TREES} but one: the 2,048-leaf tree takes 4,300 rows to reach 0.9.",
    "figure6": f"{_TREES}.",
    "figure7": "curves that rise to 1.0, later for larger k and for more training rows N; it does not say which k and "
    "N, and prints no numbers.",
    "figure3-adult": "Figure 3: sufficiency and the number of distinct explanations rise with the threshold, "
    "consistency falls. No numbers are printed.",
    "figure3": "Figure 8: the same three curves as Figure 3. No numbers are printed.",
    "figure4": "bars of four explainers in two populations; anchors highest in the first, 0.934 ± 0.003, SHAP highest "
    "in the second, 0.885 ± 0.006.",
}
WITHOUT_A_DRAWING = {
    "figure2": "Figure 2 is two anchors and their counts, and Figure 5 two bars of LIME; both stand among the numbers: "
    "figure2 and figure5 below.",
}


def shown(name: str) -> str:
    """What the paper shows in the figure with this name, such as ``figure6-chess``; empty if it has none."""
    fitting = [start for start in _SHOWN if name.startswith(start)]
    return _SHOWN[max(fitting, key=len)] if fitting else ""
