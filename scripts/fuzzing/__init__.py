"""Fuzzing with hostile inputs, which hypothesis derives from genuine ones."""
