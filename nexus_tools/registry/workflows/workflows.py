"""The registry of workflows, with methods to publish, read and list workflows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nexus_tools.contracts import (
    PackageClient,
    Sent,
    dag_id,
    event_filter,
    name_id,
    parse_event,
    require_owner,
    tool_id,
)
from nexus_tools.contracts.move_bindings.name import Name
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.tool_registry import ToolRegistry
from nexus_tools.contracts.move_bindings.workflows import dag as calls
from nexus_tools.contracts.move_bindings.workflows.dag import Dag, DagPublished
from nexus_tools.errors import NotAllowedError, NotFoundError, ValidationError, WrongStateError
from nexus_tools.registry.pages import MAX_SCANNED, PAGE_SIZE, Page, read_page
from nexus_tools.registry.tools.listing import Fqn, parse_fqn
from nexus_tools.registry.workflows.publication import Progress, Publication, Step, batches
from nexus_tools.registry.workflows.published_workflow import (
    PublishedWorkflow,
    read_workflow,
    written_defaults,
)
from nexus_tools.sui.client import Cursor, EventRecord
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.support.suggestions import suggestion
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import AddressOwner, Immutable, Object
from nexus_tools.sui.types.transaction import Argument
from nexus_tools.tool import ToolFqn
from nexus_tools.workflow import (
    Document,
    Severity,
    ToolFacts,
    lint,
    lint_interfaces,
    violations_error,
)

_MIN_SIMILARITY = 0.9


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The result of `publish`.

    `sent` is empty if an equal workflow was already published under the FQN. A dry run simulates
    only the first transaction. `remaining` is the number of transactions that it does not simulate.
    """

    fqn: ToolFqn
    workflow: Address
    sent: tuple[Sent, ...]
    remaining: int = 0

    @property
    def cost_mist(self) -> int:
        """The cost of the transactions in MIST. The storage of a workflow is never refunded."""
        return sum(sent.cost.net for sent in self.sent)


@validate_arguments
class Workflows(PackageClient):
    """The workflows of a deployment.

    In addition to the documented errors, every method raises the errors of `SuiClient`, and
    `object_unknown` for a wrong deployment.
    """

    # --- Publishing

    async def publish(
        self,
        document: Document,
        fqn: Fqn,
        description: str = "",
        *,
        on_sent: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> PublishResult:
        """Publish a workflow under a name that the wallet owns, or acquires if it does not exist.

        A large workflow needs several transactions. After each transaction, `on_sent` receives the
        number of sent transactions and the total number. After an interruption, call `publish`
        again to send the missing parts. If an equal document is already published under the FQN, no
        transaction is sent.

        All checks run before any payment. Raises `workflow_invalid` with all `violations`,
        `workflow_too_large`, `not_accepting`, `name_taken`, `fqn_taken` and `workflow_differs`.
        """
        publication = Publication.of(await self._valid(document), parse_fqn(fqn), description)
        id_ = self._id(publication.fqn)
        dag, has_name = await self._find_draft(publication)
        progress = Progress()
        if dag is not None:
            if dag.is_published:
                return PublishResult(publication.fqn, id_, ())
            progress = await self._progress(publication, dag.value)
        transactions = batches(publication.steps(progress), self.deployment)
        sent: list[Sent] = []
        for number, steps in enumerate(transactions):
            builder = TransactionBuilder()
            if dag is None and number == 0:
                dag_argument = publication.draft(builder, self.deployment, has_name=has_name)
            else:
                dag_argument = builder.object(id_, mutable=True)
            self._add(builder, dag_argument, steps, is_last=number == len(transactions) - 1)
            sent.append(await self.send(builder))
            if self.dry_run:
                return PublishResult(publication.fqn, id_, tuple(sent), len(transactions) - 1)
            on_sent(len(sent), len(transactions))
        return PublishResult(publication.fqn, id_, tuple(sent))

    def _add(
        self, builder: TransactionBuilder, dag: Argument, steps: Iterable[Step], *, is_last: bool
    ) -> None:
        package = self.deployment.workflows
        for step in steps:
            step(builder, self.deployment, dag)
        if is_last:
            calls.publish(builder, package, dag)
        else:
            calls.save_draft(builder, package, dag)

    async def _valid(self, document: Document) -> Document:
        """Return the document if it is valid and its tools are registered and compatible."""
        violations = [*lint(document)]
        if not any(violation.severity is Severity.ERROR for violation in violations):
            violations += lint_interfaces(document, await self.facts(document))
        errors = [violation for violation in violations if violation.severity is Severity.ERROR]
        if errors:
            raise violations_error(errors)
        return document

    async def facts(self, document: Document) -> dict[str, ToolFacts]:
        """Return the registry's data about a document's tools by FQN. Do not query domains.

        Raises `definition_invalid` if an invalid definition is registered.
        """
        fqns = {vertex.fqn: _parse_or_none(vertex.fqn) for vertex in document.vertices}
        registry = self.deployment.tool_registry
        ids = {text: tool_id(registry, fqn) for text, fqn in fqns.items() if fqn is not None}
        values = await self.client.objects([*ids.values()])
        tools = {
            text: self.deployment.decode(value, Tool)
            for text, value in zip(ids, values, strict=True)
            if value is not None
        }
        return {text: tool_facts(tool) for text, tool in tools.items()}

    async def _find_draft(self, publication: Publication) -> "tuple[_Draft | None, bool]":
        """Return the draft or published workflow, or None, and whether the wallet owns the name."""
        registry = self.deployment.tool_registry
        name_address = name_id(registry, publication.fqn.unversioned)
        settings, tool, value, name_object = await self.client.objects(
            [registry, tool_id(registry, publication.fqn), self._id(publication.fqn), name_address]
        )
        if tool is not None:
            raise _fqn_taken_error(publication.fqn, "a tool")
        name = self.decode(name_object, Name)
        if name is not None:
            hint = "Choose another domain or name, or sign with the wallet that owns it."
            subject = f"the name {name.name}"
            require_owner(self.client.address, name.owner.owner, subject, "name_taken", hint)
        if value is None:
            if not self.decode_existing(settings, registry, ToolRegistry).settings.accepting:
                raise WrongStateError(
                    "not_accepting",
                    "the registry currently does not accept new registrations",
                    hint="Try again later.",
                )
            return None, name is not None
        return _Draft(
            self._dag(value, publication, self.client.address), _is_published(value)
        ), True

    def _dag(self, value: Object, publication: Publication, wallet: Address) -> Dag:
        dag = self.deployment.decode(value, Dag)
        is_same = (dag.digest, dag.description) == (
            publication.document.digest(),
            publication.description,
        )
        is_mine = _is_published(value) or value.owner == AddressOwner(wallet)
        if not is_mine:
            raise _fqn_taken_error(publication.fqn, "a workflow that another account is publishing")
        if not is_same:
            raise ValidationError(
                "workflow_differs",
                f"{publication.fqn} is published with a different document or description",
                hint=f"Publish it as the next version, {publication.fqn.unversioned}"
                f"@{publication.fqn.version + 1}.",
            )
        return dag

    async def _progress(self, publication: Publication, dag: Dag) -> Progress:
        defaults = await written_defaults(self, dag, [*publication.encoded.defaults])
        return Progress(
            dag.chunks, len(dag.groups), defaults, dag.blocks, dag.vertices, len(dag.page_bytes)
        )

    # --- Reading

    async def find(self, fqn: Fqn) -> PublishedWorkflow | None:
        """Return the workflow with this FQN, or None. Raises `fqn_invalid` or `workflow_mismatch`.

        The method verifies the document's digest and the plan.
        """
        value = await self.client.object(self._id(parse_fqn(fqn)))
        if value is None or not _is_published(value):
            return None
        return await read_workflow(self, self.deployment.decode(value, Dag))

    async def get(self, fqn: Fqn) -> PublishedWorkflow:
        """Return the workflow with this FQN. Raises `workflow_unknown` and the errors of `find`."""
        workflow = await self.find(fqn)
        if workflow is None:
            newest = await self.list(limit=MAX_SCANNED)
            raise NotFoundError(
                "workflow_unknown",
                f"the workflow {fqn} is not published on {self.client.network.name}",
                hint=suggestion(
                    str(fqn),
                    [event.fqn for event in newest.items],
                    otherwise="Run `nexus-tools workflow list` to see all workflows.",
                    cutoff=_MIN_SIMILARITY,
                ),
            )
        return workflow

    async def by_id(self, workflow: Address) -> PublishedWorkflow:
        """Return the workflow with this ID.

        Raises `workflow_unknown`, `object_of_another_type` or `workflow_mismatch`.
        """
        value = await self.client.object(workflow)
        dag = self.decode(value, Dag)
        if dag is None or value is None or not _is_published(value):
            raise NotFoundError(
                "workflow_unknown",
                f"the workflow {workflow} is not published on {self.client.network.name}",
                hint="Run `nexus-tools workflow list` to see all workflows.",
            )
        return await read_workflow(self, dag)

    async def list(
        self,
        owner: Address | None = None,
        *,
        limit: int = PAGE_SIZE,
        before: Cursor | None = None,
    ) -> Page[DagPublished]:
        """Return the publications of an address or of all addresses, newest first."""

        async def read(records: Sequence[EventRecord]) -> list[DagPublished | None]:
            events = [parse_event(self.deployment, record.event) for record in records]
            return [event if isinstance(event, DagPublished) else None for event in events]

        kinds = event_filter(self.deployment, DagPublished)
        if owner is not None:
            kinds = kinds.sent_by(owner)
        return await read_page(self, kinds, read, limit, before)

    def _id(self, fqn: ToolFqn) -> Address:
        return dag_id(self.deployment.require_dag_registry(), fqn)


@dataclass(frozen=True, slots=True)
class _Draft:
    value: Dag
    is_published: bool


def tool_facts(tool: Tool, *, is_proven: bool = True) -> ToolFacts:
    """Return the registry's data about a tool. Raises `definition_invalid`."""
    return ToolFacts(
        tool.definition.parse(),
        price_mist=tool.charge_mist,
        leaders=None if tool.accepts_any_leader else frozenset(map(str, tool.leaders.entries)),
        is_active=tool.is_active,
        is_proven=is_proven,
        signs=tool.requires_signed_outcome,
    )


def _parse_or_none(text: str) -> ToolFqn | None:
    """Return the parsed FQN of a vertex, or None for an invalid FQN, which is never registered."""
    try:
        return ToolFqn.parse(text)
    except ValidationError:
        return None


def _is_published(value: Object) -> bool:
    return isinstance(value.owner, Immutable)


def _fqn_taken_error(fqn: ToolFqn, holder: str) -> NotAllowedError:
    return NotAllowedError(
        "fqn_taken",
        f"{fqn} is {holder}",
        hint="Publish it under another name.",
    )
