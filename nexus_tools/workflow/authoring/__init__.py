"""The Python API with which authors write a workflow step by step.

Start with `workflow`. `sketch` holds the unfinished workflow, and `assembly` converts it to a
document.
"""

from nexus_tools.workflow.authoring.assembly import Located
from nexus_tools.workflow.authoring.blocks import ForEach, ForEachZipped, Loop
from nexus_tools.workflow.authoring.steps import Branch, Step
from nexus_tools.workflow.authoring.value import Value
from nexus_tools.workflow.authoring.workflow import Workflow

__all__ = ["Branch", "ForEach", "ForEachZipped", "Located", "Loop", "Step", "Value", "Workflow"]
