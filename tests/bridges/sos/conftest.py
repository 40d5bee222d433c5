"""Tools in the style of their authors, in a folder of the test, run by our interpreter."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from textwrap import dedent

import pytest

from nexus_tools.bridges import BridgeHost, Discovery, Naming
from nexus_tools.bridges.sos import SosBridge

HEAD = """\
from typing import Annotated, Any, Dict, List, Literal, Optional, Union
from pydantic import Field
from sos_toolkit.meta import *
from sos_toolkit.meta import SOS_TOOL, SOSContext, ResultObject, sos_tool
"""

Write = Callable[[str, str], Path]
Discover = Callable[..., Awaitable[Discovery]]


@pytest.fixture
def host(tmp_path: Path) -> BridgeHost:
    return BridgeHost(
        python=Path(sys.executable),
        scratch=tmp_path / "scratch",
        cache=tmp_path / "cache",
        environment={"PATH": "/usr/bin:/bin", "OPERATORS_SECRET": "hunter2"},
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


@pytest.fixture
def write(place: Path) -> Write:
    """Return a function that writes a module of tools, with the usual imports, to a path."""

    def write_module(name: str, text: str) -> Path:
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(HEAD + dedent(text))
        return file

    return write_module


@pytest.fixture
def write_system(place: Path) -> Callable[[str], Path]:
    def write_file(text: str) -> Path:
        file = place / "sos-system.yaml"
        file.write_text(dedent(text))
        return file

    return write_file


@pytest.fixture
def discover(place: Path, host: BridgeHost) -> Discover:
    async def find(where: Path | None = None, **options: object) -> Discovery:
        return await SosBridge(**options).discover(where or place, host, Naming("xyz.example"))

    return find


@pytest.fixture
def only_tool(discover: Discover):
    """Return a function that discovers the only tool of the folder, without refusals."""

    async def find(**options: object):
        discovery = await discover(**options)
        assert not discovery.rejected
        [tool] = discovery.tools
        return tool

    return find


MATH = '''
@sos_tool
def give(value: Annotated[Any, Field(description="Value")] = None):
    """Gives its argument."""
    return {"value": value}

@sos_tool
def add(
    a: Annotated[int, Field(description="A")],
    b: Annotated[int, Field(description="B")] = 0,
):
    """Adds."""
    return a + b

@sos_tool
def last(__RESULT__: Annotated[ResultObject, Field(description="Result")]):
    """Gives the result before."""
    return {"last": __RESULT__.data}

@sos_tool
def fail():
    """Fails."""
    raise ValueError("no luck")

@sos_tool
def leave(info: Annotated[Optional[str], Field(description="Why")] = None):
    """Breaks out."""
    raise RuntimeBreak(info)

@sos_tool
def note(
    __CTX__: Annotated[SOSContext, Field(description="Context")],
    word: Annotated[str, Field(description="Word")],
):
    """Writes a word down."""
    __CTX__.set("namespace.words", __CTX__.get("namespace.words", []) + [word], overwrite=True)

@sos_tool
def note_result(
    __CTX__: Annotated[SOSContext, Field(description="Context")],
    __RESULT__: Annotated[ResultObject, Field(description="Result")],
):
    """Writes down what the result is."""
    __CTX__.set("namespace.noted", __RESULT__.data, overwrite=True)

@sos_tool
def call_back(words: Annotated[List[str], Field(description="Words")]):
    """Has words written down afterwards."""
    back = [{"tool": "math.note", "params": {"word": word}} for word in words]
    return ResultObject(data={"n": len(words)}, callbacks=back)
'''

LOADED = "hook: {on_context_load: {load: {tool: context.tool_module, params: {target: math}}}}\n"


@pytest.fixture
def chain(write, write_system, place, discover):
    """Return a function that creates the only chain of a system with the tools of `math`."""
    write("math/tools.py", MATH)

    async def find(text: str, **options: object):
        file = write_system(LOADED + dedent(text))
        discovery = await discover(file, **options)
        assert not discovery.rejected
        [tool] = discovery.tools
        return tool

    return find


@pytest.fixture
def run(chain):
    """Return a function that runs the only action of a system."""

    async def run_chain(text: str, values: object = None, **options: object):
        tool = await chain(text, **options)
        return await tool.invoke({} if values is None else {"context": values})

    return run_chain
