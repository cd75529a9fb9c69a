"""The waist: explanations and predictions in, additive counts out."""
