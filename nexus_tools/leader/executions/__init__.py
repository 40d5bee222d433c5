"""Steps of workflow executions, and on-chain tools. Start with `executions.py`."""
