"""Operations on workflow executions. Begin with `executions.py`."""
