"""AllenNLP as an isolated parser: its models run in a process of another Python, and speak JSON lines."""
