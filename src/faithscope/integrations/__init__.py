"""Where other libraries ask: a scorer for scikit-learn's searches and cross-validation."""
