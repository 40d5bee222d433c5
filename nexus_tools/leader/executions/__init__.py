"""Steps of workflow executions, and on-chain tools. Begin with `executions.py`."""
