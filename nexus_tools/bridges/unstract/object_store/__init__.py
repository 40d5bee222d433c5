"""A small S3 on loopback, for tools whose SDK insists on object storage."""

from nexus_tools.bridges.unstract.object_store.store import ObjectStore

__all__ = ["ObjectStore"]
