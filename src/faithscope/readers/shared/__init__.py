"""What several readers share: what a caller asks for, classes, tokens, printed conditions, cells of dice-ml."""
