"""A log as a table: which columns it has, how they are read as explanations, and how logs are written."""
