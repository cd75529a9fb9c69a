"""Explanation methods: each has explain(X) -> Explanations, over a whole batch, the same for a row in any batch."""
