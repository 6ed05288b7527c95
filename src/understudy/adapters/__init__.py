"""Models written in other languages, as models of this library."""
