"""What a reader should know of predictions and explanations."""
