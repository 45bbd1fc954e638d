"""RANK: how easily the automatic units of a sentence stand in for those that a person would write."""
