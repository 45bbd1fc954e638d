"""The API of scores."""
