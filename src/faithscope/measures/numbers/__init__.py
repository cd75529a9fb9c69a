"""What measures read of predictions that are numbers."""
