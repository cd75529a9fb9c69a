"""The models that the paper explains, and the data sets that they are trained on."""
