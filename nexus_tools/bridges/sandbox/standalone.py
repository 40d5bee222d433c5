"""A launcher of one module in an interpreter that does not have this package installed.

    python -I standalone.py <module> <argument>…

The packages above the module become empty packages that have only a `__path__`. The launcher does
not execute an `__init__` of this package. The launcher does not add a folder to `sys.path`, because
untrusted code could then import from this folder. The launcher uses the standard library of Python
3.9 and later.
"""

import importlib
import sys
import types

# The folder that contains the outermost package.
_HOME = __file__.rsplit("/", 4)[0]
_SELF = "nexus_tools.bridges.sandbox.standalone"


def main() -> None:
    """Call `main(arguments)` of the module that the command line names."""
    module = sys.argv[1]
    make_packages(_SELF)
    sys.modules[_SELF] = sys.modules["__main__"]
    make_packages(module)
    importlib.import_module(module).main(sys.argv[2:])


def make_packages(module: str) -> None:
    """Create the missing packages above a module, with folders relative to this file."""
    folder = _HOME
    package = None
    for name in _above(module):
        folder = f"{folder}/{name.rpartition('.')[2]}"
        if name not in sys.modules:
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__path__ = [folder]
            if package:
                setattr(package, name.rpartition(".")[2], sys.modules[name])
        package = sys.modules[name]


def _above(module: str) -> "list[str]":
    words = module.split(".")
    return [".".join(words[:count]) for count in range(1, len(words))]


if __name__ == "__main__":
    main()
