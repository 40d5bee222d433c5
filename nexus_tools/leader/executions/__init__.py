"""Steps of workflow executions, and on-chain tools. Start with `execution_runner.py`."""
