"""What a workflow is: its document, its rules, its meaning and its picture; it knows no chain."""

from nexus_tools.workflow.authoring import Workflow
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
from nexus_tools.workflow.interfaces import ToolFacts, lint_interfaces
from nexus_tools.workflow.reading import read_document
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
    "PostFailureAction",
    "Severity",
    "Storage",
    "ToolFacts",
    "Verifier",
    "Vertex",
    "VertexKind",
    "Violation",
    "Workflow",
    "lint_interfaces",
    "read_document",
    "violations_error",
]
