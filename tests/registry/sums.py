"""Workflows of a tool that adds, in the short notation of `tests.workflow.notation`."""

import json

from nexus_tools.workflow import read_document
from tests.workflow.notation import flow

ADD = "xyz.example.math.add@1"

TWICE = ("> one.a", "> one.b", "one.ok.result -> two.a", "two.b = 7", "two.ok.result >")
"""Adds three numbers, of which one is 7."""


def sums(*lines, **fields):
    """Return the document of these lines; each vertex adds two numbers."""
    written = flow(*lines, **fields)
    for vertex in written["vertices"]:
        vertex["kind"]["tool_fqn"] = ADD
    document, warnings = read_document(json.dumps(written))
    assert not warnings
    return document
