"""The site: the pages of `docs`, the README, and what is generated from the code."""
