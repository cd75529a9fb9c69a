"""Where results go: Markdown, notebooks, pages, MLflow; each file writes the `Card` of any result."""
