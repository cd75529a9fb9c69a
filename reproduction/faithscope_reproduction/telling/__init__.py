"""How reproduced parts are told: one document of sections, and those who write it."""
