"""Stand-ins for what the authors of the paper most probably ran."""
