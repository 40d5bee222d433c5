"""The local execution of a workflow with stubs or real tools.

Start with `simulation`.
"""

from nexus_tools.workflow.simulation.entries import (
    entry_names,
    entry_values,
    needed_names,
    select_entry_group,
)
from nexus_tools.workflow.simulation.simulation import (
    SimulatedCall,
    SimulatedResult,
    Simulation,
    simulate,
)
from nexus_tools.workflow.simulation.step_costs import StepCosts
from nexus_tools.workflow.simulation.stubs import Stub, StubbedOutcome, StubFunction, read_stubs
from nexus_tools.workflow.simulation.tool_calls import SimulatedTool, ToolFunction

__all__ = [
    "SimulatedCall",
    "SimulatedResult",
    "SimulatedTool",
    "Simulation",
    "StepCosts",
    "Stub",
    "StubFunction",
    "StubbedOutcome",
    "ToolFunction",
    "entry_names",
    "entry_values",
    "needed_names",
    "read_stubs",
    "select_entry_group",
    "simulate",
]
