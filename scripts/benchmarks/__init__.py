"""Benchmarks with one file per figure. A figure is compared with a peer if one exists."""
