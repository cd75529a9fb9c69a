"""Systems that decide on loans and give reasons in words, with known truth."""
