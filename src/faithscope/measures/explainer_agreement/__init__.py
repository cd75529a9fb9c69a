"""How far explainers agree with each other, row by row."""
