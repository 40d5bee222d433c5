"""Tools on Sui: the verbs of tools, leaders and invocations, over the objects of `package`."""

from nexus_tools.registry.administration import Administration
from nexus_tools.registry.answers import OutputInvalidError, invalid_answers
from nexus_tools.registry.asks import Asks, Question
from nexus_tools.registry.consent import DEFAULT_STEPS
from nexus_tools.registry.cron import cron_times
from nexus_tools.registry.declarations import placed
from nexus_tools.registry.execution_costs import ExecutionCost, VertexCost, execution_cost
from nexus_tools.registry.execution_history import OF_EXECUTIONS, OF_RUNS, Following, RunFailure
from nexus_tools.registry.execution_records import ExecutionRecords
from nexus_tools.registry.execution_state import (
    ExecutionResult,
    ExecutionState,
    RunState,
    status_of,
)
from nexus_tools.registry.execution_waits import Wait, WaitsFor
from nexus_tools.registry.executions import (
    DEFAULT_LASTS_MS,
    BegunExecution,
    Cleaned,
    Executions,
    ListedExecution,
)
from nexus_tools.registry.invocation_commands import (
    add_outcome,
    add_request,
    quote_mist,
)
from nexus_tools.registry.invocation_history import History, Step
from nexus_tools.registry.invocations import (
    DEFAULT_OUTCOME_BYTES,
    InvocationFailedError,
    Invocations,
    outcome_of,
)
from nexus_tools.registry.leader_records import (
    Histories,
    LeaderRecord,
    choose_leaders,
    read_histories,
    read_records,
)
from nexus_tools.registry.leader_registry import LeaderName, LeaderRegistry
from nexus_tools.registry.listing import ToolFilter, ToolPage
from nexus_tools.registry.on_chain_calls import (
    AttemptOfRun,
    FunctionReader,
    MoveFunctionCall,
    add_function,
    close_call,
    open_call,
)
from nexus_tools.registry.registration import Registration
from nexus_tools.registry.run_inputs import RunResolver
from nexus_tools.registry.schedule_reading import standing_of
from nexus_tools.registry.schedule_standing import ScheduleStanding
from nexus_tools.registry.schedules import CreatedSchedule, Schedules
from nexus_tools.registry.step_commands import (
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
from nexus_tools.registry.tool_registry import RegisteredTool, RegisterResult, ToolRegistry
from nexus_tools.registry.workflow_reading import PublishedWorkflow, read_workflow
from nexus_tools.registry.workflows import PublishResult, Workflows, tool_facts

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
