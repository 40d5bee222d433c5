"""Tools in the style of their authors, served from folders of their own."""

import json
import os
import sys
from pathlib import Path

import pytest

from nexus_tools.bridges import BridgeHost, Naming
from nexus_tools.bridges.sandbox import ProcessLimits
from nexus_tools.bridges.unstract import UnstractBridge

DOCUMENTS_TOOL = {
    "display_name": "Document Indexer",
    "function_name": "document_indexer",
    "description": "This tool creates indexes and embeddings for documents.",
    "versions": ["1.0.0"],
    "is_cacheable": False,
    "input_type": "file",
    "output_type": "file",
    "requires": {
        "files": {"input": True, "output": False},
        "databases": {"input": False, "output": False},
    },
}


@pytest.fixture
def properties():
    """Return properties in the specification's spelling, for a tool that takes a file."""
    return json.loads(json.dumps(DOCUMENTS_TOOL))


@pytest.fixture
def make_host(tmp_path):
    """Return a function that creates a host with its own environment."""

    def make(timeout_ms=30_000, shared=(), **environment):
        return BridgeHost(
            python=Path(sys.executable),
            scratch=tmp_path / "scratch",
            cache=tmp_path / "cache",
            environment={"PATH": os.environ["PATH"], **environment},
            shared=frozenset(shared),
            limits=ProcessLimits(),
            timeout_ms=timeout_ms,
        )

    return make


@pytest.fixture
def write_tool(tmp_path, properties):
    """Return a function that writes a tool: its program beside `config`, in `src` or not."""

    def write(program, *, name="main.sh", properties=properties, config=None, within="."):
        folder = tmp_path / "tool" / within
        (folder / "config").mkdir(parents=True)
        documents = {
            "properties.json": properties,
            "spec.json": {},
            "runtime_variables.json": {},
            "icon.svg": "<svg/>",
        }
        for file, document in (documents | (config or {})).items():
            text = document if isinstance(document, str) else json.dumps(document)
            if document is not None:
                (folder / "config" / file).write_text(text)
        if program is not None:
            (folder / name).write_text(program)
            (folder / name).chmod(0o755)
        return tmp_path / "tool"

    return write


@pytest.fixture
def serve(write_tool, make_host):
    """Return a function that writes and discovers a tool."""

    async def found(program, *, host=None, options=None, **how):
        place = write_tool(program, **how)
        bridge = UnstractBridge(**({"storage": "local"} | (options or {})))
        assert bridge.recognises(place)
        discovery = await bridge.discover(place, host or make_host(), Naming("com.example"))
        assert discovery.rejected == ()
        [tool] = discovery.tools
        return tool

    return found


@pytest.fixture
def refusal(write_tool, make_host):
    """Return a function that writes an invalid tool and returns its refusal."""

    async def refused(program="#!/bin/sh\n", **how):
        place = write_tool(program, **how)
        discovery = await UnstractBridge().discover(place, make_host(), Naming("com.example"))
        assert discovery.tools == ()
        [reason] = discovery.rejected
        return reason

    return refused
