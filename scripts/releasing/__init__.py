"""Releases: checks, reproducible builds, digests, signatures, and an SBOM."""
