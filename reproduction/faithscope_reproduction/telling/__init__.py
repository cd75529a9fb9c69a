"""How reproduced parts are told: terminal, Markdown, and an HTML page."""
