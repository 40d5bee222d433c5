"""What a workflow is: its document, its rules, its meaning and its picture; it knows no chain.

What draws is imported when it is first asked for.
"""

from typing import TYPE_CHECKING

from nexus_tools.late_imports import late_names
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
from nexus_tools.workflow.reading import read_document
from nexus_tools.workflow.violation import Severity, Violation, violations_error

if TYPE_CHECKING:
    from nexus_tools.workflow.drawing import (
        Phase,
        VertexState,
        draw_mermaid,
        draw_svg,
        draw_terminal,
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
    "Phase",
    "PostFailureAction",
    "Severity",
    "Storage",
    "Verifier",
    "Vertex",
    "VertexKind",
    "VertexState",
    "Violation",
    "draw_mermaid",
    "draw_svg",
    "draw_terminal",
    "read_document",
    "violations_error",
]

__getattr__ = late_names(
    __name__,
    globals(),
    {"drawing": ("Phase", "VertexState", "draw_mermaid", "draw_svg", "draw_terminal")},
)
