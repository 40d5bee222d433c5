"""Operations on leaders, and their track records. Begin with `leader_registry.py`."""
