"""What a caller has, as plain arrays; or one clear sentence why not."""
