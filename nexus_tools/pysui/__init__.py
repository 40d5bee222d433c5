"""The registry for programs that use pysui, with which they register, request, settle and claim.

Start reading at `registry.py`. `client.py` sends transactions through a pysui client.
"""

from nexus_tools.pysui.registry import AddingMethods, PysuiRegistry

__all__ = ["AddingMethods", "PysuiRegistry"]
