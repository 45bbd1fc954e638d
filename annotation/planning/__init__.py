"""PLAN: what a share of STUs costs, how long it takes, and which sentences it sends to people. Pure."""
