"""The author's view: a workflow written in Python, step by step, as it will run."""

from nexus_tools.workflow.authoring.assembly import Located
from nexus_tools.workflow.authoring.blocks import ForEach, ForEachTogether, Loop
from nexus_tools.workflow.authoring.steps import Branch, Step
from nexus_tools.workflow.authoring.value import Value
from nexus_tools.workflow.authoring.workflow import Workflow

__all__ = ["Branch", "ForEach", "ForEachTogether", "Located", "Loop", "Step", "Value", "Workflow"]
