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
    "Storage",
    "Verifier",
    "Vertex",
    "VertexKind",
]
