"""The exports of `nexus_tools`: importing them is fast, and type checkers find them."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import nexus_tools

SOURCE = Path(nexus_tools.__file__)
HEAVY = ("aiohttp", "asyncio", "grpc", "grpclib", "httpx", "msgspec", "pydantic", "pysui")


def imported_after(program):
    """The modules that a fresh interpreter has imported after a program, beyond its own."""
    script = f"import sys; before = set(sys.modules)\n{program}\nprint(*set(sys.modules) - before)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_package_import_loads_no_heavy_module():
    imported = imported_after("import nexus_tools")
    assert not imported & set(HEAVY)
    ours = {name for name in imported if name.startswith("nexus_tools")}
    assert ours == {"nexus_tools"}


def test_error_import_loads_no_heavy_module():
    assert not imported_after("from nexus_tools import NexusError") & set(HEAVY)


@pytest.mark.parametrize("name", nexus_tools.__all__)
def test_exported_name_is_available(name):
    assert name in dir(nexus_tools)
    assert getattr(nexus_tools, name) is getattr(nexus_tools, name)


def test_exported_names_are_those_of_the_subpackages():
    from nexus_tools.errors import NexusError
    from nexus_tools.sui.keystore import KeyPair
    from nexus_tools.tool import Answer, Failure, Outcome

    assert nexus_tools.KeyPair is KeyPair
    assert nexus_tools.NexusError is NexusError
    assert nexus_tools.Answer is Answer
    assert nexus_tools.Failure is Failure
    assert nexus_tools.Outcome == Outcome


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Nexsu"):
        nexus_tools.Nexsu  # noqa: B018 - it is asked for


def test_type_checkers_see_the_same_names():
    tree = ast.parse(SOURCE.with_suffix(".pyi").read_text())
    seen = {
        alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert seen == set(nexus_tools.__all__)
