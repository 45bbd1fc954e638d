"""The crowd for programs: batches to read, and a dry run. Paid acts are for people, on pages and in commands."""
