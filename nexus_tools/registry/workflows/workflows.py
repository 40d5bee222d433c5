"""The registry of workflows: publishing, reading and listing them."""

from collections.abc import Callable, Iterable
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
from nexus_tools.errors import NotAllowedError, NotFoundError, NotNowError, ValidationError
from nexus_tools.registry.tools.listing import Fqn, parse_fqn
from nexus_tools.registry.workflows.publication import Progress, Publication, Step, batches
from nexus_tools.registry.workflows.published_workflow import (
    PublishedWorkflow,
    read_workflow,
    written_defaults,
)
from nexus_tools.sui.client import past_events
from nexus_tools.sui.support.arguments import checks_arguments
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

_ALIKE = 0.9


@dataclass(frozen=True, slots=True)
class PublishResult:
    """What `publish` did; `sent` is empty if the same was published before.

    In a dry run, only the first of several transactions can be simulated: `left` is how many others
    there are.
    """

    fqn: ToolFqn
    workflow: Address
    sent: tuple[Sent, ...]
    left: int = 0

    @property
    def cost_mist(self) -> int:
        """What the transactions cost. What they store is never given back."""
        return sum(sent.cost.net for sent in self.sent)


@checks_arguments
class Workflows(PackageClient):
    """The workflows of a deployment.

    Besides the errors that are named, every method raises as `SuiClient` does, and
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
        """Publish a workflow under a name that the wallet owns or gets.

        That may be several transactions: after each, `on_sent` is told how many of how many were
        sent. Whoever was interrupted calls it again: nothing is written twice. What the wallet has
        published alike is left as it is. Raises, before money moves, `workflow_invalid` with all
        `violations`, `workflow_too_large`, `not_accepting`, `name_taken`, `fqn_taken` and
        `workflow_differs`.
        """
        wanted = Publication.of(await self._valid(document), parse_fqn(fqn), description)
        id_ = self._id(wanted.fqn)
        dag, has_name = await self._begun(wanted)
        done = Progress()
        if dag is not None:
            if dag.is_published:
                return PublishResult(wanted.fqn, id_, ())
            done = await self._progress(wanted, dag.value)
        parts = batches(wanted.steps(done), self.deployment)
        sent: list[Sent] = []
        for number, part in enumerate(parts):
            builder = TransactionBuilder()
            if dag is None and number == 0:
                begun = wanted.draft(builder, self.deployment, has_name=has_name)
            else:
                begun = builder.object(id_, mutable=True)
            self._add(builder, begun, part, is_last=number == len(parts) - 1)
            sent.append(await self.send(builder))
            if self.dry_run:
                return PublishResult(wanted.fqn, id_, tuple(sent), len(parts) - 1)
            on_sent(len(sent), len(parts))
        return PublishResult(wanted.fqn, id_, tuple(sent))

    def _add(
        self, builder: TransactionBuilder, dag: Argument, steps: Iterable[Step], *, is_last: bool
    ) -> None:
        package = self.deployment.workflows
        for step in steps:
            step(builder, self.deployment, dag)
        if is_last:
            calls.publish(builder, package, dag)
        else:
            calls.keep(builder, package, dag)

    async def _valid(self, document: Document) -> Document:
        """The document, if it keeps the rules, and all its tools are registered and fit."""
        found = [*lint(document)]
        if not any(each.severity is Severity.ERROR for each in found):
            found += lint_interfaces(document, await self.facts(document))
        errors = [each for each in found if each.severity is Severity.ERROR]
        if errors:
            raise violations_error(errors)
        return document

    async def facts(self, document: Document) -> dict[str, ToolFacts]:
        """What the registry knows of the tools of a document, by FQN; domains are not asked.

        Raises `definition_invalid` where somebody registered what is no definition.
        """
        fqns = {vertex.fqn: _parsed(vertex.fqn) for vertex in document.vertices}
        registry = self.deployment.tool_registry
        ids = {text: tool_id(registry, fqn) for text, fqn in fqns.items() if fqn is not None}
        values = await self.client.objects([*ids.values()])
        tools = {
            text: self.deployment.decode(value, Tool)
            for text, value in zip(ids, values, strict=True)
            if value is not None
        }
        return {text: tool_facts(tool) for text, tool in tools.items()}

    async def _begun(self, wanted: Publication) -> "tuple[_Begun | None, bool]":
        """What there is of the workflow, and whether its name is the wallet's already."""
        registry = self.deployment.tool_registry
        name_at = name_id(registry, wanted.fqn.unversioned)
        settings, tool, value, named = await self.client.objects(
            [registry, tool_id(registry, wanted.fqn), self._id(wanted.fqn), name_at]
        )
        if tool is not None:
            raise _taken(wanted.fqn, "a tool")
        name = self.decoded(named, Name)
        if name is not None:
            hint = "choose another domain or name, or sign with the wallet that owns it"
            right = f"the name {name.name}"
            require_owner(self.client.address, name.owner.owner, right, "name_taken", hint)
        if value is None:
            if not self.existing(settings, registry, ToolRegistry).settings.accepting:
                raise NotNowError(
                    "not_accepting",
                    "the registry takes no new registrations at present",
                    hint="try later",
                )
            return None, name is not None
        return _Begun(self._dag(value, wanted, self.client.address), _is_published(value)), True

    def _dag(self, value: Object, wanted: Publication, wallet: Address) -> Dag:
        dag = self.deployment.decode(value, Dag)
        same = (dag.digest, dag.description) == (wanted.document.digest(), wanted.description)
        is_mine = _is_published(value) or value.owner == AddressOwner(wallet)
        if not is_mine:
            raise _taken(wanted.fqn, "a workflow that somebody is writing")
        if not same:
            raise ValidationError(
                "workflow_differs",
                f"{wanted.fqn} is published with another document or description",
                hint=f"publish it as the next version: {wanted.fqn.unversioned}"
                f"@{wanted.fqn.version + 1}",
            )
        return dag

    async def _progress(self, wanted: Publication, dag: Dag) -> Progress:
        defaults = await written_defaults(self, dag, [*wanted.encoded.defaults])
        return Progress(
            dag.chunks, len(dag.groups), defaults, dag.blocks, dag.vertices, len(dag.page_bytes)
        )

    # --- Reading

    async def find(self, fqn: Fqn) -> PublishedWorkflow | None:
        """The workflow with this FQN, or None. Raises `fqn_invalid` or `workflow_mismatch`.

        The document has the digest, and the plan is that of the document: that is checked.
        """
        value = await self.client.object(self._id(parse_fqn(fqn)))
        if value is None or not _is_published(value):
            return None
        return await read_workflow(self, self.deployment.decode(value, Dag))

    async def get(self, fqn: Fqn) -> PublishedWorkflow:
        """The workflow with this FQN. Raises `workflow_unknown`, and as `find` does."""
        found = await self.find(fqn)
        if found is None:
            raise NotFoundError(
                "workflow_unknown",
                f"no workflow is published as {fqn} on {self.client.network.name}",
                hint=suggestion(
                    str(fqn),
                    [each.fqn for each in await self.list()],
                    otherwise="`nexus-tools workflow list` shows what there is",
                    cutoff=_ALIKE,
                ),
            )
        return found

    async def by_id(self, workflow: Address) -> PublishedWorkflow:
        """The workflow with this id.

        Raises `workflow_unknown`, `object_of_another_type` or `workflow_mismatch`.
        """
        value = await self.client.object(workflow)
        dag = self.decoded(value, Dag)
        if dag is None or value is None or not _is_published(value):
            raise NotFoundError(
                "workflow_unknown",
                f"no workflow is published as {workflow} on {self.client.network.name}",
                hint="`nexus-tools workflow list` shows what there is",
            )
        return await read_workflow(self, dag)

    async def list(self, owner: Address | None = None) -> tuple[DagPublished, ...]:
        """What was published, in order, as the node's events tell; by one address, or by all."""
        records = past_events(self.client, event_filter(self.deployment, DagPublished))
        found = [parse_event(self.deployment, record.event) async for record in records]
        return tuple(
            each for each in found if isinstance(each, DagPublished) and owner in (None, each.owner)
        )

    def _id(self, fqn: ToolFqn) -> Address:
        return dag_id(self.deployment.require_dag_registry(), fqn)


@dataclass(frozen=True, slots=True)
class _Begun:
    value: Dag
    is_published: bool


def tool_facts(tool: Tool, *, is_proven: bool = True) -> ToolFacts:
    """What the registry knows of a tool. Raises `definition_invalid`."""
    return ToolFacts(
        tool.definition.parse(),
        price_mist=tool.charge_mist,
        leaders=None if tool.open else frozenset(map(str, tool.leaders.entries)),
        is_active=tool.is_active,
        is_proven=is_proven,
        signs=tool.requires_signed_outcome,
    )


def _parsed(text: str) -> ToolFqn | None:
    """The FQN of a vertex; None if it is none, and no tool is registered so."""
    try:
        return ToolFqn.parse(text)
    except ValidationError:
        return None


def _is_published(value: Object) -> bool:
    return isinstance(value.owner, Immutable)


def _taken(fqn: ToolFqn, by: str) -> NotAllowedError:
    return NotAllowedError(
        "fqn_taken",
        f"{fqn} is {by}",
        hint="publish it under another name",
    )
