"""Tools as their authors would write them, served from folders of their own."""

import json
import os
import sys
from pathlib import Path

import pytest

from nexus_tools.bridges import Host, Naming
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
    """Properties as the protocol's document writes them, of a tool that takes a file."""
    return json.loads(json.dumps(DOCUMENTS_TOOL))


@pytest.fixture
def host_with(tmp_path):
    """A host with an environment of its own."""

    def make(timeout_ms=30_000, shared=(), **environment):
        return Host(
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
def folder_of(tmp_path, properties):
    """Writes the folder of a tool: its program beside `config`, in `src` or not."""

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
def serve(folder_of, host_with):
    """Writes a tool and finds it: gives the one tool of its folder."""

    async def found(program, *, host=None, options=None, **how):
        place = folder_of(program, **how)
        bridge = UnstractBridge(**({"storage": "local"} | (options or {})))
        assert bridge.recognises(place)
        discovery = await bridge.discover(place, host or host_with(), Naming("com.example"))
        assert discovery.refused == ()
        [tool] = discovery.tools
        return tool

    return found


@pytest.fixture
def refusal(folder_of, host_with):
    """Writes a tool that cannot be served: gives the one refusal."""

    async def refused(program="#!/bin/sh\n", **how):
        place = folder_of(program, **how)
        discovery = await UnstractBridge().discover(place, host_with(), Naming("com.example"))
        assert discovery.tools == ()
        [reason] = discovery.refused
        return reason

    return refused
