"""Benchmarks: one file per figure, each measured beside a peer if there is one."""
