"""The website, with the pages of `docs` and references that are generated from the code."""
