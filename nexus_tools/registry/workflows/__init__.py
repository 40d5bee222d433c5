"""Operations on published workflows. Start with `workflows.py`."""
