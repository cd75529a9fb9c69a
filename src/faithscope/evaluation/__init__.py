"""Models and explainers in; an Evaluation or a Comparison out."""
