"""Benchmarks: one file per figure, each compared with a peer if one exists."""
