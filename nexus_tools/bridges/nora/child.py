"""The process that runs a NORA script: it imports the script and calls its `run(params)`.

The process uses the standard library of Python 3.9 and later, and only the worker's modules.
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
    """Return the result of `run` for the request's `params`.

    Other results than JSON values are converted to strings.

    Raises:
        ValueError: for a number that JSON cannot represent.
    """
    # The script can import modules from its folder, as if Python ran the script directly.
    for folder in (request["folder"], os.path.dirname(request["script"])):  # noqa: PTH120 - as sys.path
        if folder not in sys.path:
            sys.path.insert(0, folder)
    with loading():
        module = _module(request["name"], request["script"])
    returned = module.run(request["params"])
    if inspect.iscoroutine(returned):
        returned.close()
        raise TypeError("run must be a plain function, not a coroutine function")
    return _expressible(returned)


def _module(name: str, script: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(_identifier(name), script)
    if spec is None or spec.loader is None:
        raise ImportError(f"the entrypoint {os.path.basename(script)} is not a Python script")  # noqa: PTH119 - as above
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickle look up their module in sys.modules.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _identifier(name: str) -> str:
    """Return the tool's name as a module name, with a prefix if the name cannot be used."""
    identifier = re.sub(r"\W", "_", name, flags=re.ASCII)
    is_taken = identifier in sys.modules or identifier in getattr(sys, "stdlib_module_names", ())
    return identifier if identifier.isidentifier() and not is_taken else f"tool_{identifier}"


def _expressible(value: Any) -> Any:
    try:
        json_text(value)
    except TypeError:
        return str(value).encode("utf-8", "replace").decode("utf-8")
    return value
