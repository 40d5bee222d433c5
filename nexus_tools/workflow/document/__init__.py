"""Workflow documents: parsing, structure and violations. Start with `document.py`."""
