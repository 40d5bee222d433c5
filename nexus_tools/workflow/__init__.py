"""What a workflow is: its document, its rules, its meaning and its picture; it knows no chain.

What executes or draws is imported when it is first asked for.
"""

from typing import TYPE_CHECKING

from nexus_tools.late_imports import late_names
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
from nexus_tools.workflow.linter import lint
from nexus_tools.workflow.places import Place, place_of, places_in
from nexus_tools.workflow.plan import Plan, PlannedBlock, PlannedEdge, PlannedVertex, plan_of
from nexus_tools.workflow.reading import read_document
from nexus_tools.workflow.runs import (
    Begun,
    Cancelled,
    Change,
    Closed,
    Collected,
    Event,
    Failed,
    Given,
    Reference,
    Requested,
    Result,
    Run,
    Settled,
    Status,
    TimedOut,
    Value,
    Waiting,
    WalkFailure,
)
from nexus_tools.workflow.semantics import Execution
from nexus_tools.workflow.structure import Block, BlockKind, Structure, structure_of
from nexus_tools.workflow.violation import Severity, Violation, violations_error

if TYPE_CHECKING:
    from nexus_tools.workflow.drawing import (
        Phase,
        VertexState,
        draw_mermaid,
        draw_svg,
        draw_terminal,
    )
    from nexus_tools.workflow.simulation import (
        SimulatedCall,
        SimulatedResult,
        SimulatedTool,
        Simulation,
        StepCosts,
        Stub,
        StubbedOutcome,
        StubFunction,
        ToolFunction,
        chosen_group,
        entry_names,
        read_stubs,
        simulate,
    )

__all__ = [
    "DEFAULT_GROUP",
    "DIALECT",
    "Begun",
    "Block",
    "BlockKind",
    "Cancelled",
    "Change",
    "Closed",
    "Collected",
    "Default",
    "Document",
    "Edge",
    "EdgeKind",
    "EntryGroup",
    "Event",
    "Execution",
    "Failed",
    "Given",
    "Input",
    "InputPort",
    "Output",
    "OutputPort",
    "Phase",
    "Place",
    "Plan",
    "PlannedBlock",
    "PlannedEdge",
    "PlannedVertex",
    "PostFailureAction",
    "Reference",
    "Requested",
    "Result",
    "Run",
    "Settled",
    "Severity",
    "SimulatedCall",
    "SimulatedResult",
    "SimulatedTool",
    "Simulation",
    "Status",
    "StepCosts",
    "Storage",
    "Structure",
    "Stub",
    "StubFunction",
    "StubbedOutcome",
    "TimedOut",
    "ToolFacts",
    "ToolFunction",
    "Value",
    "Verifier",
    "Vertex",
    "VertexKind",
    "VertexState",
    "Violation",
    "Waiting",
    "WalkFailure",
    "Workflow",
    "chosen_group",
    "draw_mermaid",
    "draw_svg",
    "draw_terminal",
    "entry_names",
    "lint",
    "lint_interfaces",
    "place_of",
    "places_in",
    "plan_of",
    "read_document",
    "read_stubs",
    "simulate",
    "structure_of",
    "violations_error",
]

__getattr__ = late_names(
    __name__,
    globals(),
    {
        "drawing": ("Phase", "VertexState", "draw_mermaid", "draw_svg", "draw_terminal"),
        "simulation": (
            "SimulatedCall",
            "SimulatedResult",
            "SimulatedTool",
            "Simulation",
            "StepCosts",
            "Stub",
            "StubFunction",
            "StubbedOutcome",
            "ToolFunction",
            "chosen_group",
            "entry_names",
            "read_stubs",
            "simulate",
        ),
    },
)
