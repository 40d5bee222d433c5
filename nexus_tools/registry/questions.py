"""Open questions that workflows ask addresses, and the transaction that answers a question."""

from collections.abc import Sequence
from dataclasses import dataclass

from nexus_tools.contracts import PackageClient, Sent, event_filter, parse_event
from nexus_tools.contracts.move_bindings import waiting
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.settlement import InvocationOpened
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.errors import (
    NexusError,
    NotAllowedError,
    NotFoundError,
    UnreachableError,
    ValidationError,
    WrongStateError,
)
from nexus_tools.registry.executions.records import ExecutionRecords
from nexus_tools.registry.executions.run_inputs import RunInputResolver
from nexus_tools.registry.executions.step_commands import add_advance
from nexus_tools.registry.pages import PAGE_SIZE, Page, read_page
from nexus_tools.registry.tools.on_chain_calls import RunAttempt, close_call, open_call
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.registry.workflows.workflows import Workflows
from nexus_tools.sui.client import Cursor, EventRecord
from nexus_tools.sui.support import units
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import ZERO, Address
from nexus_tools.tool import ASK, Answer, ask_deadline_ms, outcome_bytes
from nexus_tools.workflow import Run, Status


@dataclass(frozen=True, slots=True)
class Question:
    """A question to an address, with its requester and deadline.

    Times are in ms since 1970. `execution` is None if the question was asked outside a workflow. If
    the final status of the execution is already decided, for example `cancelled`, the answer has no
    effect. `decided_status` is the decided final status, or empty.
    """

    invocation: Address
    answerer: Address
    question: str
    requester: Address
    execution: Address | None
    workflow: str
    asked_at_ms: int
    deadline_ms: int
    decided_status: str = ""


@dataclass(frozen=True, slots=True)
class _OpenQuestion:
    """An open invocation of the tool `ask`, its question, and its attempt in a workflow or None."""

    question: Question
    invocation: Invocation
    attempt: RunAttempt | None


@validate_arguments
class Questions(PackageClient):
    """The questions of a deployment. Every method raises the errors of `SuiClient`."""

    async def open(
        self,
        who: Address | None = None,
        *,
        limit: int = PAGE_SIZE,
        before: Cursor | None = None,
    ) -> Page[Question]:
        """Return the open questions to an address, or to all addresses, newest first.

        The page ends early after 1 000 requests of tools that anyone can close, as questions are.
        """

        async def read(records: Sequence[EventRecord]) -> list[Question | None]:
            events = [parse_event(self.deployment, record.event) for record in records]
            asked = [
                event.invocation
                for event in events
                if isinstance(event, InvocationOpened) and event.fqn == ASK
            ]
            questions = {
                entry.question.invocation: entry.question
                for entry in await self._open_questions(asked)
                if who in (None, entry.question.answerer)
            }
            return [questions.get(getattr(event, "invocation", ZERO)) for event in events]

        kinds = event_filter(self.deployment, InvocationOpened)
        return await read_page(self, kinds, read, limit, before)

    async def get(self, invocation: Address) -> Question:
        """Return an open question. Raises `question_unknown`."""
        return (await self._require_open(invocation)).question

    async def answer(self, invocation: Address, *, approve: bool, note: str = "") -> Sent:
        """Answer a question and continue its execution. The wallet receives the leader's fee.

        Raises `question_unknown`, `not_answerer` for a question to another address,
        `already_closed`, or `note_too_long`.
        """
        entry = await self._require_open(invocation)
        if entry.question.answerer != self.client.address:
            raise NotAllowedError(
                "not_answerer",
                f"the question is for {entry.question.answerer}, not for {self.client.address}",
                hint="Sign with the wallet that the question is for.",
            )
        if await self.client.now_ms() >= entry.invocation.expires_at_ms:
            raise WrongStateError(
                "already_closed", f"the deadline of the question {invocation} has passed"
            )
        add_answer = waiting.approve if approve else waiting.reject
        _check_note(entry, "approved" if approve else "rejected", note)
        builder = TransactionBuilder()
        call = open_call(builder, self.deployment, invocation, entry.invocation.tool, entry.attempt)
        add_answer(builder, self.deployment.package, call, note)
        close_call(builder, self.deployment, call, invocation, None)
        if entry.attempt is not None:
            execution = entry.question.execution
            assert execution is not None
            add_advance(builder, self.deployment, execution, entry.attempt.dag, invocation)
        return await self.send(builder)

    async def _require_open(self, invocation: Address) -> "_OpenQuestion":
        for entry in await self._open_questions([invocation]):
            return entry
        raise NotFoundError(
            "question_unknown",
            f"the question {invocation} does not exist or is closed",
            hint="Run `nexus-tools question list` to see the questions for your wallet.",
        )

    async def _open_questions(self, ids: Sequence[Address]) -> list[_OpenQuestion]:
        """Return the open questions among these invocations.

        Inputs are untrusted, so an invocation is skipped if it cannot be read or has no valid
        answerer.
        """
        questions = []
        for invocation in await self.find_all(ids, Invocation):
            if invocation is None or invocation.is_closed or invocation.fqn != ASK:
                continue
            try:
                questions.append(await self._read(invocation))
            except UnreachableError:
                raise
            except (NexusError, LookupError, TypeError, ValueError):
                continue
        return questions

    async def _read(self, invocation: Invocation) -> _OpenQuestion:
        attempt = invocation.attempt
        inputs, workflow, run_attempt, ending = {}, "", None, ""
        if attempt is None:
            inputs = invocation.inputs.as_json()
        else:
            execution = await self.read(attempt.execution, Execution)
            published = await Workflows(self.client, self.deployment).by_id(execution.dag)
            names = tuple(published.plan.vertices)
            run = Run(names[attempt.run.vertex], tuple(attempt.run.path))
            resolver = RunInputResolver(self.client, self.deployment)
            inputs = (await resolver.inputs(execution, published, run)).as_json()
            sources = await resolver.sources(execution, published, run)
            workflow, ending = str(published.fqn), await self._decided_status(execution, published)
            run_attempt = RunAttempt(execution.id, execution.dag, sources)
        question = Question(
            invocation.id,
            Address.parse(inputs["answerer"]),
            str(inputs["question"]),
            invocation.requester,
            attempt.execution if attempt else None,
            workflow,
            invocation.requested_at_ms,
            ask_deadline_ms(inputs, invocation.requested_at_ms, invocation.expires_at_ms),
            ending,
        )
        return _OpenQuestion(question, invocation, run_attempt)

    async def _decided_status(self, execution: Execution, workflow: PublishedWorkflow) -> str:
        """Return the final status of an execution if it is decided, else an empty string."""
        if execution.progress.ending is not None:
            return execution.progress.ending.replace("_", " ")
        terms = await ExecutionRecords(self, execution, workflow).terms()
        is_over = await self.client.now_ms() >= terms.deadline_ms
        return Status.TIMED_OUT.replace("_", " ") if is_over else ""


def _check_note(entry: _OpenQuestion, variant: str, note: str) -> None:
    """Raise `note_too_long` if the answer exceeds the outcome size that the requester paid for."""
    answer = Answer(variant, {"answerer": str(entry.question.answerer), "note": note})
    excess = outcome_bytes(answer) - entry.invocation.max_outcome_bytes
    if excess > 0:
        raise ValidationError(
            "note_too_long",
            f"the note exceeds the size limit of the question by {units.count(excess, 'byte')}",
            hint=f"Shorten it to {max(0, len(note.encode()) - excess)} bytes.",
        )
