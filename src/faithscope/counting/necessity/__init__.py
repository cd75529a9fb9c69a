"""Necessity: of the rows with a row's prediction, those that its explanation covers, and the same without each row."""
