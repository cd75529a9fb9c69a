"""What a database engine is asked for, whatever its dialect; `protocol` says what an engine must give."""
