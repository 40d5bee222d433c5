"""Benchmarks. Each file measures a group of figures, and compares them with a peer if possible."""
