"""The API of the corpus: the same projects, roles and services as the pages, for programs."""
