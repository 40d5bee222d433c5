"""Operations on published workflows. Begin with `workflows.py`."""
