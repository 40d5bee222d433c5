"""Operations on invocations. Begin with `invocations.py`."""
