"""models/table."""
