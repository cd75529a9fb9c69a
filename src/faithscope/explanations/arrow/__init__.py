"""Every kind of explanation as an Arrow table, and back."""
