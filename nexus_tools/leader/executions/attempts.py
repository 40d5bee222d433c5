"""Invocations that are attempts of runs: what their tools are given, and what follows from them.

Anybody can publish a workflow and name any leader for its executions: what cannot be read, or does
not fit, is a failure of that one invocation.
"""

from dataclasses import dataclass

from nexus_tools.contracts.move_bindings.attempt import Attempt
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.errors import NexusError, UnreachableError, ValidationError
from nexus_tools.leader.chain.chain import Chain, FoundExecution
from nexus_tools.leader.chain.workflow_cache import CarriedWorkflow, CarriedWorkflows, in_words
from nexus_tools.leader.closing.closing_batch import SignedInputs
from nexus_tools.leader.closing.continuation import Continuation, run_of
from nexus_tools.leader.dispatch.response_classifier import failure
from nexus_tools.leader.dispatch.tool_call import RunInputs
from nexus_tools.registry import (
    AttemptOfRun,
    ExecutionStep,
    Foresight,
    RunResolver,
    closed_with,
)
from nexus_tools.sui.support.logs import get_logger, in_short
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MoveObject, Shared
from nexus_tools.sui.types.transaction import ObjectArgument, SharedObject
from nexus_tools.tool import Failure, FailureReason, Outcome
from nexus_tools.workflow import Run

_log = get_logger("nexus_tools.leader")


@dataclass(frozen=True, slots=True)
class AttemptOnChain:
    """What a transaction names to put the inputs of an attempt together, and to go on with it.

    `sources` are the closed invocations that have some of the inputs.
    """

    workflow: CarriedWorkflow
    execution: SharedObject
    sources: tuple[Address, ...]

    @property
    def dag(self) -> Address:
        """The id of the workflow."""
        return self.workflow.argument.reference.object_id


class Attempts:
    """Follows what attempts refer to."""

    def __init__(self, chain: Chain, workflows: CarriedWorkflows, resolver: RunResolver) -> None:
        self._chain = chain
        self._workflows = workflows
        self._resolver = resolver

    async def inputs(self, attempt: Attempt) -> RunInputs | Failure:
        """What the tool of a run is given. Raises `UnreachableError`."""
        try:
            execution, workflow = await self._found(attempt)
            run = run_of(workflow, attempt.run.vertex, attempt.run.path)
            inputs = await self._resolver.inputs(execution.execution, workflow.published, run)
            await self._check_read_bytes(attempt, execution.execution, workflow, run, inputs)
        except UnreachableError:
            raise
        except NexusError as error:
            return failure(FailureReason.INPUT_INVALID, in_words(error))
        except Exception as error:  # noqa: BLE001 - a stranger's plan may be anything
            _log.warning("run_unread", execution=str(attempt.execution), error=in_short(error))
            detail = "the plan of the workflow is not that of its document"
            return failure(FailureReason.INPUT_INVALID, detail)
        return RunInputs(name_of(attempt, run.vertex), inputs)

    async def _check_read_bytes(
        self,
        attempt: Attempt,
        execution: Execution,
        workflow: CarriedWorkflow,
        run: Run,
        inputs: Ports,
    ) -> None:
        """Raise `inputs_too_large` if settling reads more on chain than an attempt may read."""
        if not attempt.read_fee_mist:
            return
        size = await self._resolver.read_bytes(execution, workflow.published, run, inputs)
        if size > attempt.max_read_bytes:
            raise ValidationError(
                "inputs_too_large",
                f"the inputs count as {size} bytes on chain, {attempt.max_read_bytes} are allowed",
                hint="give fewer or smaller values to a tool that signs or is on chain",
            )

    async def on_chain(self, attempt: Attempt) -> AttemptOnChain | Failure:
        """What a transaction names that calls the function of its tool.

        Raises `UnreachableError`.
        """
        try:
            execution, workflow = await self._found(attempt)
            run = run_of(workflow, attempt.run.vertex, attempt.run.path)
            sources = await self._resolver.sources(execution.execution, workflow.published, run)
        except UnreachableError:
            raise
        except NexusError as error:
            return failure(FailureReason.INPUT_INVALID, in_words(error))
        return AttemptOnChain(workflow, execution.argument, sources)

    async def signed_inputs(self, attempt: Attempt) -> SignedInputs | None:
        """What settling an attempt with the tool's signature needs; None if that is not known.

        Raises `UnreachableError`.
        """
        found = await self.on_chain(attempt)
        if isinstance(found, Failure):
            return None
        named: dict[Address, ObjectArgument] = {
            found.execution.object_id: found.execution,
            found.dag: found.workflow.argument,
        }
        sources, source_bytes = await self._chain.objects(found.sources), 0
        for place, value in zip(found.sources, sources, strict=True):
            if value is None or not isinstance(value.owner, Shared):
                return None
            named[place] = SharedObject(place, value.owner.initial_version, mutable=False)
            source_bytes += len(value.data.contents) if isinstance(value.data, MoveObject) else 0
        run = AttemptOfRun(found.execution.object_id, found.dag, found.sources)
        return SignedInputs(run, named, source_bytes)

    async def possible(
        self, workflow: CarriedWorkflow, steps: tuple[ExecutionStep, ...]
    ) -> tuple[ExecutionStep, ...]:
        """Those of the steps of which everything is known. Raises `UnreachableError`."""
        await self._workflows.learn_tools(workflow, steps)
        return tuple(step for step in steps if workflow.can_add(step))

    async def continuation(self, attempt: Attempt, outcome: Outcome) -> Continuation | None:
        """How the execution goes on with an outcome; None if that is not known.

        Then others see to it, who look what the chain says. Raises `UnreachableError`.
        """
        try:
            execution, workflow = await self._found(attempt)
            closed = closed_with(outcome)
            found = Continuation(workflow, execution.argument, attempt, closed)
            foresight = Foresight(workflow.plan)
            found.foresee(foresight)
            await self._workflows.learn_tools(workflow, foresight.steps())
        except UnreachableError:
            raise
        except Exception as error:  # noqa: BLE001 - a closing never waits for what follows from it
            _log.warning("not_foreseen", execution=str(attempt.execution), error=in_short(error))
            return None
        return found

    async def _found(self, attempt: Attempt) -> tuple[FoundExecution, CarriedWorkflow]:
        execution = await self._chain.execution(attempt.execution)
        assert execution is not None, "its invocation was deleted before"
        return execution, await self._workflows.of(execution.execution.dag)


def name_of(attempt: Attempt, vertex: str) -> str:
    """A run as tools are told it: `execution/vertex/path/attempt`."""
    path = ",".join(map(str, attempt.run.path))
    return f"{attempt.execution}/{vertex}/{path}/{attempt.number}"
