"""pysui's messages and services of `sui.rpc.v2`, loaded when the first one is needed.

They are loaded from pysui's folder, under a name of ours: importing `pysui` itself would load its
GraphQL client, its configuration and its executors as well, and take three times as long. The
generated code stands by itself.
"""

import importlib.util
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

_PACKAGE = "nexus_tools.client.generated_messages"
_FOLDER = Path("sui/sui_grpc/suimsgs")


@cache
def rpc() -> Any:
    """The module with pysui's message classes and service stubs."""
    return _generated("sui.rpc.v2")


def mask(*paths: str) -> Any:
    """A read mask: the node sends these fields and no others."""
    return _generated("google.protobuf").FieldMask(paths=list(paths))


def _generated(name: str) -> ModuleType:
    if _PACKAGE not in sys.modules:
        spec = importlib.util.find_spec("pysui")  # finds it, and executes nothing of it
        assert spec is not None
        assert spec.submodule_search_locations is not None
        package = ModuleType(_PACKAGE)
        package.__path__ = [
            str(Path(folder) / _FOLDER) for folder in spec.submodule_search_locations
        ]
        sys.modules[_PACKAGE] = package
    return import_module(f"{_PACKAGE}.{name}")
