"""Services for the tools, leaders, invocations, workflows and schedules of a deployment.

Each service (`ToolRegistry`, `LeaderRegistry`, `Invocations`, `Executions`, …) reads objects of
`package` and sends transactions. `nexus.Nexus` creates all of them: start reading there.
"""

from nexus_tools.registry.administration import Administration
from nexus_tools.registry.executions.costs import ExecutionCost, VertexCost, estimate_execution_cost
from nexus_tools.registry.executions.executions import (
    DEFAULT_DURATION_MS,
    CleanupResult,
    Executions,
    ListedExecution,
    StartedExecution,
)
from nexus_tools.registry.executions.history import (
    OF_EXECUTIONS,
    RUN_EVENTS,
    ExecutionEventFilter,
    RunFailure,
)
from nexus_tools.registry.executions.records import ExecutionRecords
from nexus_tools.registry.executions.run_inputs import RunInputResolver
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
    GatherRegion,
    RequestIterations,
    RequestRun,
    StepCommands,
    StepPredictor,
    add_advance,
    execution_outcome,
)
from nexus_tools.registry.executions.terms import DEFAULT_STEPS
from nexus_tools.registry.executions.waits import Wait, WaitReason
from nexus_tools.registry.invocations.answer_validation import OutputInvalidError, validate_answers
from nexus_tools.registry.invocations.commands import (
    add_outcome,
    add_request,
    quote_mist,
)
from nexus_tools.registry.invocations.history import InvocationHistory, Step
from nexus_tools.registry.invocations.invocations import (
    DEFAULT_MAX_OUTCOME_BYTES,
    InvocationFailedError,
    Invocations,
    outcome_of,
)
from nexus_tools.registry.leaders.leader_registry import LeaderRef, LeaderRegistry
from nexus_tools.registry.leaders.records import (
    LeaderHistories,
    LeaderRecord,
    choose_leaders,
    read_histories,
    read_records,
)
from nexus_tools.registry.questions import Question, Questions
from nexus_tools.registry.schedules.cron import cron_times
from nexus_tools.registry.schedules.overview import ScheduleOverview
from nexus_tools.registry.schedules.reading import schedule_overview
from nexus_tools.registry.schedules.schedules import CreatedSchedule, Schedules
from nexus_tools.registry.tools.declarations import place_function
from nexus_tools.registry.tools.listing import ToolFilter, ToolPage
from nexus_tools.registry.tools.on_chain_calls import (
    FunctionReader,
    MoveFunctionCall,
    RunAttempt,
    add_function_call,
    close_call,
    open_call,
)
from nexus_tools.registry.tools.registration import Registration
from nexus_tools.registry.tools.tool_registry import RegisteredTool, RegisterResult, ToolRegistry
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow, read_workflow
from nexus_tools.registry.workflows.workflows import PublishResult, Workflows, tool_facts

__all__ = [
    "DEFAULT_DURATION_MS",
    "DEFAULT_MAX_OUTCOME_BYTES",
    "DEFAULT_STEPS",
    "MAX_ITERATIONS",
    "MAX_STEPS",
    "OF_EXECUTIONS",
    "RUN_EVENTS",
    "Administration",
    "CleanupResult",
    "CreatedSchedule",
    "ExecutionCost",
    "ExecutionEventFilter",
    "ExecutionRecords",
    "ExecutionResult",
    "ExecutionState",
    "ExecutionStep",
    "Executions",
    "FunctionReader",
    "GatherRegion",
    "InvocationFailedError",
    "InvocationHistory",
    "Invocations",
    "LeaderHistories",
    "LeaderRecord",
    "LeaderRef",
    "LeaderRegistry",
    "ListedExecution",
    "MoveFunctionCall",
    "OutputInvalidError",
    "PublishResult",
    "PublishedWorkflow",
    "Question",
    "Questions",
    "RegisterResult",
    "RegisteredTool",
    "Registration",
    "RequestIterations",
    "RequestRun",
    "RunAttempt",
    "RunFailure",
    "RunInputResolver",
    "RunState",
    "ScheduleOverview",
    "Schedules",
    "StartedExecution",
    "Step",
    "StepCommands",
    "StepPredictor",
    "ToolFilter",
    "ToolPage",
    "ToolRegistry",
    "VertexCost",
    "Wait",
    "WaitReason",
    "Workflows",
    "add_advance",
    "add_function_call",
    "add_outcome",
    "add_request",
    "choose_leaders",
    "close_call",
    "cron_times",
    "estimate_execution_cost",
    "execution_outcome",
    "open_call",
    "outcome_of",
    "place_function",
    "quote_mist",
    "read_histories",
    "read_records",
    "read_workflow",
    "schedule_overview",
    "status_of",
    "tool_facts",
    "validate_answers",
]
