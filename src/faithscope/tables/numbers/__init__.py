"""Predictions that are numbers, counted where the rows are: agreement, leave-one-out values, worst explanations."""
