"""What a measure says in words and in a few lines: verdicts, and cards of results."""
