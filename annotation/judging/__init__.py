"""JUDGE: which summaries are judged by how many, what a page of answers holds, how texts are shown. Pure."""
