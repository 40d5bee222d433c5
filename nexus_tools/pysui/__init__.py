"""The registry for programs that use pysui: they register, request, settle and claim with it.

Start reading at `registry.py`. `client.py` sends our transactions through a pysui client.
"""

from nexus_tools.pysui.registry import AddingMethods, PysuiRegistry

__all__ = ["AddingMethods", "PysuiRegistry"]
