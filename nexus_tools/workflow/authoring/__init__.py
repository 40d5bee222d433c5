"""The Python API with which authors write a workflow step by step.

Begin with `workflow`; `sketch` holds the unfinished workflow, and `assembly` turns it into a
document.
"""

from nexus_tools.workflow.authoring.assembly import Located
from nexus_tools.workflow.authoring.blocks import ForEach, ForEachTogether, Loop
from nexus_tools.workflow.authoring.steps import Branch, Step
from nexus_tools.workflow.authoring.value import Value
from nexus_tools.workflow.authoring.workflow import Workflow

__all__ = ["Branch", "ForEach", "ForEachTogether", "Located", "Loop", "Step", "Value", "Workflow"]
