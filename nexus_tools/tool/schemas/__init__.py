"""JSON Schemas of inputs and outputs: checks, validation, and examples.

Start with `schema.py` and `validator.py`.
"""
