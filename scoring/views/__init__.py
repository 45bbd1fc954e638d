"""Pages of scores."""
