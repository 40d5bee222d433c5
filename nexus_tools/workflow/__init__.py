"""What a workflow is: its document, its rules, its meaning and its picture; it knows no chain."""

from nexus_tools.workflow.document import (
    DEFAULT_GROUP,
    DIALECT,
    Default,
    Document,
    Edge,
    EdgeKind,
    EntryGroup,
    Input,
    InputPort,
    Output,
    OutputPort,
    PostFailureAction,
    Storage,
    Verifier,
    Vertex,
    VertexKind,
)
from nexus_tools.workflow.linter import lint
from nexus_tools.workflow.places import Place, place_of, places_in
from nexus_tools.workflow.reading import read_document
from nexus_tools.workflow.stubs import Stub, StubbedOutcome, StubFunction, read_stubs
from nexus_tools.workflow.violation import Severity, Violation, violations_error

__all__ = [
    "DEFAULT_GROUP",
    "DIALECT",
    "Default",
    "Document",
    "Edge",
    "EdgeKind",
    "EntryGroup",
    "Input",
    "InputPort",
    "Output",
    "OutputPort",
    "Place",
    "PostFailureAction",
    "Severity",
    "Storage",
    "Stub",
    "StubFunction",
    "StubbedOutcome",
    "Verifier",
    "Vertex",
    "VertexKind",
    "Violation",
    "lint",
    "place_of",
    "places_in",
    "read_document",
    "read_stubs",
    "violations_error",
]
