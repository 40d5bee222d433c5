"""The binary format of Move modules: reading and writing. Start with `deserializer.py`."""
