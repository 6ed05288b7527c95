"""models/record."""
