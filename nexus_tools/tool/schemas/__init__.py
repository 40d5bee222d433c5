"""JSON Schemas of inputs and outputs: checks, validation, and examples.

Begin with `schema.py` and `validator.py`.
"""
