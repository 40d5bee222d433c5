"""Python bindings for Move packages. `generator` writes them. Bindings import only `runtime`.

Start with `generate` in `generator/package.py`.
"""
