"""Planning: how many rows are enough."""
