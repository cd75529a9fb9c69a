"""Where a log lives: files, databases, frames."""
