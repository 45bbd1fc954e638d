"""AGGREGATE: votes become labels. Pure functions with named rules; the rule is stored with every label."""
