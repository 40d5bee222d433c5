"""Operations on workflow executions. Start with `executions.py`."""
