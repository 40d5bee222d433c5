"""Services for the tools, leaders, invocations, workflows and schedules of a deployment.

Each service (`ToolRegistry`, `LeaderRegistry`, `Invocations`, `Executions`, …) reads objects of
`package` and sends transactions. `nexus.Nexus` creates all of them: start reading there.
"""

from nexus_tools.registry.administration import Administration
from nexus_tools.registry.executions.costs import ExecutionCost, VertexCost, execution_cost
from nexus_tools.registry.executions.executions import (
    DEFAULT_LASTS_MS,
    BegunExecution,
    Cleaned,
    Executions,
    ListedExecution,
)
from nexus_tools.registry.executions.history import OF_EXECUTIONS, OF_RUNS, Following, RunFailure
from nexus_tools.registry.executions.records import ExecutionRecords
from nexus_tools.registry.executions.run_inputs import RunResolver
from nexus_tools.registry.executions.state import (
    ExecutionResult,
    ExecutionState,
    RunState,
    status_of,
)
from nexus_tools.registry.executions.step_commands import (
    MAX_ITERATIONS,
    MAX_STEPS,
    ExecutionStep,
    Foresight,
    Gather,
    RequestIterations,
    RequestRun,
    StepCommands,
    add_advance,
    closed_with,
)
from nexus_tools.registry.executions.terms import DEFAULT_STEPS
from nexus_tools.registry.executions.waits import Wait, WaitsFor
from nexus_tools.registry.invocations.answer_validation import OutputInvalidError, invalid_answers
from nexus_tools.registry.invocations.commands import (
    add_outcome,
    add_request,
    quote_mist,
)
from nexus_tools.registry.invocations.history import History, Step
from nexus_tools.registry.invocations.invocations import (
    DEFAULT_OUTCOME_BYTES,
    InvocationFailedError,
    Invocations,
    outcome_of,
)
from nexus_tools.registry.leaders.leader_registry import LeaderName, LeaderRegistry
from nexus_tools.registry.leaders.records import (
    Histories,
    LeaderRecord,
    choose_leaders,
    read_histories,
    read_records,
)
from nexus_tools.registry.questions import Asks, Question
from nexus_tools.registry.schedules.cron import cron_times
from nexus_tools.registry.schedules.overview import ScheduleStanding
from nexus_tools.registry.schedules.reading import standing_of
from nexus_tools.registry.schedules.schedules import CreatedSchedule, Schedules
from nexus_tools.registry.tools.declarations import placed
from nexus_tools.registry.tools.listing import ToolFilter, ToolPage
from nexus_tools.registry.tools.on_chain_calls import (
    AttemptOfRun,
    FunctionReader,
    MoveFunctionCall,
    add_function,
    close_call,
    open_call,
)
from nexus_tools.registry.tools.registration import Registration
from nexus_tools.registry.tools.tool_registry import RegisteredTool, RegisterResult, ToolRegistry
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow, read_workflow
from nexus_tools.registry.workflows.workflows import PublishResult, Workflows, tool_facts

__all__ = [
    "DEFAULT_LASTS_MS",
    "DEFAULT_OUTCOME_BYTES",
    "DEFAULT_STEPS",
    "MAX_ITERATIONS",
    "MAX_STEPS",
    "OF_EXECUTIONS",
    "OF_RUNS",
    "Administration",
    "Asks",
    "AttemptOfRun",
    "BegunExecution",
    "Cleaned",
    "CreatedSchedule",
    "ExecutionCost",
    "ExecutionRecords",
    "ExecutionResult",
    "ExecutionState",
    "ExecutionStep",
    "Executions",
    "Following",
    "Foresight",
    "FunctionReader",
    "Gather",
    "Histories",
    "History",
    "InvocationFailedError",
    "Invocations",
    "LeaderName",
    "LeaderRecord",
    "LeaderRegistry",
    "ListedExecution",
    "MoveFunctionCall",
    "OutputInvalidError",
    "PublishResult",
    "PublishedWorkflow",
    "Question",
    "RegisterResult",
    "RegisteredTool",
    "Registration",
    "RequestIterations",
    "RequestRun",
    "RunFailure",
    "RunResolver",
    "RunState",
    "ScheduleStanding",
    "Schedules",
    "Step",
    "StepCommands",
    "ToolFilter",
    "ToolPage",
    "ToolRegistry",
    "VertexCost",
    "Wait",
    "WaitsFor",
    "Workflows",
    "add_advance",
    "add_function",
    "add_outcome",
    "add_request",
    "choose_leaders",
    "close_call",
    "closed_with",
    "cron_times",
    "execution_cost",
    "invalid_answers",
    "open_call",
    "outcome_of",
    "placed",
    "quote_mist",
    "read_histories",
    "read_records",
    "read_workflow",
    "standing_of",
    "status_of",
    "tool_facts",
]
