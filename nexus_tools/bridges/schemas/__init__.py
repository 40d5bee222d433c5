"""JSON Schemas, ports and variants of bridged tools. Start with `ports.py`."""
