"""Questions of workflows to addresses: which are open, and what is said to them."""

from collections.abc import Sequence
from dataclasses import dataclass

from nexus_tools.contracts import PackageClient, Sent, event_filter, parse_event
from nexus_tools.contracts.move_bindings import waiting
from nexus_tools.contracts.move_bindings.invocation import Invocation, InvocationRequested
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.errors import (
    NexusError,
    NotAllowedError,
    NotFoundError,
    NotNowError,
    UnreachableError,
    ValidationError,
)
from nexus_tools.registry.executions.records import ExecutionRecords
from nexus_tools.registry.executions.run_inputs import RunResolver
from nexus_tools.registry.executions.step_commands import add_advance
from nexus_tools.registry.tools.on_chain_calls import AttemptOfRun, close_call, open_call
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.registry.workflows.workflows import Workflows
from nexus_tools.sui.client import past_events
from nexus_tools.sui.support import units
from nexus_tools.sui.support.arguments import checks_arguments
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ASK, Answer, asks_until_ms, outcome_bytes
from nexus_tools.workflow import Run, Status


@dataclass(frozen=True, slots=True)
class Question:
    """What an address is asked, by whom, and until when its answer counts, in ms since 1970.

    `execution` is None for what was asked outside of a workflow. `ending` says how the execution
    ends whatever the answer is, such as `cancelled`; it is empty where the answer counts.
    """

    invocation: Address
    who: Address
    question: str
    requester: Address
    execution: Address | None
    workflow: str
    asked_at_ms: int
    until_ms: int
    ending: str = ""


@dataclass(frozen=True, slots=True)
class _Asked:
    """An open invocation of `ask`, with its inputs and what a transaction names for them."""

    question: Question
    invocation: Invocation
    attempt: AttemptOfRun | None


@checks_arguments
class Asks(PackageClient):
    """The questions of a deployment. Every method raises as `SuiClient` does."""

    async def open(self, who: Address | None = None) -> list[Question]:
        """The open questions, the oldest first: those to an address, or all."""
        ids = []
        kind = event_filter(self.deployment, InvocationRequested)
        async for record in past_events(self.client, kind):
            event = parse_event(self.deployment, record.event)
            if isinstance(event, InvocationRequested) and event.fqn == ASK:
                ids.append(event.invocation)
        found = await self._asked(ids)
        return [each.question for each in found if who in (None, each.question.who)]

    async def get(self, invocation: Address) -> Question:
        """An open question. Raises `question_unknown`."""
        return (await self._open(invocation)).question

    async def answer(self, invocation: Address, *, approve: bool, note: str = "") -> Sent:
        """Answer a question, and have its execution go on; the sender gets the leader's fee.

        Raises `question_unknown`, `not_asked` for a question to another address, `closed`, or
        `note_too_long`.
        """
        found = await self._open(invocation)
        if found.question.who != self.client.address:
            raise NotAllowedError(
                "not_asked",
                f"the question is to {found.question.who}, not to {self.client.address}",
                hint="answer with the wallet that is asked",
            )
        if await self.client.now_ms() >= found.invocation.expires_at_ms:
            raise NotNowError("closed", f"the time of the question {invocation} is over")
        word = waiting.approve if approve else waiting.reject
        _check_note(found, "approved" if approve else "rejected", note)
        builder = TransactionBuilder()
        call = open_call(builder, self.deployment, invocation, found.invocation.tool, found.attempt)
        word(builder, self.deployment.package, call, note)
        close_call(builder, self.deployment, call, invocation, None)
        if found.attempt is not None:
            execution = found.question.execution
            assert execution is not None
            add_advance(builder, self.deployment, execution, found.attempt.dag, invocation)
        return await self.send(builder)

    async def _open(self, invocation: Address) -> "_Asked":
        for asked in await self._asked([invocation]):
            return asked
        raise NotFoundError(
            "question_unknown",
            f"there is no open question {invocation}",
            hint="`nexus-tools ask list` shows the questions to your wallet",
        )

    async def _asked(self, ids: Sequence[Address]) -> list[_Asked]:
        """Those of the invocations that are open questions, with what is asked.

        Anybody asks anything: what cannot be read, or is asked of no address, is no question.
        """
        found = []
        for invocation in await self.find_all(ids, Invocation):
            if invocation is None or invocation.is_closed or invocation.fqn != ASK:
                continue
            try:
                found.append(await self._read(invocation))
            except UnreachableError:
                raise
            except (NexusError, LookupError, TypeError, ValueError):
                continue
        return found

    async def _read(self, invocation: Invocation) -> _Asked:
        attempt = invocation.attempt
        inputs, workflow, named, ending = {}, "", None, ""
        if attempt is None:
            inputs = invocation.inputs.as_json()
        else:
            execution = await self.read(attempt.execution, Execution)
            published = await Workflows(self.client, self.deployment).by_id(execution.dag)
            names = tuple(published.plan.vertices)
            run = Run(names[attempt.run.vertex], tuple(attempt.run.path))
            resolver = RunResolver(self.client, self.deployment)
            inputs = (await resolver.inputs(execution, published, run)).as_json()
            sources = await resolver.sources(execution, published, run)
            workflow, ending = str(published.fqn), await self._ending(execution, published)
            named = AttemptOfRun(execution.id, execution.dag, sources)
        question = Question(
            invocation.id,
            Address.parse(inputs["who"]),
            str(inputs["question"]),
            invocation.requester,
            attempt.execution if attempt else None,
            workflow,
            invocation.requested_at_ms,
            asks_until_ms(inputs, invocation.requested_at_ms, invocation.expires_at_ms),
            ending,
        )
        return _Asked(question, invocation, named)

    async def _ending(self, execution: Execution, workflow: PublishedWorkflow) -> str:
        """How an execution ends whatever else happens, for people; empty if it goes on."""
        if execution.walks.ending is not None:
            return execution.walks.ending.replace("_", " ")
        terms = await ExecutionRecords(self, execution, workflow).terms()
        is_over = await self.client.now_ms() >= terms.deadline_ms
        return Status.TIMED_OUT.replace("_", " ") if is_over else ""


def _check_note(asked: _Asked, variant: str, note: str) -> None:
    """Raises `note_too_long` for an answer that does not fit into what was paid for."""
    answer = Answer(variant, {"who": str(asked.question.who), "note": note})
    more = outcome_bytes(answer) - asked.invocation.max_outcome_bytes
    if more > 0:
        raise ValidationError(
            "note_too_long",
            f"the note is {units.count(more, 'byte')} longer than what was paid for has room for",
            hint=f"shorten it to {max(0, len(note.encode()) - more)} bytes",
        )
