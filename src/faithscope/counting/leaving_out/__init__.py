"""The measure without each row, or without each block of rows."""
