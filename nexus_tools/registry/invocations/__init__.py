"""Operations on invocations. Start with `invocations.py`."""
