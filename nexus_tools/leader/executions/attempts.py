"""Invocations that are attempts of runs, with their inputs and the execution steps that follow.

Anyone can publish a workflow and name any leader for its executions. Unreadable or invalid data of
a workflow therefore fails only the invocation that needs the data.
"""

from dataclasses import dataclass

from nexus_tools.contracts.move_bindings.attempt import Attempt
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.errors import NexusError, UnreachableError, ValidationError
from nexus_tools.leader.chain.chain import Chain, ExecutionObject
from nexus_tools.leader.chain.workflow_cache import CachedWorkflow, WorkflowCache, in_words
from nexus_tools.leader.closing.closing_batch import SignedInputs
from nexus_tools.leader.closing.continuation import Continuation, run_of
from nexus_tools.leader.dispatch.response_classifier import failure
from nexus_tools.leader.dispatch.tool_call import RunInputs
from nexus_tools.registry import (
    ExecutionStep,
    RunAttempt,
    RunInputResolver,
    StepPredictor,
    execution_outcome,
)
from nexus_tools.sui.support.logs import error_summary, get_logger
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MoveObject, Shared
from nexus_tools.sui.types.transaction import ObjectArgument, SharedObject
from nexus_tools.tool import Failure, FailureReason, Outcome
from nexus_tools.workflow import Run

_log = get_logger("nexus_tools.leader")


@dataclass(frozen=True, slots=True)
class AttemptArguments:
    """The transaction arguments for assembling an attempt's inputs and advancing its execution.

    `sources` are the closed invocations that supply some of the inputs.
    """

    workflow: CachedWorkflow
    execution: SharedObject
    sources: tuple[Address, ...]

    @property
    def dag(self) -> Address:
        """The ID of the workflow."""
        return self.workflow.argument.reference.object_id


class Attempts:
    """A reader of the executions and workflows to which attempts refer."""

    def __init__(self, chain: Chain, workflows: WorkflowCache, resolver: RunInputResolver) -> None:
        self._chain = chain
        self._workflows = workflows
        self._resolver = resolver

    async def inputs(self, attempt: Attempt) -> RunInputs | Failure:
        """Return the inputs of an attempt, or a failure. Raises `UnreachableError`."""
        try:
            execution, workflow = await self._read_execution(attempt)
            run = run_of(workflow, attempt.run.vertex, attempt.run.path)
            inputs = await self._resolver.inputs(execution.execution, workflow.published, run)
            await self._check_read_bytes(attempt, execution.execution, workflow, run, inputs)
        except UnreachableError:
            raise
        except NexusError as error:
            return failure(FailureReason.INPUT_INVALID, in_words(error))
        except Exception as error:  # noqa: BLE001 - the plan is untrusted input
            _log.warning(
                "run_read_failed", execution=str(attempt.execution), error=error_summary(error)
            )
            detail = "the plan of the workflow does not match its document"
            return failure(FailureReason.INPUT_INVALID, detail)
        return RunInputs(name_of(attempt, run.vertex), inputs)

    async def _check_read_bytes(
        self,
        attempt: Attempt,
        execution: Execution,
        workflow: CachedWorkflow,
        run: Run,
        inputs: Ports,
    ) -> None:
        """Raise `inputs_too_large` if the settlement reads more bytes than the attempt allows."""
        if not attempt.read_fee_mist:
            return
        size = await self._resolver.read_bytes(execution, workflow.published, run, inputs)
        if size > attempt.max_read_bytes:
            raise ValidationError(
                "inputs_too_large",
                f"expected inputs of at most {attempt.max_read_bytes} bytes on chain, got {size}",
                hint="Pass fewer or smaller values to a tool that signs or is on chain.",
            )

    async def on_chain(self, attempt: Attempt) -> AttemptArguments | Failure:
        """Return the arguments of a transaction that calls the Move function of the tool.

        Raises:
            UnreachableError: The node does not respond.
        """
        try:
            execution, workflow = await self._read_execution(attempt)
            run = run_of(workflow, attempt.run.vertex, attempt.run.path)
            sources = await self._resolver.sources(execution.execution, workflow.published, run)
        except UnreachableError:
            raise
        except NexusError as error:
            return failure(FailureReason.INPUT_INVALID, in_words(error))
        return AttemptArguments(workflow, execution.argument, sources)

    async def signed_inputs(self, attempt: Attempt) -> SignedInputs | None:
        """Return the arguments of a signed answer to an attempt, or None if they are unknown.

        Raises:
            UnreachableError: The node does not respond.
        """
        arguments = await self.on_chain(attempt)
        if isinstance(arguments, Failure):
            return None
        known_arguments: dict[Address, ObjectArgument] = {
            arguments.execution.object_id: arguments.execution,
            arguments.dag: arguments.workflow.argument,
        }
        sources, source_bytes = await self._chain.objects(arguments.sources), 0
        for place, value in zip(arguments.sources, sources, strict=True):
            if value is None or not isinstance(value.owner, Shared):
                return None
            known_arguments[place] = SharedObject(place, value.owner.initial_version, mutable=False)
            source_bytes += len(value.data.contents) if isinstance(value.data, MoveObject) else 0
        run = RunAttempt(arguments.execution.object_id, arguments.dag, arguments.sources)
        return SignedInputs(run, known_arguments, source_bytes)

    async def possible(
        self, workflow: CachedWorkflow, steps: tuple[ExecutionStep, ...]
    ) -> tuple[ExecutionStep, ...]:
        """Return the steps whose tools all exist. Raises `UnreachableError`."""
        await self._workflows.cache_tools(workflow, steps)
        return tuple(step for step in steps if workflow.can_add(step))

    async def continuation(self, attempt: Attempt, outcome: Outcome) -> Continuation | None:
        """Return the continuation of the execution after an outcome, or None if it is unknown.

        If the continuation is unknown, `ExecutionRunner` later reads the chain and runs the steps.

        Raises:
            UnreachableError: The node does not respond.
        """
        try:
            execution, workflow = await self._read_execution(attempt)
            closed = execution_outcome(outcome)
            continuation = Continuation(workflow, execution.argument, attempt, closed)
            predictor = StepPredictor(workflow.plan)
            continuation.predict(predictor)
            await self._workflows.cache_tools(workflow, predictor.steps())
        except UnreachableError:
            raise
        except Exception as error:  # noqa: BLE001 - following steps never delay a closing
            _log.warning(
                "step_prediction_failed",
                execution=str(attempt.execution),
                error=error_summary(error),
            )
            return None
        return continuation

    async def _read_execution(self, attempt: Attempt) -> tuple[ExecutionObject, CachedWorkflow]:
        execution = await self._chain.execution(attempt.execution)
        assert execution is not None, "an execution with open invocations cannot be deleted"
        return execution, await self._workflows.of(execution.execution.dag)


def name_of(attempt: Attempt, vertex: str) -> str:
    """Return the name by which tools know a run: `execution/vertex/path/attempt`."""
    path = ",".join(map(str, attempt.run.path))
    return f"{attempt.execution}/{vertex}/{path}/{attempt.number}"
