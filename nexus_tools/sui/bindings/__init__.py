"""Python bindings for Move packages. `generator` writes bindings, which import only `runtime`.

Start with `generate` in `generator/package.py`.
"""
