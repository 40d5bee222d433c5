"""Python bindings for Move packages: `generator` writes them, and they import `runtime` only.

Begin with `generate` in `generator/package.py`.
"""
