"""The binary format of Move modules: reading and writing. Begin with `deserializer.py`."""
