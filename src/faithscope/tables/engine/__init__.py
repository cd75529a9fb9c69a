"""What a database engine is asked for, whatever its dialect."""
