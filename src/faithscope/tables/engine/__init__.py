"""What a database engine is asked for, whatever its dialect; `backend` says what an engine gives."""
