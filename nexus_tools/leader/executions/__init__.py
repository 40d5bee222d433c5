"""Steps of workflow executions, and calls of on-chain tools. Start with `execution_runner.py`."""
