"""A small S3 on loopback, for tools whose SDK insists on object storage."""

from nexus_tools.bridges.unstract.object_store.service import ObjectStore, object_store

__all__ = ["ObjectStore", "object_store"]
