"""Operations on leaders, and their track records. Start with `leader_registry.py`."""
