"""Runs a NORA script in the foreign interpreter: imports it, and calls its `run(params)`.

Standard library of Python 3.9 and later; of the package nothing but the worker's side.
"""

import importlib.util
import inspect
import os
import re
import sys
from types import ModuleType
from typing import Any

from nexus_tools.bridges.worker.child import json_text, loading


def reply(request: "dict[str, Any]") -> Any:
    """What `run` returns for the request's `params`; as text if it is no value of JSON's kinds.

    Raises `ValueError` for a number that JSON has no word for, as every bridge does.
    """
    # As for a script that is started: what lies beside it can be imported.
    for folder in (request["folder"], os.path.dirname(request["script"])):  # noqa: PTH120 - as sys.path
        if folder not in sys.path:
            sys.path.insert(0, folder)
    with loading():
        module = _module(request["name"], request["script"])
    returned = module.run(request["params"])
    if inspect.iscoroutine(returned):
        returned.close()
        raise TypeError("run is a coroutine function, and has to be a plain one")
    return _expressible(returned)


def _module(name: str, script: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(_identifier(name), script)
    if spec is None or spec.loader is None:
        raise ImportError(f"the entrypoint {os.path.basename(script)} is no Python script")  # noqa: PTH119 - as above
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickles look for their module there.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _identifier(name: str) -> str:
    """The name of the module: the tool's, unless it is no identifier, or another module's."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    taken = plain in sys.modules or plain in getattr(sys, "stdlib_module_names", ())
    return plain if plain.isidentifier() and not taken else f"tool_{plain}"


def _expressible(value: Any) -> Any:
    try:
        json_text(value)
    except TypeError:
        return str(value).encode("utf-8", "replace").decode("utf-8")
    return value
