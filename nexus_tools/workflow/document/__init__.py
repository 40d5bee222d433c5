"""Workflow documents: parsing, structure and violations. Begin with `document.py`."""
