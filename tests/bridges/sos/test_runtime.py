"""The `sos_toolkit` that tools import: the interpreter's package, or our replacement."""

import sysconfig
import venv
from dataclasses import replace
from pathlib import Path

import pytest

from nexus_tools.bridges import Naming
from nexus_tools.bridges.sos import SosBridge

TOOL = """\
from typing import Annotated, Optional
from pydantic import Field
from sos_toolkit.meta import SOSContext, sos_tool
import sos_toolkit

@sos_tool
def origin(__CTX__: Annotated[SOSContext, Field(description="Context")]):
    '''Where things come from.'''
    return {"file": getattr(sos_toolkit, "__file__", None), "context": type(__CTX__).__module__}
"""

INSTALLED = """\
class SOSContext:
    def __init__(self, **sections):
        self.sections = sections
    def dict(self):
        return self.sections

class ResultObject:
    def __init__(self, data=None, callbacks=()):
        self.data, self.callbacks = data, callbacks

class Registry:
    def get(self, name, default=None):
        return default

SOS_TOOL = Registry()

def sos_tool(function):
    return function
"""

NAMES = [
    *("SOSContext", "SOS_TOOL", "sos_tool", "ResultObject", "ResultRepo", "MetaCondition"),
    *("MetaRunnable", "MetaObject", "MetaConfig", "RuntimeBreak", "ToolRepo", "ToolObject"),
    "_global",
]


@pytest.fixture
def interpreter(tmp_path):
    """Return an interpreter that also has a package `sos_toolkit`."""
    venv.create(tmp_path / "env", symlinks=True)
    [packages] = (tmp_path / "env" / "lib").glob("python*/site-packages")
    (packages / "ours.pth").write_text(sysconfig.get_path("purelib"))
    (packages / "sos_toolkit" / "meta").mkdir(parents=True)
    (packages / "sos_toolkit" / "__init__.py").write_text("")
    (packages / "sos_toolkit" / "meta" / "__init__.py").write_text(INSTALLED)
    return tmp_path / "env" / "bin" / "python"


async def test_package_of_the_interpreter_is_used(interpreter, host, place):
    (place / "t.py").write_text(TOOL)
    found = await SosBridge().discover(place, replace(host, python=interpreter), Naming())
    [tool] = found.tools
    assert tool.source.endswith("t.py:origin on SOS-Toolkit of the interpreter")
    outcome = await tool.invoke({})
    result = outcome.ports["result"]
    assert Path(result["file"]).is_relative_to(interpreter.parent.parent)
    assert result["context"] == "sos_toolkit.meta"


async def test_own_runtime_is_used_without_the_package(write, only_tool):
    write("ns/t.py", TOOL)
    tool = await only_tool()
    assert tool.source.endswith("t.py:origin on own runtime")
    assert (await tool.invoke({})).ports["result"]["file"] is None


async def test_own_runtime_has_the_names_that_tools_import(write, only_tool):
    imported = f"from sos_toolkit.meta import {', '.join(NAMES)}"
    write("ns/t.py", f'{imported}\n@sos_tool\ndef one():\n    """One."""')
    await only_tool()


async def test_interpreter_without_pydantic_is_reported(host, write, place, tmp_path):
    write("ns/t.py", '@sos_tool\ndef one():\n    """One."""')
    venv.create(tmp_path / "bare", symlinks=True)
    bare = replace(host, python=tmp_path / "bare" / "bin" / "python")
    [refusal] = (await SosBridge().discover(place, bare, Naming())).rejected
    assert "does not have pydantic" in refusal.reason
    assert (
        refusal.hint
        == f"Install the module for {bare.python}, or choose another interpreter with --python."
    )
