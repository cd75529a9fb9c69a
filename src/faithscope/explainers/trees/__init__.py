"""Trees of every library, read once in the model's own arithmetic: for proofs, and for SHAP values."""
