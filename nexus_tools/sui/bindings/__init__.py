"""Python bindings for Move packages: `generator` writes them, and they import `runtime` only.

Start with `generate` in `generator/package.py`.
"""
