"""Workflows written in Python: a `Workflow` takes what its author says, and gives a document."""

from collections.abc import Mapping, Sequence
from typing import Any, overload

from nexus_tools.errors import NexusError, UsageError, ValidationError
from nexus_tools.spelling import suggestion
from nexus_tools.tool import MAX_DESCRIPTION_BYTES, ToolFqn
from nexus_tools.workflow.authoring.assembly import Assembly
from nexus_tools.workflow.authoring.blocks import ForEach, ForEachOfSeveral, Loop
from nexus_tools.workflow.authoring.feeding import as_value, feed
from nexus_tools.workflow.authoring.input_types import InputType, shape_of_type
from nexus_tools.workflow.authoring.lines import Line, authors_line
from nexus_tools.workflow.authoring.sketch import (
    Block,
    BlockKind,
    Collected,
    Draft,
    Feed,
    First,
    GivenInput,
    PortValue,
    Sketch,
    Value,
    first_of,
)
from nexus_tools.workflow.authoring.steps import OnFailure, Step, failure_action
from nexus_tools.workflow.authoring.used_tool import UsedTool, used_tool
from nexus_tools.workflow.document import DEFAULT_PARALLEL, Document
from nexus_tools.workflow.shape import Shape
