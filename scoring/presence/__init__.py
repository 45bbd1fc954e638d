"""The embedded judge's parts: how a pair of texts becomes features, and features a probability."""
