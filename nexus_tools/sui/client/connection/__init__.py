"""The gRPC connection to a node, and its errors. Start with `connection.py`."""
