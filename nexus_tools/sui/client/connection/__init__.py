"""The gRPC connection to a node, and its errors. Begin with `connection.py`."""
