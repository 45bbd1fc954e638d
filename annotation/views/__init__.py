"""Pages, one function each."""
