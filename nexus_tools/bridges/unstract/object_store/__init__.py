"""A small S3 server on a loopback address, for tools whose SDK requires object storage.

Start reading at `service.py`.
"""

from nexus_tools.bridges.unstract.object_store.service import ObjectStore, object_store

__all__ = ["ObjectStore", "object_store"]
