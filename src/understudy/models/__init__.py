"""What a model is, and the models that come with the library."""
