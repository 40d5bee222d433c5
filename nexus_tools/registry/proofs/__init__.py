"""Proofs of paid calls, as documents that anyone can compare with a node."""
